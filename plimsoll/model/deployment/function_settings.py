"""The settings of each function: its row of the function table names one of these classes.

A function of the library takes the class that has what it needs and little more; the class of a
Lambda function inherits from those that its code takes.
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
    """Where runs are recorded, and where their files are."""

    results_bucket: str
    runs_table: str


class ServiceSettings(RunSettings):
    """Where runs, teams' limits, experiments and checks are recorded."""

    service_table: str


class PricedSettings(ServiceSettings):
    """Where experiments are recorded, and what their targets cost; of `choose-cell`."""

    prices: Json[PriceOverrides]


class TeamSettings(ServiceSettings):
    """Which teams there are; one that is not among them has no limits."""

    teams: Json[dict[str, Team]]


class FiguresSettings(TeamSettings):
    """Where a deployment says what it holds."""

    metrics_namespace: str


class DashboardSettings(Settings):
    """On which pages a run can be seen besides its own."""

    dashboards: Json[Dashboards]


class ReachSettings(RunSettings):
    """Who vouches for a target's server."""

    rds_ca_file: str  # PEM; "" for those whom AWS names, which come with Plimsoll


class PollSettings(RunSettings):
    """How long the workflow waits between two looks."""

    poll_seconds: int


class MetricSettings(RunSettings):
    """How far apart the metrics of a target are."""

    metric_period_seconds: int


class BusSettings(RunSettings):
    """The bus on which events are put."""

    event_bus: str


class KindSettings(Settings):
    """Which kinds of targets there may be."""

    target_kinds: Json[tuple[str, ...]]

    def require_kind(self, kind: str) -> None:
        """Refuse a target that this deployment cannot make.

        Raises:
            UsageError: It has no targets of this kind.
        """
        if kind not in self.target_kinds:
            problem = (
                f"this deployment has no {kind} targets (allowed: {', '.join(self.target_kinds)});"
                f" plimsoll.{kind} in its cdk.json brings them"
            )
            path, kinds = ("target", "kind"), self.target_kinds
            raise UsageError(Complaint(path, problem, kind, kinds, listed=False))


class TargetSettings(KindSettings):
    """Which kinds of targets there may be, and which existing databases may be put under load."""

    allowed_endpoints: Json[dict[str, str]]  # host:port: the ARN of its secret
    allowed_snapshots: Json[tuple[str, ...]]  # ARNs that targets may be restored from


class DeletionSettings(RunSettings):
    """The schedules that delete targets."""

    schedule_group: str


class ArmDeletionSettings(DeletionSettings):
    """Of `arm-deletion`."""

    deletion_role_arn: str


class CassandraPlace(Model):
    """What a deployment has ready for Cassandra targets."""

    archive_url: str  # s3://...
    instance_profile: str
    security_group_id: str


class Zone(Model):
    """An availability zone in which targets may stand, with load clients beside them."""

    name: str
    subnet_id: str
    clients: str  # the end of the name of its function `load-client`: "" in the first zone


class ZoneSettings(Settings):
    """The zones of the deployment, the preferred one first."""

    zones: Json[tuple[Zone, ...]]


class RecordRunSettings(BusSettings, TargetSettings, ZoneSettings):
    """Of `record-run`."""


class AwaitTargetSettings(PollSettings, ZoneSettings):
    """Of `await-target`."""


class CreateTargetSettings(RunSettings, KindSettings, ZoneSettings):
    """Of `create-target`."""

    target_service_role_arn: str
    target_subnet_group: str
    target_security_group: str
    cassandra: Json[CassandraPlace | None]  # None: there are no such targets


class PlanStepSettings(PollSettings, MetricSettings, ReachSettings):
    """Of `plan-step`."""

    start_lead_ms: int
    start_lead_ms_per_client: int
    poll_us: int


class SwitchTargetSettings(PollSettings):
    """Of `switch-target`."""


class ConcludeSettings(PollSettings, MetricSettings):
    """Of `conclude`."""


class JudgeStepSettings(MetricSettings, ReachSettings):
    """Of `judge-step`."""

    on_one_machine: bool


class DeleteTargetSettings(DeletionSettings, PollSettings):
    """Of `delete-target`."""

    teardown_patience_seconds: int


class EndRunSettings(TeamSettings, BusSettings, DashboardSettings):
    """Of `end-run`."""


class StopSettings(TeamSettings):
    """What it takes to stop a run, and to know whether it was started."""

    run_machine_arn: str


class JanitorSettings(StopSettings, FiguresSettings, BusSettings):
    """Of `janitor`."""

    alarm_topic_arn: str


class TakeSnapshotSettings(ArmDeletionSettings, PollSettings):
    """Of `take-snapshot`."""


class DeleteDatasetsSettings(ServiceSettings, DeletionSettings, PollSettings):
    """Of `delete-datasets`."""


class SettleCellsSettings(StopSettings, PollSettings):
    """Of `settle-cells`."""


class SubmitSettings(StopSettings, TargetSettings):
    """What it takes to record a run and to start it; of `submit-cell`."""

    prices: Json[PriceOverrides]
    results_days: int | None  # after which a run is forgotten; None: never
    on_one_machine: bool

    @field_validator("results_days", mode="before")
    @classmethod
    def _never(cls, value: object) -> object:
        return None if value == "" else value


class JudgeCheckSettings(ServiceSettings, BusSettings):
    """Of `judge-check`."""

    alarm_topic_arn: str


class StartCheckSettings(SubmitSettings, JudgeCheckSettings):
    """Of `start-check`."""


class ExperimentSettings(SubmitSettings):
    """What it takes to start and to stop an experiment."""

    experiment_machine_arn: str


class CheckSettings(SubmitSettings):
    """What it takes to put a check on its schedule."""

    check_group: str
    check_role_arn: str
    start_check_arn: str


class ApiSettings(ExperimentSettings, CheckSettings, MetricSettings, DashboardSettings):
    """Of `api`."""


class GuardSettings(Settings):
    """Of `guard-deployment`."""

    run_machine_arn: str
    create_target_name: str
    target_service_role_arn: str
