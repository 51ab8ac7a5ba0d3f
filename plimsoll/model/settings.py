"""What functions need to know of their deployment, and how they read it from their environment."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import ValidationError

from plimsoll.errors import PlimsollError
from plimsoll.model.base import Model


class Setting(StrEnum):
    """What functions and state machines need to know of a deployment; `${Name}` in the latter."""

    RESULTS_BUCKET = "ResultsBucketName"
    RUNS_TABLE = "RunsTableName"
    SERVICE_TABLE = "ServiceTableName"  # teams' limits, experiments, schedules and histories
    TARGET_SERVICE_ROLE_ARN = "TargetServiceRoleArn"  # CloudFormation acts on targets with it
    DELETION_ROLE_ARN = "DeletionRoleArn"  # Scheduler deletes a stack with it
    SCHEDULE_GROUP = "ScheduleGroupName"
    TARGET_SUBNET_GROUP = "TargetSubnetGroupName"
    TARGET_SECURITY_GROUP = "TargetSecurityGroupId"  # of RDS targets
    CASSANDRA = "Cassandra"  # JSON: what Cassandra targets need of the deployment; null: none
    RDS_CA_FILE = "RdsCaFile"  # PEM: who signs the certificates of RDS's servers; "" for AWS's own
    TARGET_KINDS = "TargetKinds"  # JSON list of the kinds of targets that runs may have
    ZONES = "Zones"  # JSON list: where targets may stand, each with load clients of its own
    POLL_SECONDS = "PollSeconds"  # between two looks at a stack; whole seconds
    START_LEAD_MS = "StartLeadMs"  # from planning a step to its barrier, whatever its size
    START_LEAD_MS_PER_CLIENT = "StartLeadMsPerClient"  # added for each of its clients
    POLL_US = "PollUs"  # how long clients look for answers before they sleep, at most
    METRIC_PERIOD_SECONDS = "MetricPeriodSeconds"  # of a target's metrics in CloudWatch
    TEARDOWN_PATIENCE_SECONDS = "TeardownPatienceSeconds"  # a failing deletion is asked for again
    ALLOWED_ENDPOINTS = "AllowedEndpoints"  # JSON {host:port: the ARN of its secret}
    ALLOWED_SNAPSHOTS = "AllowedSnapshots"  # JSON list of ARNs that targets may be restored from
    ALARM_TOPIC_ARN = "AlarmTopicArn"
    EVENT_BUS = "EventBusName"
    CHECK_GROUP = "CheckGroupName"  # the schedules of checks
    CHECK_ROLE_ARN = "CheckRoleArn"  # Scheduler starts checks with it
    CREATE_TARGET_NAME = "CreateTargetFunctionName"  # the guard lets it start no more
    START_CHECK_ARN = "StartCheckArn"  # the function that it calls
    RUN_MACHINE_ARN = "RunMachineArn"
    EXPERIMENT_MACHINE_ARN = "ExperimentMachineArn"
    TEAMS = "Teams"  # JSON {team: what the configuration says of it}
    RESULTS_DAYS = "ResultsDays"  # after which a run is forgotten; "" for never
    ON_ONE_MACHINE = "OnOneMachine"  # "true" where this is no AWS; reports say so
    METRICS_NAMESPACE = "MetricsNamespace"  # CloudWatch's, of what the deployment says of itself
    DASHBOARDS = "Dashboards"  # JSON: addresses of the pages on which its runs can be seen
    PRICES = "Prices"  # JSON: the deployment's own, as plimsoll.prices has them


class Variables(Model):
    """What a function reads from its environment: each field is a variable, in lower case."""

    @classmethod
    def numbers_as_text(cls) -> bool:
        """An environment has nothing but text."""
        return True

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Read them.

        Raises:
            PlimsollError: Variables are missing or hold what they cannot; it names all of them.
        """
        variables = [name.upper() for name in cls.model_fields]
        if missing := [name for name in variables if name not in environment]:
            raise PlimsollError(f"missing in the environment: {', '.join(missing)}")
        try:
            return cls.model_validate({name.lower(): environment[name] for name in variables})
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)
            wrong = [f"{str(fault['loc'][0]).upper()} ({fault['msg']})" for fault in faults]
        raise PlimsollError(f"wrong in the environment: {', '.join(wrong)}")


class Settings(Variables):
    """What a function reads of its deployment's settings."""

    @classmethod
    def environment(cls) -> dict[str, Setting]:
        """Give the setting that each variable holds.

        Raises:
            KeyError: A field is called like no setting.
        """
        return {name.upper(): Setting[name.upper()] for name in cls.model_fields}

    @classmethod
    def variables(cls, values: Mapping[Setting, str]) -> dict[str, str]:
        """Give the environment of a function, by the values that its deployment has."""
        return {name: values[setting] for name, setting in cls.environment().items()}

    @classmethod
    def of_deployment(cls, values: Mapping[Setting, str]) -> Self:
        """Read them as a function does, by the values that its deployment has."""
        return cls.read(cls.variables(values))
