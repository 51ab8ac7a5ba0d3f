"""A target on RDS: one instance, made for a run and deleted after it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.model.aurora_target import ParameterName
from plimsoll.model.base import Model
from plimsoll.model.databases import RdsEngine, rds_facts
from plimsoll.model.instances import require_plausible
from plimsoll.model.rds_versions import require_measurable
from plimsoll.model.snapshots import SnapshotArn
from plimsoll.model.tls import TlsMode
from plimsoll.model.volumes import Service, Volume, check


class RdsTarget(Model):
    """A database on RDS, made for this run and deleted after it."""

    kind: Literal["rds"] = Field("rds", description="A database on RDS, made for this run.")
    engine: RdsEngine = Field(description="The database engine.")
    engine_version: Annotated[str, Field(pattern=r"^\d+(\.\d+){0,2}$")] = Field(
        description="The engine's version as RDS names it, such as 8.4, 11.4.10 or 18.4; of a"
        " major version alone (8.4, 18) RDS's default minor version is taken when the run is"
        " submitted."
    )
    instance_class: Annotated[str, Field(pattern=r"^db\.[a-z0-9-]+\.[a-z0-9]+$")] = Field(
        description="The instance class, such as db.m6i.large. One machine stands in for the"
        " families t3, t4g, m5 to m8g, r3 to r8g, i3 and i4i; AWS may have more."
    )
    volume: Volume = Field(description="The storage.")
    parameters: dict[ParameterName, str | int] = Field(
        default_factory=dict, description="Engine parameters, such as innodb_buffer_pool_size."
    )
    database: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")] = Field(
        "plimsoll", description="The database that holds the dataset."
    )
    snapshot: SnapshotArn | None = Field(
        None,
        description="A snapshot of your own (its ARN) that the target is restored from, in place of"
        " loading rows: the workload's tables are then those in it. The deployment must allow it;"
        " Plimsoll never deletes it.",
    )

    @property
    def provisioned(self) -> bool:
        """It is made for the run, and deleted after it."""
        return True

    @property
    def tls(self) -> TlsMode:
        """How connections are encrypted: RDS's authorities vouch for its servers by name."""
        return "verify"

    @property
    def service(self) -> Service:
        """Whose rules its volume follows."""
        return rds_facts(self.engine).service

    @model_validator(mode="after")
    def _version_may_be(self) -> Self:
        require_measurable(self.engine, self.engine_version, ("engine_version",))
        return self

    @model_validator(mode="after")
    def _volume_can_be_had(self) -> Self:
        check(self.volume, service=self.service)
        return self

    @model_validator(mode="after")
    def _class_may_be(self) -> Self:
        require_plausible(self.instance_class, ("instance_class",))
        return self
