"""The settings of each function. The function table names one of these classes in each row.

A library function takes the class that has just what it needs. The class of a Lambda function
inherits from the classes that its code takes.
"""

from pydantic import Json, field_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.base import Model
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.settings import Settings


class RunSettings(Settings):
    """The table of runs, and the bucket of their files."""

    results_bucket: str
    runs_table: str


class ServiceSettings(RunSettings):
    """The tables of runs, teams' limits, experiments and checks."""

    service_table: str


class PricedSettings(ServiceSettings):
    """The tables of experiments, and prices of their targets; used by `choose-cell`."""

    prices: Json[PriceOverrides]


class TeamSettings(ServiceSettings):
    """The teams. A team that is not configured has no limits."""

    teams: Json[dict[str, Team]]


class FiguresSettings(TeamSettings):
    """The CloudWatch namespace of the deployment's own metrics."""

    metrics_namespace: str


class DashboardSettings(Settings):
    """The dashboards that show a run besides its own page."""

    dashboards: Json[Dashboards]


class ReachSettings(RunSettings):
    """The certificate authority of targets' servers."""

    rds_ca_file: str  # PEM; "" for AWS's authorities, which come with Plimsoll


class PollSettings(RunSettings):
    """The time that the workflow waits between two checks."""

    poll_seconds: int


class MetricSettings(RunSettings):
    """The period of a target's metrics."""

    metric_period_seconds: int


class BusSettings(RunSettings):
    """The event bus."""

    event_bus: str


class KindSettings(Settings):
    """The kinds of targets that the deployment can create."""

    target_kinds: Json[tuple[str, ...]]

    def require_kind(self, kind: str) -> None:
        """Refuse a target that this deployment cannot create.

        Raises:
            UsageError: The deployment has no targets of this kind.
        """
        if kind not in self.target_kinds:
            problem = (
                f"this deployment has no {kind} targets (allowed: {', '.join(self.target_kinds)});"
                f" plimsoll.{kind} in its cdk.json adds them"
            )
            path, kinds = ("target", "kind"), self.target_kinds
            raise UsageError(Complaint(path, problem, kind, kinds, listed=False))


class TargetSettings(KindSettings):
    """The kinds of targets, and the existing databases and snapshots that runs may use."""

    allowed_endpoints: Json[dict[str, str]]  # {host:port: ARN of the secret}
    allowed_snapshots: Json[tuple[str, ...]]  # ARNs of snapshots from which targets may be restored


class TagSettings(Settings):
    """The organization's tags of what a run creates."""

    tags: Json[dict[str, str]]


class DeletionSettings(RunSettings):
    """The schedules that delete targets."""

    schedule_group: str


class ArmDeletionSettings(DeletionSettings):
    """Settings of `arm-deletion`."""

    deletion_role_arn: str


class CassandraPlace(Model):
    """What a deployment provides for Cassandra targets."""

    archive_url: str  # s3://...
    instance_profile: str
    security_group_id: str


class Zone(Model):
    """An availability zone for targets, with its own load clients."""

    name: str
    subnet_id: str
    clients: str  # suffix of the zone's function `load-client`: "" in the first zone


class ZoneSettings(Settings):
    """The zones of the deployment, in order of preference."""

    zones: Json[tuple[Zone, ...]]


class RecordRunSettings(BusSettings, TargetSettings, ZoneSettings):
    """Settings of `record-run`."""


class AwaitTargetSettings(PollSettings, ZoneSettings):
    """Settings of `await-target`."""


class CreateTargetSettings(RunSettings, KindSettings, ZoneSettings, TagSettings):
    """Settings of `create-target`."""

    target_service_role_arn: str
    target_subnet_group: str
    target_security_group: str
    kms_key_arn: str  # "" for AWS's own keys
    cassandra: Json[CassandraPlace | None]  # None if the deployment has no Cassandra targets


class PlanStepSettings(PollSettings, MetricSettings, ReachSettings):
    """Settings of `plan-step`."""

    on_one_machine: bool
    start_lead_ms: int
    start_lead_ms_per_client: int
    poll_us: int


class SwitchTargetSettings(PollSettings):
    """Settings of `switch-target`."""


class ConcludeSettings(PollSettings, MetricSettings):
    """Settings of `conclude`."""


class JudgeStepSettings(MetricSettings, ReachSettings):
    """Settings of `judge-step`."""

    on_one_machine: bool


class DeleteTargetSettings(DeletionSettings, PollSettings):
    """Settings of `delete-target`."""

    teardown_patience_seconds: int


class EndRunSettings(TeamSettings, BusSettings, DashboardSettings):
    """Settings of `end-run`."""


class StopSettings(TeamSettings):
    """Settings to stop a run, and to find out whether it was started."""

    run_machine_arn: str


class JanitorSettings(StopSettings, FiguresSettings, BusSettings):
    """Settings of `janitor`."""

    alarm_topic_arn: str


class TakeSnapshotSettings(ArmDeletionSettings, PollSettings, TagSettings):
    """Settings of `take-snapshot`."""


class DeleteDatasetsSettings(ServiceSettings, DeletionSettings, PollSettings):
    """Settings of `delete-datasets`."""


class SettleCellsSettings(StopSettings, PollSettings):
    """Settings of `settle-cells`."""


class SubmitSettings(StopSettings, TargetSettings):
    """Settings to record and start a run; used by `submit-cell`."""

    prices: Json[PriceOverrides]
    results_days: int | None  # days until a run is deleted; None for never
    on_one_machine: bool

    @field_validator("results_days", mode="before")
    @classmethod
    def _read_empty_as_never(cls, value: object) -> object:
        return None if value == "" else value


class JudgeCheckSettings(ServiceSettings, BusSettings):
    """Settings of `judge-check`."""

    alarm_topic_arn: str


class ExperimentSettings(SubmitSettings):
    """Settings to start and stop an experiment."""

    experiment_machine_arn: str


class CheckSettings(SubmitSettings):
    """Settings to put a check on its schedule."""

    check_group: str
    check_role_arn: str
    start_check_arn: str


class StartCheckSettings(CheckSettings, JudgeCheckSettings):
    """Settings of `start-check`."""


class ApiSettings(ExperimentSettings, CheckSettings, MetricSettings, DashboardSettings):
    """Settings of `api`."""


class ConfigureSettings(Settings):
    """Settings of `configure-deployment`."""

    service_table: str


class GuardSettings(Settings):
    """Settings of `guard-deployment`."""

    run_machine_arn: str
    create_target_name: str
    target_service_role_arn: str
