"""The definition of a Lambda function: its limits, its settings and its permissions."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.settings import Setting, Settings


class Resource(StrEnum):
    """A resource of a permission; a deployment turns each into its own ARNs."""

    RUN_FILES = "run-files"  # objects runs/* in the results bucket
    EXPERIMENT_FILES = "experiment-files"  # objects experiments/* in the results bucket
    RUN_LISTING = "run-listing"  # list of the results bucket, prefix runs/
    RUNS_TABLE = "runs-table"
    RUNS_BY_TEAM = "runs-by-team"  # the index of the runs table
    SERVICE_TABLE = "service-table"
    TARGET_STACKS = "target-stacks"  # stacks named plimsoll-run-*
    TARGET_SERVICE_ROLE = "target-service-role"  # only to pass it to CloudFormation
    DELETION_ROLE = "deletion-role"  # only to pass it to Scheduler
    DELETION_SCHEDULES = (
        "deletion-schedules"  # plimsoll-run-*, plimsoll-dataset-* in the schedule group
    )
    TARGET_SECRETS = "target-secrets"  # secrets of targets and of allowed endpoints
    TARGET_DATABASES = "target-databases"  # RDS instances named plimsoll-*
    TARGET_PARAMETERS = "target-parameters"  # RDS parameter groups named plimsoll-*
    DATASET_SNAPSHOTS = "dataset-snapshots"  # RDS snapshots named plimsoll-dataset-*
    # EBS snapshots with the tag plimsoll:run-id
    DATASET_VOLUME_SNAPSHOTS = "dataset-volume-snapshots"
    NEW_VOLUME_SNAPSHOTS = "new-volume-snapshots"  # the same, while they are created
    TARGET_VOLUMES = "target-volumes"  # EBS volumes with the same tag
    ALARM_TOPIC = "alarm-topic"
    EVENT_BUS = "event-bus"
    CHECK_SCHEDULES = "check-schedules"  # in the schedule group of checks
    CHECK_ROLE = "check-role"  # only to pass it to Scheduler
    RUN_MACHINE = "run-machine"  # the workflow of runs, to start it
    RUN_EXECUTIONS = "run-executions"  # executions of that workflow, to stop them
    EXPERIMENT_MACHINE = "experiment-machine"  # the workflow of experiments, to start it
    EXPERIMENT_EXECUTIONS = "experiment-executions"  # executions of that workflow, to stop them
    ANY = "any"  # the action supports no resources; `why` says so


Extra = Literal["checks", "service"]


class Permission(Model):
    """Actions that the role of a function may perform, and on which resource."""

    actions: tuple[str, ...]
    resource: Resource
    why: str | None = None  # required with `Resource.ANY`


class Function(Model):
    """One Lambda function."""

    name: Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+)*$")]
    summary: str
    timeout_s: Annotated[int, Field(ge=1, le=900)]
    memory_mib: Annotated[int, Field(ge=128, le=10_240)]
    in_vpc: bool = False  # needs access to the target
    # One function for each zone of the deployment, near the targets there
    in_each_zone: bool = False
    engine: bool = False  # whether its package includes `plimsoll_engine`
    extras: tuple[Extra, ...] = ()  # optional dependencies of pyproject.toml in its package
    retries: Literal[0, 2] = 0  # retries of asynchronous invocations
    settings: type[Settings] = Settings  # settings that it reads from its environment
    permissions: tuple[Permission, ...] = ()

    @property
    def environment(self) -> dict[str, Setting]:
        """The setting that each variable of its environment holds."""
        return self.settings.environment()

    @property
    def environment_on_aws(self) -> dict[str, Setting]:
        """The setting that each variable of its environment holds on AWS."""
        return self.settings.environment_on_aws()

    def variables_on_aws(self, values: Mapping[Setting, str]) -> dict[str, str]:
        """Return its environment on AWS, from the deployment's values."""
        return {name: values[setting] for name, setting in self.environment_on_aws.items()}

    @property
    def name_on_aws(self) -> str:
        """The full name on AWS, where an account has other functions too."""
        return f"plimsoll-{self.name}"

    @property
    def folder(self) -> str:
        """The folder of its handler, under `functions/`."""
        return self.name.replace("-", "_")

    @property
    def arn_placeholder(self) -> str:
        """The placeholder of its ARN in a state machine, without `${}`: `LoadClientFunctionArn`."""
        return "".join(word.capitalize() for word in self.name.split("-")) + "FunctionArn"


