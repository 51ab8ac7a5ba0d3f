"""Storage for results: records in DynamoDB, files in S3."""

from aws_cdk import Acknowledgment, CfnResource, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from plimsoll.model.deployment.deployment import DEFAULT_NAME, DeploymentConfig
from plimsoll.model.deployment.tables import RUNS, SERVICE, TABLES, Attribute, Key, Table
from stacks.names import own_name

_EMPTIES_BUCKET = "Custom::S3AutoDeleteObjectsCustomResourceProvider"  # the CDK's own construct


class StoragePart(Construct):
    """The runs table, the service's table and the results bucket."""

    def __init__(self, scope: Construct, config: DeploymentConfig) -> None:
        super().__init__(scope, "Storage")
        keep = config.keep_results
        removal = RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY
        self.tables = {table.setting: self._table(table, removal) for table in TABLES}
        self.runs = self.tables[RUNS.setting]
        self.service = self.tables[SERVICE.setting]
        self.results = s3.Bucket(
            self,
            "Results",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(
                    prefix=prefix,
                    expiration=Duration.days(config.results_days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
                for prefix in ("runs/", "experiments/")
            ],
            removal_policy=removal,
            auto_delete_objects=not keep,
        )
        Validations.of(self.results).acknowledge(
            Acknowledgment(
                id="AwsSolutions-S1",
                reason="its writers are this deployment's own functions; an access log would need"
                " a second bucket and show what CloudTrail can show too",
            )
        )

    def log_emptying(self) -> None:
        """Create the log group of the CDK's function that empties the bucket.

        The one that Lambda would create for it would have no key, and stay after `cdk destroy`.
        """
        helper = Stack.of(self).node.try_find_child(_EMPTIES_BUCKET)
        if helper is None:  # the bucket is kept
            return
        function = helper.node.find_child("Handler")
        assert isinstance(function, CfnResource)  # noqa: S101 - what the CDK makes
        log_group = logs.LogGroup(
            self,
            "EmptyingLogs",
            log_group_name=f"/{own_name(self, DEFAULT_NAME)}/empty-bucket",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        function.add_property_override("LoggingConfig", {"LogGroup": log_group.log_group_name})

    def allow_failures_from(self, machine: iam.IRole) -> None:
        """Let a state machine write why items of its Maps failed."""
        machine.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["s3:PutObject"],
                resources=[self.results.arn_for_objects("runs/*/failures/*")],
            )
        )

    def _table(self, table: Table, removal: RemovalPolicy) -> dynamodb.Table:
        partition_key, sort_key = _keys(table.key)
        made = dynamodb.Table(
            self,
            table.name.capitalize(),
            partition_key=partition_key,
            sort_key=sort_key,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            time_to_live_attribute=table.time_to_live,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=removal,
        )
        for index in table.indexes:
            partition_key, sort_key = _keys(index.key)
            made.add_global_secondary_index(
                index_name=index.name, partition_key=partition_key, sort_key=sort_key
            )
        return made


def _keys(key: Key) -> tuple[dynamodb.Attribute, dynamodb.Attribute | None]:
    return _attribute(key.partition), _attribute(key.sort) if key.sort else None


def _attribute(attribute: Attribute) -> dynamodb.Attribute:
    types = {
        "S": dynamodb.AttributeType.STRING,
        "N": dynamodb.AttributeType.NUMBER,
        "B": dynamodb.AttributeType.BINARY,
    }
    return dynamodb.Attribute(name=attribute.name, type=types[attribute.type])
