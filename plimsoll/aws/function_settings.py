"""What a deployment tells its functions, from their environment (`plimsoll.model.functions`)."""

import os
from collections.abc import Mapping

from pydantic import Json, field_validator

from plimsoll.aws.run_files import RunFiles
from plimsoll.aws.run_records import Records
from plimsoll.errors import Complaint, UsageError
from plimsoll.model.base import Model
from plimsoll.model.deployment import Team
from plimsoll.model.functions import FUNCTIONS
from plimsoll.model.prices import PriceOverrides, PriceTable
from plimsoll.prices import prices_for


class CassandraPlace(Model):
    """What a deployment has ready for Cassandra targets."""

    archive_url: str  # s3://...
    instance_profile: str
    subnet_id: str


class Deployment(Model):
    """The values that a function was given; None where its row of the table has none."""

    results_bucket: str
    runs_table: str
    target_service_role_arn: str | None = None
    deletion_role_arn: str | None = None
    schedule_group: str | None = None
    target_subnet_group: str | None = None
    target_security_group: str | None = None
    target_availability_zone: str | None = None
    cassandra: Json[CassandraPlace | None] = None
    target_kinds: Json[tuple[str, ...]] | None = None  # None: not known here
    poll_seconds: int = 15
    start_lead_ms: int = 15_000
    start_lead_ms_per_client: int = 10
    metric_period_seconds: int = 60
    allowed_endpoints: Json[dict[str, str]] | None = None
    service_table: str | None = None
    event_bus: str | None = None
    check_group: str | None = None
    check_role_arn: str | None = None
    start_check_arn: str | None = None
    run_machine_arn: str | None = None
    experiment_machine_arn: str | None = None
    teams: Json[dict[str, Team]] | None = None
    results_days: int | None = None  # None: runs are never forgotten
    on_one_machine: bool = False
    prices: Json[PriceOverrides] = PriceOverrides()
    alarm_topic_arn: str | None = None

    @field_validator("results_days", mode="before")
    @classmethod
    def _never(cls, value: object) -> object:
        return None if value == "" else value

    @classmethod
    def of_function(cls, name: str, environment: Mapping[str, str] = os.environ) -> "Deployment":
        """Read what the table says that a function is given.

        Raises:
            KeyError: A variable is missing.
        """
        variables = FUNCTIONS[name].environment
        return cls.model_validate({v.lower(): environment[v] for v in variables})

    def require_kind(self, kind: str) -> None:
        """Refuse a target that this deployment cannot make; where that is not known, nothing.

        Raises:
            UsageError: It has no targets of this kind.
        """
        if self.target_kinds is not None and kind not in self.target_kinds:
            problem = (
                f"this deployment has no {kind} targets (allowed: {', '.join(self.target_kinds)});"
                f" plimsoll.{kind} in its cdk.json brings them"
            )
            path, kinds = ("target", "kind"), self.target_kinds
            raise UsageError(Complaint(path, problem, kind, kinds, listed=False))

    @property
    def price_table(self) -> PriceTable:
        """The prices that it reckons with."""
        return prices_for(self.prices)

    @property
    def records(self) -> Records:
        """The runs table."""
        return Records(self.runs_table)

    def files(self, run_id: str) -> RunFiles:
        """The files of a run."""
        return RunFiles(self.results_bucket, run_id)
