"""What a function of a deployment is: its limits, its settings, and what it may do."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.settings import Setting, Settings


class Resource(StrEnum):
    """What a permission is for; a deployment turns each into ARNs of its own."""

    RUN_FILES = "run-files"  # objects runs/* of the results bucket
    EXPERIMENT_FILES = "experiment-files"  # objects experiments/*
    RUN_LISTING = "run-listing"  # the results bucket, prefix runs/
    RUNS_TABLE = "runs-table"
    RUNS_BY_TEAM = "runs-by-team"  # the runs table's index
    SERVICE_TABLE = "service-table"
    TARGET_STACKS = "target-stacks"  # stacks named plimsoll-run-*
    TARGET_SERVICE_ROLE = "target-service-role"  # to pass to CloudFormation only
    DELETION_ROLE = "deletion-role"  # to pass to Scheduler only
    DELETION_SCHEDULES = (
        "deletion-schedules"  # plimsoll-run-*, plimsoll-dataset-* in the schedule group
    )
    TARGET_SECRETS = "target-secrets"  # secrets of targets, and those of allowed endpoints
    TARGET_DATABASES = "target-databases"  # RDS instances named plimsoll-*
    TARGET_PARAMETERS = "target-parameters"  # parameter groups of RDS named plimsoll-*
    DATASET_SNAPSHOTS = "dataset-snapshots"  # of RDS, named plimsoll-dataset-*
    DATASET_VOLUME_SNAPSHOTS = "dataset-volume-snapshots"  # of EBS, with the tag plimsoll:run-id
    NEW_VOLUME_SNAPSHOTS = "new-volume-snapshots"  # ... while they are made
    TARGET_VOLUMES = "target-volumes"  # of EBS, with the same tag
    ALARM_TOPIC = "alarm-topic"
    EVENT_BUS = "event-bus"
    CHECK_SCHEDULES = "check-schedules"  # in the group of checks
    CHECK_ROLE = "check-role"  # to pass to Scheduler only
    RUN_MACHINE = "run-machine"  # the workflow of runs, to start it
    RUN_EXECUTIONS = "run-executions"  # executions of it, to stop them
    EXPERIMENT_MACHINE = "experiment-machine"  # the workflow of experiments, to start it
    EXPERIMENT_EXECUTIONS = "experiment-executions"  # executions of it, to stop them
    ANY = "any"  # the action knows no resources; `why` says so


Extra = Literal["checks", "service"]


class Permission(Model):
    """Actions that a function's role may do, and on what."""

    actions: tuple[str, ...]
    resource: Resource
    why: str | None = None  # needed with `Resource.ANY`


class Function(Model):
    """One Lambda function."""

    name: Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+)*$")]
    summary: str
    timeout_s: Annotated[int, Field(ge=1, le=900)]
    memory_mib: Annotated[int, Field(ge=128, le=10_240)]
    in_vpc: bool = False  # it talks to the target
    in_each_zone: bool = False  # one for each zone of the deployment, beside the targets there
    engine: bool = False  # its package carries `plimsoll_engine`
    extras: tuple[
        Extra, ...
    ] = ()  # optional dependencies of pyproject.toml that its package carries
    retries: Literal[0, 2] = 0  # of asynchronous invocations; 0: never twice by itself
    settings: type[Settings] = Settings  # which it reads from its environment
    permissions: tuple[Permission, ...] = ()

    @property
    def environment(self) -> dict[str, Setting]:
        """Which variables of its environment hold which settings of the deployment."""
        return self.settings.environment()

    @property
    def name_on_aws(self) -> str:
        """Its name on AWS, where others have functions too."""
        return f"plimsoll-{self.name}"

    @property
    def folder(self) -> str:
        """The folder of its handler, under `functions/`."""
        return self.name.replace("-", "_")

    @property
    def arn_placeholder(self) -> str:
        """Its name in a state machine, without the `${}`: `LoadClientFunctionArn`."""
        return "".join(word.capitalize() for word in self.name.split("-")) + "FunctionArn"


# Permissions that several functions share.


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
CHANGE_LIMITS = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
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
