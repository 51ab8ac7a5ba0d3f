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

    kind: Literal["cassandra"] = Field(description="Cassandra on EC2, created for this run.")
    version: Literal["5.0.8"] = Field(
        VERSION, description="Version of Cassandra; each deployment has the archive of one version."
    )
    instance_type: Annotated[str, Field(pattern=r"^[a-z]+\d[a-z0-9-]*\.[a-z0-9-]+$")] = Field(
        description="EC2 instance type, such as r5.large. With `nvme`, one that has local disks,"
        " such as i3.large."
    )
    volume: Volume = Field(
        description="Storage of the data and the commit log: an EBS volume, or `nvme` for the"
        " instance's local disks, whose size `size_gib` does not change."
    )
    database: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")] = Field(
        KEYSPACE, description="Keyspace that holds the dataset."
    )
    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = Field(
        1,
        description=f"Number of nodes; at most {MOST_NODES_HERE} on one machine. Each is an"
        " instance with a volume of its own and an equal range of the ring. On AWS they are"
        " divided evenly among as many of the deployment's zones as allow it, and each zone is a"
        " rack.",
    )
    replication: Annotated[int, Field(ge=1, le=MOST_NODES)] | None = Field(
        None,
        description="Number of nodes that hold each row (`NetworkTopologyStrategy`), in as many"
        " racks as there are. If not set, three, or all nodes if there are fewer.",
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
                f"nvme is not available on {self.instance_type}, which has no local disks;"
                " allowed: types such as i3.large, i4i.large or m5d.large"
            )
            raise UsageError(Complaint(("volume", "type"), problem, self.volume.type))
        return self
