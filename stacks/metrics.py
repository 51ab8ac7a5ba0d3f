"""The metric store that the configuration asks for: Timestream or CloudWatch."""

from collections.abc import Mapping, Sequence

from aws_cdk import Acknowledgment, RemovalPolicy, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_timestream as timestream
from constructs import Construct

from plimsoll.metrics.publishing import (
    CloudWatchVariables,
    InfluxDbVariables,
    LiveAnalyticsVariables,
)
from plimsoll.model.deployment.deployment import (
    DEFAULT_NAME,
    CloudWatchMetrics,
    InfluxDbMetrics,
    LiveAnalyticsMetrics,
    Metrics,
)
from plimsoll.model.settings import Variables
from stacks.names import own_name
from stacks.network import NetworkPart
from stacks.permissions import arn

ORGANIZATION = "plimsoll"
BUCKET = "runs"
TABLE = "seconds"
PORT = 8086
# The functions that can reach the store. InfluxDB is in the VPC: the functions there send what they
# measure, and `publish-target` what was read outside. LiveAnalytics can only be reached from
# outside: `conclude` sends the whole run from its files. CloudWatch reads what any function prints.
WRITERS = {
    "cloudwatch": ("judge-step", "publish-target"),
    "influxdb": ("load-client", "judge-step", "publish-target"),
    "liveanalytics": ("conclude",),
}


class MetricsPart(Construct):
    """The metric store; empty if the kind is `none`."""

    def __init__(self, scope: Construct, *, metrics: Metrics, network: NetworkPart) -> None:
        super().__init__(scope, "Metrics")
        self._kind = metrics.kind
        self._variables = Variables()
        self._statements: list[iam.PolicyStatement] = []
        if isinstance(metrics, InfluxDbMetrics):
            self._influxdb(metrics, network)
        elif isinstance(metrics, LiveAnalyticsMetrics):
            self._liveanalytics(metrics)
        elif isinstance(metrics, CloudWatchMetrics):
            self._variables = CloudWatchVariables(metrics_namespace=Stack.of(self).stack_name)

    def connect(
        self,
        functions: Mapping[str, lambda_.Function],
        in_other_zones: Mapping[str, Sequence[lambda_.Function]],
    ) -> None:
        """Give the functions that write metrics the store's address, and permission to write."""
        names = WRITERS.get(self._kind, ())
        writers = [f for name in names for f in (functions[name], *in_other_zones.get(name, ()))]
        for function in writers:
            function.add_environment("METRICS_SINK", self._kind)
            for variable, value in self._variables.model_dump().items():
                function.add_environment(variable.upper(), value)
            for statement in self._statements:
                function.add_to_role_policy(statement)

    def _influxdb(self, metrics: InfluxDbMetrics, network: NetworkPart) -> None:
        group = ec2.SecurityGroup(
            self, "Group", vpc=network.vpc, description="InfluxDB", allow_all_outbound=False
        )
        group.add_ingress_rule(network.fleet, ec2.Port.tcp(PORT), "the fleet")
        network.fleet.add_egress_rule(group, ec2.Port.tcp(PORT), "InfluxDB")
        password = secretsmanager.Secret(
            self,
            "Password",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, password_length=48
            ),
            removal_policy=RemovalPolicy.DESTROY,
        )
        Validations.of(password).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SMG4",
                reason="InfluxDB takes its first password when it is made and offers no rotation",
            )
        )
        instance = timestream.CfnInfluxDBInstance(
            self,
            "InfluxDb",
            name=own_name(self, DEFAULT_NAME),
            db_instance_type=metrics.instance_type,
            allocated_storage=metrics.size_gib,
            organization=ORGANIZATION,
            bucket=BUCKET,
            username="plimsoll",
            password=password.secret_value.unsafe_unwrap(),  # resolved by CloudFormation only
            publicly_accessible=False,
            vpc_subnet_ids=[network.fleet_subnet.subnet_id],
            vpc_security_group_ids=[group.security_group_id],
        )
        secret_arn = instance.attr_influx_auth_parameters_secret_arn
        self._variables = InfluxDbVariables(
            metrics_url=f"https://{instance.attr_endpoint}:{PORT}",
            metrics_org=ORGANIZATION,
            metrics_bucket=BUCKET,
            metrics_secret_arn=secret_arn,
        )
        self._statements = [
            iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[secret_arn])
        ]

    def _liveanalytics(self, metrics: LiveAnalyticsMetrics) -> None:
        database = timestream.CfnDatabase(
            self, "Database", database_name=own_name(self, DEFAULT_NAME)
        )
        table = timestream.CfnTable(
            self,
            "Table",
            database_name=database.ref,
            table_name=TABLE,
            retention_properties={
                "MemoryStoreRetentionPeriodInHours": str(metrics.memory_hours),
                "MagneticStoreRetentionPeriodInDays": str(metrics.magnetic_days),
            },
        )
        for resource in (database, table):
            resource.apply_removal_policy(RemovalPolicy.DESTROY)
            Validations.of(resource).acknowledge(
                Acknowledgment(
                    id="CloudFormation-Validate::W3697",
                    reason="for accounts that have it from before 2025-06-20, and ask for it",
                ),
                Acknowledgment(
                    id="AwsSolutions-TS3",
                    reason="AWS's own key encrypts it; a key of our own costs by the month",
                ),
            )
        stack = Stack.of(self)
        self._variables = LiveAnalyticsVariables(metrics_bucket=database.ref, metrics_table=TABLE)
        self._statements = [
            iam.PolicyStatement(
                actions=["timestream:WriteRecords"],
                resources=[arn(stack, "timestream", f"database/{database.ref}/table/{TABLE}")],
            ),
            # The SDK asks first where to write; that call has no resource.
            iam.PolicyStatement(actions=["timestream:DescribeEndpoints"], resources=["*"]),
        ]