# --- permissions that several functions share ---


READ_RUN = Permission(actions=("s3:GetObject",), resource=Resource.RUN_FILES)
WRITE_RUN = Permission(actions=("s3:PutObject",), resource=Resource.RUN_FILES)
LIST_RUN = Permission(actions=("s3:ListBucket",), resource=Resource.RUN_LISTING)
READ_RECORD = Permission(actions=("dynamodb:GetItem",), resource=Resource.RUNS_TABLE)
WRITE_RECORD = Permission(actions=("dynamodb:UpdateItem",), resource=Resource.RUNS_TABLE)
READ_METRICS = Permission(
    actions=("cloudwatch:GetMetricData",),
    resource=Resource.ANY,
    why="CloudWatch has no resources for reading metrics",
)
READ_SECRET = Permission(
    actions=("secretsmanager:GetSecretValue",), resource=Resource.TARGET_SECRETS
)
SEE_STACK = Permission(actions=("cloudformation:DescribeStacks",), resource=Resource.TARGET_STACKS)
DELETE_STACK = Permission(actions=("cloudformation:DeleteStack",), resource=Resource.TARGET_STACKS)
READ_CONFIGURATION = Permission(actions=("dynamodb:GetItem",), resource=Resource.SERVICE_TABLE)
CHANGE_LIMITS = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
)
# A submission records nothing while the deployment is drained
REQUIRE_NO_DRAIN = Permission(
    actions=("dynamodb:ConditionCheckItem",), resource=Resource.SERVICE_TABLE
)
PASS_TARGET_ROLE = Permission(actions=("iam:PassRole",), resource=Resource.TARGET_SERVICE_ROLE)
READ_EXPERIMENT = Permission(actions=("s3:GetObject",), resource=Resource.EXPERIMENT_FILES)
READ_EXPERIMENT_RECORD = Permission(actions=("dynamodb:GetItem",), resource=Resource.SERVICE_TABLE)
CHANGE_EXPERIMENT = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
)
SERVE_EXPERIMENTS = (
    READ_EXPERIMENT,
    Permission(actions=("s3:PutObject",), resource=Resource.EXPERIMENT_FILES),
    CHANGE_EXPERIMENT,
    Permission(actions=("dynamodb:PutItem",), resource=Resource.SERVICE_TABLE),
    Permission(actions=("states:StartExecution",), resource=Resource.EXPERIMENT_MACHINE),
    Permission(actions=("states:StopExecution",), resource=Resource.EXPERIMENT_EXECUTIONS),
)
STOP_RUN = Permission(actions=("states:StopExecution",), resource=Resource.RUN_EXECUTIONS)
RESOLVE_VERSION = Permission(
    actions=("rds:DescribeDBEngineVersions",),
    resource=Resource.ANY,
    why="the versions that RDS offers belong to no resource of an account",
)
SEE_RUN = Permission(actions=("states:DescribeExecution",), resource=Resource.RUN_EXECUTIONS)
SEE_SNAPSHOTS = Permission(
    actions=("rds:DescribeDBSnapshots", "ec2:DescribeSnapshots"),
    resource=Resource.ANY,
    why="a listing of all snapshots has no resource",
)
DELETE_SNAPSHOTS = (
    Permission(actions=("rds:DeleteDBSnapshot",), resource=Resource.DATASET_SNAPSHOTS),
    Permission(actions=("ec2:DeleteSnapshot",), resource=Resource.DATASET_VOLUME_SNAPSHOTS),
)
TELL = Permission(actions=("events:PutEvents",), resource=Resource.EVENT_BUS)
