"""What a run leaves: its record in DynamoDB, its files in S3."""

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from plimsoll.model.deployment import Deployment
from plimsoll.model.run_record import RUNS_BY_TEAM


class StoragePart(Construct):
    """The runs table, the service's table and the results bucket."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        super().__init__(scope, "Storage")
        keep = deployment.keep_results
        removal = RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY
        self.runs = dynamodb.Table(
            self,
            "Runs",
            partition_key=_text("run_id"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            time_to_live_attribute="forget_at_epoch_s",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=removal,
        )
        self.runs.add_global_secondary_index(
            index_name=RUNS_BY_TEAM, partition_key=_text("team"), sort_key=_text("submitted_at")
        )
        self.service = dynamodb.Table(
            self,
            "Service",
            partition_key=_text("pk"),
            sort_key=_text("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            time_to_live_attribute="forget_at_epoch_s",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=removal,
        )
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
                    expiration=Duration.days(deployment.results_days),
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
                " a second bucket and tell what CloudTrail can",
            )
        )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
