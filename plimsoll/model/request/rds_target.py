"""Targets on RDS and Aurora, created for a run and deleted after it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import require_plausible
from plimsoll.model.aws.volumes import Service, Volume, require_valid_volume
from plimsoll.model.base import Model
from plimsoll.model.databases import AuroraEngine, RdsEngine, find_rds_facts
from plimsoll.model.datasets import SnapshotArn
from plimsoll.model.rds_versions import require_measurable
from plimsoll.model.request.dsn import TlsMode

# Aurora: a cluster with one writer. Size and IOPS of its storage cannot be chosen.


ParameterName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]*$", max_length=100)]
ExtendedSupport = Annotated[
    bool,
    Field(
        description="Whether to create a version past its standard support, with RDS Extended"
        " Support, which RDS charges by the vCPU-hour (docs/costs.md). If false, such a version is"
        " refused on AWS."
    ),
]
AuroraStorage = Literal["standard", "io-optimized"]
# RDS's names (API reference, CreateDBCluster; botocore 1.44.5, read 2026-11-23)
STORAGE_TYPES: Mapping[AuroraStorage, str] = {
    "standard": "aurora",
    "io-optimized": "aurora-iopt1",
}
LEAST_GIB = 10  # assumed size of the storage for prices; the real one is known only afterwards


class AuroraTarget(Model):
    """An Aurora cluster with one writer, created for this run and deleted after it; on AWS only."""

    kind: Literal["aurora"] = Field(
        description="A cluster on Aurora, created for this run; on AWS only."
    )
    engine: AuroraEngine = Field(description="The database engine.")
    engine_version: Annotated[
        str, Field(pattern=r"^\d+(\.\d+)*(\.mysql_aurora(\.\d+){3})?$", max_length=40)
    ] = Field(
        description="Engine version as RDS names it, such as 17.7 or 8.0.mysql_aurora.3.10.3. A"
        " major version alone (17, 8.0) means RDS's default minor version when the run is"
        " submitted."
    )
    instance_class: Annotated[str, Field(pattern=r"^db\.[a-z0-9-]+\.[a-z0-9]+$")] = Field(
        description="Instance class of the writer, such as db.r7g.large."
    )
    storage: AuroraStorage = Field(
        "standard",
        description="Storage configuration. `standard` charges each I/O; `io-optimized` does not,"
        " but costs more per hour and per GiB. Storage grows automatically, so there is no"
        " `volume`.",
    )
    parameters: dict[ParameterName, str | int] = Field(
        default_factory=dict, description="Engine parameters, set in the cluster's parameter group."
    )
    database: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")] = Field(
        "plimsoll", description="Database that holds the dataset."
    )
    extended_support: ExtendedSupport = False

    @property
    def snapshot(self) -> None:
        """Always None, since only RDS instances can be restored from a snapshot."""

    @property
    def provisioned(self) -> bool:
        """Always True: it is created for the run and deleted after it."""
        return True

    @property
    def tls(self) -> TlsMode:
        """How connections are encrypted: certificates are verified against RDS's authorities."""
        return "verify"

    @property
    def storage_type(self) -> str:
        """RDS's name of its storage type."""
        return STORAGE_TYPES[self.storage]

    @model_validator(mode="before")
    @classmethod
    def _refuse_volume(cls, given: Any) -> Any:
        if isinstance(given, dict) and "volume" in given:
            problem = (
                "Aurora has no volume to choose: its storage grows by itself and has no provisioned"
                " IOPS; leave it out and choose `storage`"
            )
            raise UsageError(Complaint(("volume",), problem, None, tuple(STORAGE_TYPES)))
        return given

    @model_validator(mode="after")
    def _check_version_and_class(self) -> Self:
        require_measurable(self.engine, self.engine_version, ("engine_version",))
        require_plausible(self.instance_class, ("instance_class",))
        return self


class RdsTarget(Model):
    """A database instance on RDS, created for this run and deleted after it."""

    kind: Literal["rds"] = Field("rds", description="A database on RDS, created for this run.")
    engine: RdsEngine = Field(description="The database engine.")
    engine_version: Annotated[str, Field(pattern=r"^\d+(\.\d+){0,2}$")] = Field(
        description="Engine version as RDS names it, such as 8.4, 11.4.10 or 18.4. A major version"
        " alone (8.4, 18) means RDS's default minor version when the run is submitted."
    )
    instance_class: Annotated[str, Field(pattern=r"^db\.[a-z0-9-]+\.[a-z0-9]+$")] = Field(
        description="Instance class, such as db.m6i.large. One machine can emulate the families"
        " t3, t4g, m5 to m8g, r3 to r8g, i3 and i4i; AWS may have more."
    )
    volume: Volume = Field(description="Storage volume.")
    parameters: dict[ParameterName, str | int] = Field(
        default_factory=dict, description="Engine parameters, such as innodb_buffer_pool_size."
    )
    database: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")] = Field(
        "plimsoll", description="Database that holds the dataset."
    )
    snapshot: SnapshotArn | None = Field(
        None,
        description="ARN of a snapshot of your own. The target is restored from it instead of"
        " loading rows, and the workload uses the tables in it. The deployment must allow it;"
        " Plimsoll never deletes it.",
    )
    extended_support: ExtendedSupport = False

    @property
    def provisioned(self) -> bool:
        """Always True: it is created for the run and deleted after it."""
        return True

    @property
    def tls(self) -> TlsMode:
        """How connections are encrypted: certificates are verified against RDS's authorities."""
        return "verify"

    @property
    def service(self) -> Service:
        """The service whose rules apply to its volume."""
        return find_rds_facts(self.engine).service

    @model_validator(mode="after")
    def _check_version(self) -> Self:
        require_measurable(self.engine, self.engine_version, ("engine_version",))
        return self

    @model_validator(mode="after")
    def _check_extended_support(self) -> Self:
        if self.extended_support and self.engine == "mariadb":
            problem = "RDS has no Extended Support of MariaDB"
            raise UsageError(Complaint(("extended_support",), problem, self.extended_support))
        return self

    @model_validator(mode="after")
    def _check_volume(self) -> Self:
        require_valid_volume(self.volume, service=self.service)
        return self

    @model_validator(mode="after")
    def _check_class(self) -> Self:
        require_plausible(self.instance_class, ("instance_class",))
        return self
