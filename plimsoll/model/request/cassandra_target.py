"""Cassandra on EC2 as a target: one version, on AWS as on one machine."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import require_plausible
from plimsoll.model.aws.volumes import Service, Volume, check
from plimsoll.model.base import Model
from plimsoll.model.request.dsn import TlsMode

# The newest of the series that today's users run. R2's 3.11.1 needs Java 8, and is out of support.
VERSION: Literal["5.0.8"] = "5.0.8"
CQL_PORT = 9042
STORAGE_PORT = 7000  # where a cluster's nodes reach each other
MOST_NODES = 12  # of a cluster
MOST_NODES_HERE = 3  # of one that one machine has room for
USUAL_COPIES = 3  # what production clusters have
KEYSPACE = "plimsoll"
ROOT_GIB = 16  # of the instance's own volume, a gp3, which holds the system and the server
DATA_DEVICE = "/dev/sdf"  # the data volume's name on its instance

# An instance type's name: family, generation, attributes, size. Of the attributes, `d` is instance
# storage and `g` a Graviton processor; storage-optimized families have instance storage anyway.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html (2026-11-21)
_TYPE = re.compile(r"(?P<family>[a-z]+)(?P<generation>\d+)(?P<attributes>[a-z0-9-]*)\.")
_STORAGE_FAMILIES = ("i", "im", "is")


def has_instance_store(instance_type: str) -> bool:
    """Whether instances of a type have NVMe disks of their own."""
    named = _TYPE.match(instance_type)
    return bool(named and (named["family"] in _STORAGE_FAMILIES or "d" in named["attributes"]))


def is_graviton(instance_type: str) -> bool:
    """Whether a type's processor is an ARM one, which needs an image of its own."""
    named = _TYPE.match(instance_type)
    return bool(named and (named["family"] == "a" or "g" in named["attributes"]))


class CassandraTarget(Model):
    """A Cassandra on EC2, made for this run and deleted after it."""

    kind: Literal["cassandra"] = Field(description="Cassandra on EC2, made for this run.")
    version: Literal["5.0.8"] = Field(
        VERSION, description="Cassandra's version; the deployment has one archive of it."
    )
    instance_type: Annotated[str, Field(pattern=r"^[a-z]+\d[a-z0-9-]*\.[a-z0-9-]+$")] = Field(
        description="The EC2 instance type, such as r5.large; with `nvme`, one with disks of its"
        " own, such as i3.large."
    )
    volume: Volume = Field(
        description="The storage of the data and the commit log: an EBS volume, or `nvme`, the"
        " instance's own disks, whatever size is given."
    )
    database: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")] = Field(
        KEYSPACE, description="The keyspace that holds the dataset."
    )
    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = Field(
        1,
        description="Of how many nodes it is, each an instance with a volume of its own and a range"
        f" of the ring as long as every other's; on one machine at most {MOST_NODES_HERE}. On AWS"
        " they stand in the deployment's zones, in so many that each has as many of them, and each"
        " zone is a rack.",
    )
    replication: Annotated[int, Field(ge=1, le=MOST_NODES)] | None = Field(
        None,
        description="On how many nodes each row is, in as many racks as there are"
        " (`NetworkTopologyStrategy`); without one on three, or on all where there are fewer.",
    )

    @property
    def snapshot(self) -> None:
        """The user's own that it is made from: only RDS's can be."""

    @property
    def provisioned(self) -> bool:
        """It is made for the run, and deleted after it."""
        return True

    @property
    def tls(self) -> TlsMode:
        """How connections are encrypted: its installation has no TLS, nor a password to protect."""
        return "off"

    @property
    def engine(self) -> Literal["cassandra"]:
        """The database engine."""
        return "cassandra"

    @property
    def engine_version(self) -> str:
        """Its version."""
        return self.version

    @property
    def copies(self) -> int:
        """On how many nodes each row is."""
        return self.replication or min(self.nodes, USUAL_COPIES)

    @property
    def instance_class(self) -> str:
        """The instance type, by the name that RDS has for it."""
        return self.instance_type

    @property
    def service(self) -> Service:
        """Whose rules its volume follows."""
        return "ebs"

    @model_validator(mode="after")
    def _can_be_had(self) -> Self:
        check(self.volume, service=self.service)
        require_plausible(self.instance_type, ("instance_type",))
        if self.copies > self.nodes:
            problem = f"cannot be above the number of nodes, {self.nodes}"
            raise UsageError(Complaint(("replication",), problem, self.replication))
        if self.volume.type == "nvme" and not has_instance_store(self.instance_type):
            problem = (
                f"nvme is not to be had on {self.instance_type}, which has no disks of its own;"
                " allowed: types such as i3.large, i4i.large or m5d.large"
            )
            raise UsageError(Complaint(("volume", "type"), problem, self.volume.type))
        return self
