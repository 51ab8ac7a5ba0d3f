"""Plimsoll in one account and region: creates its parts and connects them."""

import json
from typing import Any, assert_never, get_args

from aws_cdk import CfnOutput, CfnResource, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

import plimsoll
from plimsoll.model.deployment.deployment import DeploymentConfig
from plimsoll.model.deployment.functions import (
    FUNCTIONS,
    OF_DEPLOYMENT,
    Resource,
    Setting,
)
from plimsoll.model.deployment.rules import CHECKS_GROUP, DELETIONS_GROUP, RUN_ENDED
from plimsoll.model.deployment.tables import RUNS_BY_TEAM
from plimsoll.model.request.request import TargetKind
from plimsoll.model.timings import AWS_TIMINGS
from stacks.api import ApiPart
from stacks.cassandra_part import CassandraPart
from stacks.checks import ChecksPart
from stacks.configuration import ConfigurationPart
from stacks.dashboard import DashboardPart, dashboard_url
from stacks.deletion_guard import GuardPart
from stacks.encryption import EncryptionPart
from stacks.event_bus import EventsPart
from stacks.fleet import FleetPart, zone_suffix
from stacks.metrics import MetricsPart
from stacks.names import own_name, set_own_name
from stacks.network import NetworkPart
from stacks.packages import Packages
from stacks.packaging import AWS_LAMBDA, Platform
from stacks.permissions import Grant, Grants, arn
from stacks.safeguards import AlarmsPart, WatchPart
from stacks.snapshot_permissions import snapshot_grants
from stacks.storage import StoragePart
from stacks.tags import tag_resources
from stacks.target_roles import STACKS, TargetRolesPart
from stacks.wildcards import explain_wildcards
from stacks.workflow import WorkflowPart, machine_name


