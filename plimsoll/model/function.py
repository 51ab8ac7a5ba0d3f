"""What a function of a deployment is: its limits, what it is told, and what it may do."""

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
