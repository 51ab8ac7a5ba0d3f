"""Settings of a deployment, and how functions read them from their environment."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import ValidationError

from plimsoll.errors import PlimsollError
from plimsoll.model.base import Model


class Setting(StrEnum):
    """Deployment values that functions and state machines need; `${Name}` in state machines."""

    RESULTS_BUCKET = "ResultsBucketName"
    RUNS_TABLE = "RunsTableName"
    SERVICE_TABLE = "ServiceTableName"  # limits of teams, experiments, schedules and histories
    # Role with which CloudFormation creates and deletes targets
    TARGET_SERVICE_ROLE_ARN = "TargetServiceRoleArn"
    DELETION_ROLE_ARN = "DeletionRoleArn"  # role with which Scheduler deletes a stack
    SCHEDULE_GROUP = "ScheduleGroupName"
    TARGET_SUBNET_GROUP = "TargetSubnetGroupName"
    TARGET_SECURITY_GROUP = "TargetSecurityGroupId"  # security group of RDS targets
    # JSON: what Cassandra targets need of the deployment; null if it has no such targets
    CASSANDRA = "Cassandra"
    RDS_CA_FILE = "RdsCaFile"  # PEM: certificate authority of RDS's servers; "" for AWS's own
    TARGET_KINDS = "TargetKinds"  # JSON list: kinds of targets that runs may have
    ZONES = "Zones"  # JSON list: zones for targets, each with its own load clients
    POLL_SECONDS = "PollSeconds"  # between two checks of a stack; whole seconds
    START_LEAD_MS = "StartLeadMs"  # from planning a step to its barrier, for a step of any size
    START_LEAD_MS_PER_CLIENT = "StartLeadMsPerClient"  # added per client of the step
    POLL_US = "PollUs"  # longest busy-poll of a client for a reply
    METRIC_PERIOD_SECONDS = "MetricPeriodSeconds"  # period of a target's metrics in CloudWatch
    TEARDOWN_PATIENCE_SECONDS = "TeardownPatienceSeconds"  # how long a failing deletion is retried
    ALLOWED_ENDPOINTS = "AllowedEndpoints"  # JSON {host:port: ARN of the secret}
    # JSON list: ARNs of snapshots from which targets may be restored
    ALLOWED_SNAPSHOTS = "AllowedSnapshots"
    ALARM_TOPIC_ARN = "AlarmTopicArn"
    EVENT_BUS = "EventBusName"
    CHECK_GROUP = "CheckGroupName"  # schedule group of the checks
    CHECK_ROLE_ARN = "CheckRoleArn"  # role with which Scheduler starts checks
    CREATE_TARGET_NAME = "CreateTargetFunctionName"  # the cost guard stops it from starting more
    START_CHECK_ARN = "StartCheckArn"  # function that a check's schedule calls
    RUN_MACHINE_ARN = "RunMachineArn"
    EXPERIMENT_MACHINE_ARN = "ExperimentMachineArn"
    TEAMS = "Teams"  # JSON {team: the team's configuration}
    RESULTS_DAYS = "ResultsDays"  # days until a run is deleted; "" for never
    ON_ONE_MACHINE = "OnOneMachine"  # "true" if this is not AWS; reports say so
    METRICS_NAMESPACE = "MetricsNamespace"  # CloudWatch namespace of the deployment's own metrics
    DASHBOARDS = "Dashboards"  # JSON: addresses of dashboards that show its runs
    PRICES = "Prices"  # JSON: the deployment's own prices (plimsoll.prices)
    # Key of the volumes and passwords of targets; "" for AWS's own
    KMS_KEY_ARN = "KmsKeyArn"
    LOG_LEVEL = "LogLevel"  # lowest level of the functions' logs, on AWS
    TAGS = "Tags"  # JSON {key: value}: the organization's tags of targets and their snapshots
    # Name of the item of the service table that holds the settings in STORED; "" if they are in
    # the environment
    CONFIGURATION = "ConfigurationName"


# A deployment on AWS has these in its service table, since a function's environment is limited to
# 4 KiB (`plimsoll.aws.configuration`).
STORED = (
    Setting.TEAMS,
    Setting.PRICES,
    Setting.ALLOWED_ENDPOINTS,
    Setting.ALLOWED_SNAPSHOTS,
    Setting.TAGS,
)


class Variables(Model):
    """Variables of a function's environment. A field has the variable's name in lower case."""

    @classmethod
    def numbers_as_text(cls) -> bool:
        """Return True: the environment has only text."""
        return True

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Read the variables.

        Raises:
            PlimsollError: Variables are missing or invalid; names all of them.
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
    """The settings of its deployment that a function reads."""

    @classmethod
    def environment(cls) -> dict[str, Setting]:
        """Return the setting that each variable holds.

        Raises:
            KeyError: A field has no setting of its name.
        """
        return {name.upper(): Setting[name.upper()] for name in cls.model_fields}

    @classmethod
    def variables(cls, values: Mapping[Setting, str]) -> dict[str, str]:
        """Return the environment of a function, from the deployment's values."""
        return {name: values[setting] for name, setting in cls.environment().items()}

    @classmethod
    def environment_on_aws(cls) -> dict[str, Setting]:
        """Return the setting that each variable holds on AWS: in place of `STORED`, their item."""
        own = {name: of for name, of in cls.environment().items() if of not in STORED}
        own |= {Setting.LOG_LEVEL.name: Setting.LOG_LEVEL}
        if set(cls.environment().values()) & set(STORED):
            own |= {of.name: of for of in (Setting.SERVICE_TABLE, Setting.CONFIGURATION)}
        return own

    @classmethod
    def of_deployment(cls, values: Mapping[Setting, str]) -> Self:
        """Read the settings from the deployment's values instead of the environment."""
        return cls.read(cls.variables(values))