class PlimsollStack(Stack):
    """One stack, so that `cdk deploy` creates everything and `cdk destroy` deletes everything.

    The functions are packaged for `platform`; if that is this machine, tests can import them.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        config: DeploymentConfig,
        *,
        platform: Platform = AWS_LAMBDA,
        **env: Any,
    ) -> None:
        super().__init__(scope, name, description="Plimsoll: finds a database's load line", **env)
        set_own_name(self, config.name)
        self.encryption = EncryptionPart(self, config)
        self.network = NetworkPart(self, config)
        self.storage = StoragePart(self, config)
        self.targets = TargetRolesPart(self, self.network, config.allowed_snapshots)
        self.cassandra = (
            CassandraPart(
                self,
                cassandra=config.cassandra,
                network=self.network,
                service=self.targets.service,
            )
            if config.cassandra
            else None
        )
        self.alarms = AlarmsPart(self, config)
        self.schedules = scheduler.CfnScheduleGroup(
            self, "Deletions", name=own_name(self, DELETIONS_GROUP)
        )
        self.events = EventsPart(self)
        self.checks = ChecksPart(self)
        self.metrics = MetricsPart(self, metrics=config.metrics, network=self.network)
        packages = Packages([*FUNCTIONS.values(), *OF_DEPLOYMENT], platform)
        self.configuration = ConfigurationPart(
            self, packages=packages, table=self.storage.service, config=config
        )
        settings = self._settings(config)
        self.fleet = FleetPart(
            self,
            network=self.network,
            grants=self._grants(config),
            settings=settings,
            reserved_load_clients=config.reserved_load_clients,
            packages=packages,
        )
        self.metrics.connect(self.fleet.functions, self.fleet.in_other_zones)
        self.workflow = WorkflowPart(
            self,
            functions=self.fleet.functions,
            in_other_zones=self.fleet.in_other_zones,
            settings=settings,
        )
        self.events.allow_events_from(self.workflow.machines["run"].role)
        self.storage.allow_failures_from(self.workflow.machines["run"].role)
        self.checks.call_at_run_end(self.fleet.functions[RUN_ENDED.function], self.events.bus)
        self.watch = WatchPart(
            self,
            config=config,
            topic=self.alarms.topic,
            machines=self.workflow.machines,
            janitor=self.fleet.functions["janitor"],
        )
        self.api = ApiPart(
            self,
            api=config.api,
            function=self.fleet.functions["api"],
            deploying=self.configuration.function,
        )
        DashboardPart(
            self,
            machines=self.workflow.machines,
            functions=self.fleet.functions,
            in_other_zones=self.fleet.in_other_zones,
            machine_logs=self.workflow.logs,
            alarms=self.watch.alarms,
            config=config,
        )
        parts = [child for child in self.node.children if isinstance(child, Construct)]
        self.guard = GuardPart(
            self,
            packages=packages,
            log_level=config.log_level,
            targets_role_arn=self.targets.service.role_arn,
            guarded=parts,
        )
        if config.permissions_boundary_arn is not None:
            boundary = iam.ManagedPolicy.from_managed_policy_arn(
                self, "Boundary", config.permissions_boundary_arn
            )
            iam.PermissionsBoundary.of(self).apply(boundary)
        self.storage.log_emptying()
        self.encryption.allow_grants(self.targets.service)
        self.encryption.encrypt(self._list_roles_that_read_and_write())
        tag_resources(self, {**config.tags, "plimsoll:deployment": name})
        bucket = self.storage.results.node.default_child
        assert isinstance(bucket, CfnResource)  # noqa: S101 - what a bucket is made of
        explain_wildcards(self, bucket)
        self._outputs(config)

    def _list_roles_that_read_and_write(self) -> list[iam.IRole]:
        """List the roles of functions and machines, and the one that creates targets."""
        functions = [
            *self.fleet.functions.values(),
            *(function for others in self.fleet.in_other_zones.values() for function in others),
            self.configuration.function,
            self.guard.function,
        ]
        return [
            self.targets.service,
            *(machine.role for machine in self.workflow.machines.values()),
            *(function.role for function in functions if function.role),
        ]

    def _settings(self, config: DeploymentConfig) -> dict[Setting, str]:
        return {
            Setting.RESULTS_BUCKET: self.storage.results.bucket_name,
            **{setting: table.table_name for setting, table in self.storage.tables.items()},
            Setting.TARGET_SERVICE_ROLE_ARN: self.targets.service.role_arn,
            Setting.DELETION_ROLE_ARN: self.targets.deletion.role_arn,
            Setting.SCHEDULE_GROUP: self.schedules.ref,
            Setting.TARGET_SUBNET_GROUP: self.network.subnet_group.ref,
            Setting.TARGET_SECURITY_GROUP: self.network.target.security_group_id,
            Setting.ZONES: self.to_json_string(
                [
                    {
                        "name": subnet.availability_zone,
                        "subnet_id": subnet.subnet_id,
                        "clients": zone_suffix(zone),
                    }
                    for zone, subnet in enumerate(self.network.subnets)
                ]
            ),
            Setting.CASSANDRA: (
                self.to_json_string(self.cassandra.place) if self.cassandra else "null"
            ),
            Setting.RDS_CA_FILE: "",
            Setting.LOG_LEVEL: config.log_level,
            Setting.KMS_KEY_ARN: self.encryption.key_arn,
            Setting.TARGET_KINDS: _list_kinds(config),
            Setting.ALARM_TOPIC_ARN: self.alarms.topic.topic_arn,
            Setting.EVENT_BUS: self.events.bus.event_bus_name,
            Setting.CHECK_GROUP: self.checks.group.ref,
            Setting.CHECK_ROLE_ARN: self.checks.role.role_arn,
            Setting.START_CHECK_ARN: self.checks.start_arn,
            # The ARN is built by name: machines call functions, so a reference would make a cycle.
            Setting.RUN_MACHINE_ARN: arn(
                self, "states", f"stateMachine:{machine_name(self, 'run')}"
            ),
            Setting.EXPERIMENT_MACHINE_ARN: arn(
                self, "states", f"stateMachine:{machine_name(self, 'experiment')}"
            ),
            Setting.RESULTS_DAYS: str(config.results_days),
            Setting.ON_ONE_MACHINE: "false",
            Setting.CONFIGURATION: self.configuration.name,
            Setting.METRICS_NAMESPACE: self.stack_name,
            Setting.DASHBOARDS: self.to_json_string(
                {
                    "cloudwatch": dashboard_url(self),
                    **({"grafana": config.grafana} if config.grafana else {}),
                }
            ),
            **AWS_TIMINGS.settings,
        }

    def _grants(self, config: DeploymentConfig) -> Grants:
        results = self.storage.results
        secrets = [
            *[self._secrets_of_targets(kind, tag) for kind, tag in _SECRET_TAGS.items()],
            *[Grant(allowed.secret_arn) for allowed in config.allowed_endpoints],
        ]
        return {
            Resource.RUN_FILES: (Grant(results.arn_for_objects("runs/*")),),
            Resource.EXPERIMENT_FILES: (Grant(results.arn_for_objects("experiments/*")),),
            Resource.RUN_LISTING: (
                Grant(results.bucket_arn, conditions={"StringLike": {"s3:prefix": "runs/*"}}),
            ),
            Resource.RUNS_TABLE: (Grant(self.storage.runs.table_arn),),
            Resource.RUNS_BY_TEAM: (
                Grant(f"{self.storage.runs.table_arn}/index/{RUNS_BY_TEAM.name}"),
            ),
            Resource.SERVICE_TABLE: (Grant(self.storage.service.table_arn),),
            Resource.TARGET_STACKS: (
                Grant(
                    arn(self, "cloudformation", STACKS),
                    of_action={"cloudformation:CreateStack": self._only_targets()},
                ),
            ),
            Resource.TARGET_SERVICE_ROLE: (
                _grant_passing(self.targets.service.role_arn, "cloudformation.amazonaws.com"),
            ),
            Resource.DELETION_ROLE: (
                _grant_passing(self.targets.deletion.role_arn, "scheduler.amazonaws.com"),
            ),
            Resource.DELETION_SCHEDULES: (
                Grant(
                    *(
                        arn(self, "scheduler", f"schedule/{self.schedules.ref}/plimsoll-{what}-*")
                        for what in ("run", "dataset")
                    )
                ),
            ),
            Resource.TARGET_SECRETS: tuple(secrets),
            Resource.TARGET_DATABASES: (Grant(arn(self, "rds", "db:plimsoll-*")),),
            Resource.TARGET_PARAMETERS: (Grant(arn(self, "rds", "pg:plimsoll-*")),),
            **snapshot_grants(self),
            Resource.ALARM_TOPIC: (Grant(self.alarms.topic.topic_arn),),
            Resource.EVENT_BUS: (Grant(self.events.bus.event_bus_arn),),
            Resource.CHECK_SCHEDULES: (
                Grant(arn(self, "scheduler", f"schedule/{own_name(self, CHECKS_GROUP)}/*")),
            ),
            Resource.CHECK_ROLE: (
                _grant_passing(self.checks.role.role_arn, "scheduler.amazonaws.com"),
            ),
            Resource.RUN_MACHINE: (
                Grant(arn(self, "states", f"stateMachine:{machine_name(self, 'run')}")),
            ),
            Resource.RUN_EXECUTIONS: (
                Grant(arn(self, "states", f"execution:{machine_name(self, 'run')}:*")),
            ),
            Resource.EXPERIMENT_MACHINE: (
                Grant(arn(self, "states", f"stateMachine:{machine_name(self, 'experiment')}")),
            ),
            Resource.EXPERIMENT_EXECUTIONS: (
                Grant(arn(self, "states", f"execution:{machine_name(self, 'experiment')}:*")),
            ),
            Resource.ANY: (Grant("*"),),
        }

    def _secrets_of_targets(self, kind: str, tag: str) -> Grant:
        """Grant the secrets that RDS made for targets: instances or clusters."""
        of_targets = {"StringLike": {tag: arn(self, "rds", f"{kind}:plimsoll-*")}}
        return Grant(arn(self, "secretsmanager", f"secret:rds!{kind}-*"), conditions=of_targets)

    def _only_targets(self) -> dict[str, Any]:
        """Restrict creating stacks to targets: with their role, from a run's template."""
        bucket = self.storage.results.bucket_regional_domain_name
        return {
            "StringEquals": {"cloudformation:RoleArn": self.targets.service.role_arn},
            "StringLike": {
                "cloudformation:TemplateUrl": f"https://{bucket}/runs/*/target.template.json"
            },
        }

    def _outputs(self, config: DeploymentConfig) -> None:
        values = {
            "ResultsBucket": self.storage.results.bucket_name,
            "RunsTable": self.storage.runs.table_name,
            "ServiceTable": self.storage.service.table_name,
            "RunStateMachine": self.workflow.machines["run"].state_machine_arn,
            "ExperimentStateMachine": self.workflow.machines["experiment"].state_machine_arn,
            "EventBus": self.events.bus.event_bus_name,
            "EventTopic": self.events.topic.topic_arn,
            "AlarmTopic": self.alarms.topic.topic_arn,
            "ResultsDays": str(config.results_days),
            "ApiUrl": self.api.url,
            "TargetZones": ",".join(self.network.zones),
            "Version": plimsoll.__version__,
        }
        for name, value in values.items():
            CfnOutput(self, name, value=value)


_SECRET_TAGS = {  # RDS sets them on its secrets
    "db": "aws:ResourceTag/aws:rds:primaryDBInstanceArn",
    "cluster": "aws:ResourceTag/aws:rds:primaryDBClusterArn",
}


def _list_kinds(config: DeploymentConfig) -> str:
    return json.dumps([kind for kind in get_args(TargetKind) if _can_make(config, kind)])


def _can_make(config: DeploymentConfig, kind: TargetKind) -> bool:
    match kind:
        case "rds" | "aurora" | "endpoint":
            return True
        case "cassandra":
            return config.cassandra is not None
        case _:
            assert_never(kind)


def _grant_passing(role_arn: str, service: str) -> Grant:
    return Grant(role_arn, conditions={"StringEquals": {"iam:PassedToService": service}})
