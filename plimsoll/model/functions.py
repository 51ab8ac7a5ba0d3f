"""The table of functions: what is deployed on AWS and what one machine runs, from one source.

`stacks/` and `plimsoll/local/` both read `FUNCTIONS`, so that the two cannot drift apart. A
function's code is `functions/<folder>/handler.py` with `handler(event, context)`.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model


class Setting(StrEnum):
    """What a deployment tells its functions and state machines; used as `${Name}` in the latter."""

    RESULTS_BUCKET = "ResultsBucketName"
    RUNS_TABLE = "RunsTableName"
    SERVICE_TABLE = "ServiceTableName"  # teams' limits, experiments, schedules and histories
    TARGET_SERVICE_ROLE = "TargetServiceRoleArn"  # CloudFormation acts on targets with it
    DELETION_ROLE = "DeletionRoleArn"  # Scheduler deletes a stack with it
    SCHEDULE_GROUP = "ScheduleGroupName"
    TARGET_SUBNET_GROUP = "TargetSubnetGroupName"
    TARGET_SECURITY_GROUP = "TargetSecurityGroupId"
    CASSANDRA = "Cassandra"  # JSON: what Cassandra targets need of the deployment; null: none
    TARGET_KINDS = "TargetKinds"  # JSON list of the kinds of targets that runs may have
    TARGET_AVAILABILITY_ZONE = "TargetAvailabilityZone"  # the fleet's own: no network between zones
    POLL_SECONDS = "PollSeconds"  # between two looks at a stack; whole seconds, 15 on AWS
    START_LEAD_MS = "StartLeadMs"  # from planning a step to its barrier, whatever its size
    START_LEAD_MS_PER_CLIENT = "StartLeadMsPerClient"  # ... and for each of its clients
    METRIC_PERIOD_SECONDS = "MetricPeriodSeconds"  # of CloudWatch's RDS metrics; 60 on AWS
    ALLOWED_ENDPOINTS = "AllowedEndpoints"  # JSON {host:port: the ARN of its secret}
    ALARM_TOPIC = "AlarmTopicArn"
    EVENT_BUS = "EventBusName"
    CHECK_GROUP = "CheckGroupName"  # the schedules of checks
    CHECK_ROLE = "CheckRoleArn"  # Scheduler starts checks with it
    START_CHECK = "StartCheckArn"  # the function that it calls
    RUN_MACHINE = "RunMachineArn"
    EXPERIMENT_MACHINE = "ExperimentMachineArn"
    TEAMS = "Teams"  # JSON {team: what the configuration says of it}
    RESULTS_DAYS = "ResultsDays"  # after which a run is forgotten; "" for never
    ON_ONE_MACHINE = "OnOneMachine"  # "true" where this is no AWS; reports say so
    PRICES = "Prices"  # JSON: the deployment's own, as plimsoll.prices has them


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
    DELETION_SCHEDULES = "deletion-schedules"  # plimsoll-run-* in the schedule group
    TARGET_SECRETS = "target-secrets"  # secrets of targets, and those of allowed endpoints
    TARGET_DATABASES = "target-databases"  # RDS instances named plimsoll-*
    ALARM_TOPIC = "alarm-topic"
    EVENT_BUS = "event-bus"
    CHECK_SCHEDULES = "check-schedules"  # in the group of checks
    CHECK_ROLE = "check-role"  # to pass to Scheduler only
    RUN_MACHINE = "run-machine"  # the workflow of runs, to start it
    RUN_EXECUTIONS = "run-executions"  # ... and to stop it
    EXPERIMENT_MACHINE = "experiment-machine"  # the workflow of experiments, to start it
    EXPERIMENT_EXECUTIONS = "experiment-executions"  # ... and to stop it
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
    engine: bool = False  # its package carries `plimsoll_engine`
    extras: tuple[Extra, ...] = ()  # ... and these optional dependencies of pyproject.toml
    retries: Literal[0, 2] = 0  # of asynchronous invocations; 0: never twice by itself
    environment: dict[str, Setting] = Field(default_factory=dict)
    permissions: tuple[Permission, ...] = ()

    @property
    def folder(self) -> str:
        """The folder of its handler, under `functions/`."""
        return self.name.replace("-", "_")

    @property
    def arn_placeholder(self) -> str:
        """Its name in a state machine, without the `${}`: `LoadClientFunctionArn`."""
        return "".join(word.capitalize() for word in self.name.split("-")) + "FunctionArn"


_READ_RUN = Permission(actions=("s3:GetObject",), resource=Resource.RUN_FILES)
_WRITE_RUN = Permission(actions=("s3:PutObject",), resource=Resource.RUN_FILES)
_LIST_RUN = Permission(actions=("s3:ListBucket",), resource=Resource.RUN_LISTING)
_READ_RECORD = Permission(actions=("dynamodb:GetItem",), resource=Resource.RUNS_TABLE)
_WRITE_RECORD = Permission(actions=("dynamodb:UpdateItem",), resource=Resource.RUNS_TABLE)
_READ_SECRET = Permission(
    actions=("secretsmanager:GetSecretValue",), resource=Resource.TARGET_SECRETS
)
_SEE_STACK = Permission(actions=("cloudformation:DescribeStacks",), resource=Resource.TARGET_STACKS)
_DELETE_STACK = Permission(actions=("cloudformation:DeleteStack",), resource=Resource.TARGET_STACKS)
_CHANGE_LIMITS = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
)
_PASS_TARGET_ROLE = Permission(actions=("iam:PassRole",), resource=Resource.TARGET_SERVICE_ROLE)
_READ_EXPERIMENT = Permission(actions=("s3:GetObject",), resource=Resource.EXPERIMENT_FILES)
_READ_EXPERIMENT_RECORD = Permission(actions=("dynamodb:GetItem",), resource=Resource.SERVICE_TABLE)
_CHANGE_EXPERIMENT = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
)
_SERVE_EXPERIMENTS = (
    _READ_EXPERIMENT,
    Permission(actions=("s3:PutObject",), resource=Resource.EXPERIMENT_FILES),
    _CHANGE_EXPERIMENT,
    Permission(actions=("dynamodb:PutItem",), resource=Resource.SERVICE_TABLE),
    Permission(actions=("states:StartExecution",), resource=Resource.EXPERIMENT_MACHINE),
    Permission(actions=("states:StopExecution",), resource=Resource.EXPERIMENT_EXECUTIONS),
)
_STOP_RUN = Permission(actions=("states:StopExecution",), resource=Resource.RUN_EXECUTIONS)
_TELL = Permission(actions=("events:PutEvents",), resource=Resource.EVENT_BUS)
_RUN_ENVIRONMENT = {
    "RESULTS_BUCKET": Setting.RESULTS_BUCKET,
    "RUNS_TABLE": Setting.RUNS_TABLE,
}
_EXPERIMENT_ENVIRONMENT = {**_RUN_ENVIRONMENT, "SERVICE_TABLE": Setting.SERVICE_TABLE}

_LIMITS_ENVIRONMENT = {"SERVICE_TABLE": Setting.SERVICE_TABLE, "TEAMS": Setting.TEAMS}

_TABLE = (
    Function(
        name="record-run",
        summary="Marks the run as started and says what the workflow needs to know of it.",
        timeout_s=30,
        memory_mib=512,
        environment={
            **_RUN_ENVIRONMENT,
            "ALLOWED_ENDPOINTS": Setting.ALLOWED_ENDPOINTS,
            "TARGET_KINDS": Setting.TARGET_KINDS,
            "EVENT_BUS": Setting.EVENT_BUS,
        },
        permissions=(_READ_RUN, _READ_RECORD, _WRITE_RECORD, _TELL),
    ),
    Function(
        name="arm-deletion",
        summary="Arms the one-shot schedule that deletes the target at the run's time limit.",
        timeout_s=30,
        memory_mib=512,
        environment={
            **_RUN_ENVIRONMENT,
            "SCHEDULE_GROUP": Setting.SCHEDULE_GROUP,
            "DELETION_ROLE_ARN": Setting.DELETION_ROLE,
        },
        permissions=(
            _READ_RECORD,
            _WRITE_RECORD,
            Permission(actions=("scheduler:CreateSchedule",), resource=Resource.DELETION_SCHEDULES),
            Permission(actions=("iam:PassRole",), resource=Resource.DELETION_ROLE),
        ),
    ),
    Function(
        name="create-target",
        summary="Renders the target's template and creates its stack.",
        timeout_s=60,
        memory_mib=512,
        environment={
            **_RUN_ENVIRONMENT,
            "TARGET_SERVICE_ROLE_ARN": Setting.TARGET_SERVICE_ROLE,
            "TARGET_SUBNET_GROUP": Setting.TARGET_SUBNET_GROUP,
            "TARGET_SECURITY_GROUP": Setting.TARGET_SECURITY_GROUP,
            "TARGET_AVAILABILITY_ZONE": Setting.TARGET_AVAILABILITY_ZONE,
            "CASSANDRA": Setting.CASSANDRA,
            "TARGET_KINDS": Setting.TARGET_KINDS,
        },
        permissions=(
            _READ_RUN,
            _WRITE_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            Permission(
                actions=("cloudformation:CreateStack", "cloudformation:TagResource"),
                resource=Resource.TARGET_STACKS,
            ),
            _SEE_STACK,
            _DELETE_STACK,
            _PASS_TARGET_ROLE,
        ),
    ),
    Function(
        name="await-target",
        summary="Looks whether the target is there; records where it is, or says why not.",
        timeout_s=30,
        memory_mib=512,
        environment={**_RUN_ENVIRONMENT, "POLL_SECONDS": Setting.POLL_SECONDS},
        permissions=(
            _READ_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            _SEE_STACK,
            Permission(
                actions=("cloudformation:DescribeStackEvents",), resource=Resource.TARGET_STACKS
            ),
            Permission(
                actions=("ec2:DescribeVolumes",),
                resource=Resource.ANY,
                why="EC2 has no resources for describing volumes",
            ),
        ),
    ),
    Function(
        name="create-schema",
        summary="Creates the workload's tables and divides the dataset among clients.",
        timeout_s=300,
        memory_mib=512,
        in_vpc=True,
        environment=_RUN_ENVIRONMENT,
        permissions=(_READ_RUN, _READ_RECORD, _WRITE_RECORD, _READ_SECRET),
    ),
    Function(
        name="load-dataset",
        summary="Loads one part of the dataset; a repeated call completes, never doubles.",
        timeout_s=900,
        memory_mib=1769,
        in_vpc=True,
        engine=True,
        environment=_RUN_ENVIRONMENT,
        permissions=(_READ_RUN, _READ_RECORD, _READ_SECRET),
    ),
    Function(
        name="verify-dataset",
        summary="Counts the rows of every table.",
        timeout_s=900,
        memory_mib=512,
        in_vpc=True,
        environment=_RUN_ENVIRONMENT,
        permissions=(_READ_RUN, _READ_RECORD, _WRITE_RECORD, _READ_SECRET),
    ),
    Function(
        name="plan-step",
        summary="Picks the next step from the finished ones, or says that the search is done.",
        timeout_s=120,
        memory_mib=1024,
        in_vpc=True,
        environment={
            **_RUN_ENVIRONMENT,
            "POLL_SECONDS": Setting.POLL_SECONDS,
            "START_LEAD_MS": Setting.START_LEAD_MS,
            "START_LEAD_MS_PER_CLIENT": Setting.START_LEAD_MS_PER_CLIENT,
        },
        permissions=(
            _READ_RUN,
            _WRITE_RUN,
            _LIST_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            _READ_SECRET,
        ),
    ),
    Function(
        name="load-client",
        summary="One client of a step: waits for the barrier, sends its load, writes its results.",
        timeout_s=900,
        memory_mib=1769,  # one whole vCPU
        in_vpc=True,
        engine=True,
        environment=_RUN_ENVIRONMENT,
        permissions=(_READ_RUN, _WRITE_RUN, _READ_RECORD, _READ_SECRET),
    ),
    Function(
        name="judge-step",
        summary="Merges the clients' results into one step.",
        timeout_s=300,
        memory_mib=1769,
        in_vpc=True,
        engine=True,
        environment=_RUN_ENVIRONMENT,
        permissions=(_READ_RUN, _WRITE_RUN, _LIST_RUN, _READ_RECORD, _WRITE_RECORD, _READ_SECRET),
    ),
    Function(
        name="conclude",
        summary="Draws the verdict, and what set the limit, from all steps.",
        timeout_s=300,
        memory_mib=1769,
        environment={
            **_RUN_ENVIRONMENT,
            "METRIC_PERIOD_SECONDS": Setting.METRIC_PERIOD_SECONDS,
        },
        permissions=(
            _READ_RUN,
            _WRITE_RUN,
            _LIST_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            Permission(
                actions=("cloudwatch:GetMetricData",),
                resource=Resource.ANY,
                why="CloudWatch has no resources for reading metrics",
            ),
        ),
    ),
    Function(
        name="publish-target",
        summary="Sends the target's samples to a store of metrics within the VPC.",
        timeout_s=120,
        memory_mib=1769,
        in_vpc=True,  # where `conclude`, which reads the samples, is not
        environment=_RUN_ENVIRONMENT,
        permissions=(_READ_RUN, _WRITE_RUN),
    ),
    Function(
        name="delete-target",
        summary="Deletes the target's stack, and says whether it is gone.",
        timeout_s=60,
        memory_mib=512,
        environment={
            **_RUN_ENVIRONMENT,
            "POLL_SECONDS": Setting.POLL_SECONDS,
            "SCHEDULE_GROUP": Setting.SCHEDULE_GROUP,
        },
        permissions=(
            _READ_RECORD,
            _WRITE_RECORD,
            _SEE_STACK,
            _DELETE_STACK,
            Permission(actions=("scheduler:DeleteSchedule",), resource=Resource.DELETION_SCHEDULES),
        ),
    ),
    Function(
        name="end-run",
        summary="Writes how the run ended, and its results; gives back its share of limits.",
        timeout_s=120,
        memory_mib=1024,
        environment={
            **_RUN_ENVIRONMENT,
            **_LIMITS_ENVIRONMENT,
            "EVENT_BUS": Setting.EVENT_BUS,
        },
        permissions=(
            _READ_RUN,
            _WRITE_RUN,
            _LIST_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            _CHANGE_LIMITS,
            _TELL,
        ),
    ),
    Function(
        name="plan-experiment",
        summary="Marks an experiment as started and puts its cells in order.",
        timeout_s=30,
        memory_mib=512,
        environment=_EXPERIMENT_ENVIRONMENT,
        permissions=(_READ_EXPERIMENT, _CHANGE_EXPERIMENT),
    ),
    Function(
        name="submit-cell",
        summary="Records the run of one cell, which the workflow then starts.",
        timeout_s=60,
        memory_mib=512,
        environment={
            **_EXPERIMENT_ENVIRONMENT,
            **_LIMITS_ENVIRONMENT,
            "RUN_MACHINE_ARN": Setting.RUN_MACHINE,
            "TARGET_KINDS": Setting.TARGET_KINDS,
            "ALLOWED_ENDPOINTS": Setting.ALLOWED_ENDPOINTS,
            "PRICES": Setting.PRICES,
            "RESULTS_DAYS": Setting.RESULTS_DAYS,
        },
        permissions=(
            _READ_EXPERIMENT,
            _READ_EXPERIMENT_RECORD,
            _READ_RECORD,
            _WRITE_RECORD,
            Permission(actions=("dynamodb:PutItem",), resource=Resource.RUNS_TABLE),
            _WRITE_RUN,
            _STOP_RUN,
            _CHANGE_LIMITS,
        ),
    ),
    Function(
        name="settle-cells",
        summary="Says whether every cell of an experiment has ended; stops them where asked.",
        timeout_s=120,
        memory_mib=512,
        environment={
            **_EXPERIMENT_ENVIRONMENT,
            **_LIMITS_ENVIRONMENT,
            "RUN_MACHINE_ARN": Setting.RUN_MACHINE,
            "POLL_SECONDS": Setting.POLL_SECONDS,
        },
        permissions=(
            _READ_EXPERIMENT,
            _CHANGE_EXPERIMENT,
            _READ_RECORD,
            _WRITE_RECORD,
            _STOP_RUN,
            _CHANGE_LIMITS,
        ),
    ),
    Function(
        name="conclude-experiment",
        summary="Compares an experiment's cells, draws its decision, and writes how it ended.",
        timeout_s=300,
        memory_mib=3008,  # holds the results of 200 runs
        environment=_EXPERIMENT_ENVIRONMENT,
        permissions=(
            _READ_EXPERIMENT,
            Permission(actions=("s3:PutObject",), resource=Resource.EXPERIMENT_FILES),
            _CHANGE_EXPERIMENT,
            _READ_RUN,
            _READ_RECORD,
        ),
    ),
    Function(
        name="janitor",
        summary="Deletes target stacks whose time has passed, and reports each; reconciles limits.",
        timeout_s=300,
        memory_mib=512,
        environment={
            **_RUN_ENVIRONMENT,
            **_LIMITS_ENVIRONMENT,
            "ALARM_TOPIC_ARN": Setting.ALARM_TOPIC,
            "EVENT_BUS": Setting.EVENT_BUS,
        },
        permissions=(
            _READ_RECORD,
            _WRITE_RECORD,
            _CHANGE_LIMITS,
            Permission(
                actions=("cloudformation:DescribeStacks",),
                resource=Resource.ANY,
                why="a listing of all stacks has no resource",
            ),
            _DELETE_STACK,
            Permission(actions=("sns:Publish",), resource=Resource.ALARM_TOPIC),
            _TELL,
        ),
    ),
    Function(
        name="start-check",
        summary="Starts the runs of a check, when its schedule fires.",
        timeout_s=60,
        memory_mib=512,
        retries=2,  # the runs' ids follow from the firing: a repeated call finds them
        environment={
            **_RUN_ENVIRONMENT,
            "SERVICE_TABLE": Setting.SERVICE_TABLE,
            "RUN_MACHINE_ARN": Setting.RUN_MACHINE,
            "TARGET_KINDS": Setting.TARGET_KINDS,
            "ALLOWED_ENDPOINTS": Setting.ALLOWED_ENDPOINTS,
            "TEAMS": Setting.TEAMS,
            "PRICES": Setting.PRICES,
            "RESULTS_DAYS": Setting.RESULTS_DAYS,
            "ON_ONE_MACHINE": Setting.ON_ONE_MACHINE,
        },
        permissions=(
            _WRITE_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            Permission(actions=("dynamodb:PutItem",), resource=Resource.RUNS_TABLE),
            Permission(
                actions=("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
                resource=Resource.SERVICE_TABLE,
            ),
            Permission(actions=("states:StartExecution",), resource=Resource.RUN_MACHINE),
        ),
    ),
    Function(
        name="judge-check",
        summary="Judges the check that a run belongs to, when the run has ended.",
        timeout_s=120,
        memory_mib=1024,
        extras=("checks",),
        retries=2,  # what was told is remembered
        environment={
            **_RUN_ENVIRONMENT,
            "SERVICE_TABLE": Setting.SERVICE_TABLE,
            "ALARM_TOPIC_ARN": Setting.ALARM_TOPIC,
            "EVENT_BUS": Setting.EVENT_BUS,
        },
        permissions=(
            _READ_RUN,
            Permission(
                actions=(
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem",
                    "dynamodb:Query",
                ),
                resource=Resource.SERVICE_TABLE,
            ),
            Permission(actions=("sns:Publish",), resource=Resource.ALARM_TOPIC),
            _TELL,
        ),
    ),
    Function(
        name="api",
        summary="Answers the REST API.",
        timeout_s=29,  # API Gateway waits no longer
        memory_mib=1024,
        extras=("service",),
        environment={
            **_RUN_ENVIRONMENT,
            "SERVICE_TABLE": Setting.SERVICE_TABLE,
            "RUN_MACHINE_ARN": Setting.RUN_MACHINE,
            "EXPERIMENT_MACHINE_ARN": Setting.EXPERIMENT_MACHINE,
            "TARGET_KINDS": Setting.TARGET_KINDS,
            "ALLOWED_ENDPOINTS": Setting.ALLOWED_ENDPOINTS,
            "TEAMS": Setting.TEAMS,
            "PRICES": Setting.PRICES,
            "RESULTS_DAYS": Setting.RESULTS_DAYS,
            "ON_ONE_MACHINE": Setting.ON_ONE_MACHINE,
            "CHECK_GROUP": Setting.CHECK_GROUP,
            "CHECK_ROLE_ARN": Setting.CHECK_ROLE,
            "START_CHECK_ARN": Setting.START_CHECK,
        },
        permissions=(
            _READ_RUN,  # a presigned link may do what its maker may
            _WRITE_RUN,
            _LIST_RUN,
            _READ_RECORD,
            _WRITE_RECORD,
            Permission(actions=("dynamodb:PutItem",), resource=Resource.RUNS_TABLE),
            Permission(actions=("dynamodb:Query",), resource=Resource.RUNS_BY_TEAM),
            _CHANGE_LIMITS,
            Permission(actions=("states:StartExecution",), resource=Resource.RUN_MACHINE),
            Permission(actions=("states:StopExecution",), resource=Resource.RUN_EXECUTIONS),
            *_SERVE_EXPERIMENTS,
            Permission(
                actions=(
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:DeleteItem",
                    "dynamodb:Query",
                ),
                resource=Resource.SERVICE_TABLE,
            ),
            Permission(
                actions=(
                    "scheduler:CreateSchedule",
                    "scheduler:UpdateSchedule",
                    "scheduler:DeleteSchedule",
                ),
                resource=Resource.CHECK_SCHEDULES,
            ),
            Permission(actions=("iam:PassRole",), resource=Resource.CHECK_ROLE),
        ),
    ),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _TABLE}
