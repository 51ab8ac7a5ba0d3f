"""Cassandra on EC2 as a target: a single version, on AWS and on one machine."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import require_plausible
from plimsoll.model.aws.volumes import Service, Volume, require_valid_volume
from plimsoll.model.base import Model
from plimsoll.model.request.dsn import TlsMode

# Newest release of the series in common use. R2's 3.11.1 needs Java 8 and is out of support.
VERSION: Literal["5.0.8"] = "5.0.8"
CQL_PORT = 9042
STORAGE_PORT = 7000  # port between a cluster's nodes
MOST_NODES = 12  # largest cluster
MOST_NODES_HERE = 3  # largest cluster on one machine
USUAL_COPIES = 3  # common in production clusters
KEYSPACE = "plimsoll"
ROOT_GIB = 16  # root volume of the instance, a gp3 with the system and the server
DATA_DEVICE = "/dev/sdf"  # device name of the data volume

# An instance type's name: family, generation, attributes, size. Attribute `d` means instance
# storage, `g` a Graviton CPU; storage-optimized families always have instance storage.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html (2026-11-21)
_TYPE = re.compile(r"(?P<family>[a-z]+)(?P<generation>\d+)(?P<attributes>[a-z0-9-]*)\.")
_STORAGE_FAMILIES = ("i", "im", "is")


def has_instance_store(instance_type: str) -> bool:
    """Return whether instances of a type have local NVMe disks."""
    named = _TYPE.match(instance_type)
    return bool(named and (named["family"] in _STORAGE_FAMILIES or "d" in named["attributes"]))


def is_graviton(instance_type: str) -> bool:
    """Return whether a type has an ARM CPU, which needs another machine image."""
    named = _TYPE.match(instance_type)
    return bool(named and (named["family"] == "a" or "g" in named["attributes"]))


class CassandraTarget(Model):
    """A Cassandra on EC2, created for this run and deleted after it."""

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
        """Always None, since only RDS targets can be restored from a snapshot."""

    @property
    def provisioned(self) -> bool:
        """Always True: it is created for the run and deleted after it."""
        return True

    @property
    def tls(self) -> TlsMode:
        """Always "off": the installation has no TLS, and no password that TLS would protect."""
        return "off"

    @property
    def engine(self) -> Literal["cassandra"]:
        """The database engine."""
        return "cassandra"

    @property
    def engine_version(self) -> str:
        """The Cassandra version."""
        return self.version

    @property
    def copies(self) -> int:
        """Replicas of each row."""
        return self.replication or min(self.nodes, USUAL_COPIES)

    @property
    def instance_class(self) -> str:
        """The instance type, under the field name that RDS targets use."""
        return self.instance_type

    @property
    def service(self) -> Service:
        """The service whose rules apply to its volume."""
        return "ebs"

    @model_validator(mode="after")
    def _can_be_had(self) -> Self:
        require_valid_volume(self.volume, service=self.service)
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
