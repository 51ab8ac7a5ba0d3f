"""The customer's key, which encrypts whatever the deployment keeps, if it is configured."""

from collections.abc import Iterable
from typing import Any

from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from plimsoll.model.deployment.deployment import NEW_KEY, DeploymentConfig
from stacks.permissions import arn

USES = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
# Services that publish to an encrypted topic or queue in their own name
PUBLISHERS = ("budgets", "cloudwatch", "events")


class EncryptionPart(Construct):
    """A key of the customer: an existing one, or one that this deployment creates.

    Attributes:
        key_arn: ARN of the key; "" if AWS's own keys are used.
    """

    def __init__(self, scope: Construct, config: DeploymentConfig) -> None:
        super().__init__(scope, "Encryption")
        self.key_arn = ""
        if config.kms_key_arn == NEW_KEY:
            self.key_arn = self._create(keep=config.keep_results).key_arn
        elif config.kms_key_arn is not None:
            self.key_arn = config.kms_key_arn

    def encrypt(self, roles: Iterable[iam.IRole]) -> None:
        """Encrypt every resource of the stack that exists by now; let roles use the key."""
        if not self.key_arn:
            return
        for construct in Stack.of(self).node.find_all():
            if isinstance(construct, CfnResource):
                for name, value in self._properties(construct).items():
                    construct.add_property_override(name, value)
        for role in roles:
            role.add_to_principal_policy(
                iam.PolicyStatement(actions=list(USES), resources=[self.key_arn])
            )

    def allow_grants(self, role: iam.IRole) -> None:
        """Let a role create resources that RDS and EC2 encrypt with the key."""
        if self.key_arn:
            role.add_to_principal_policy(
                iam.PolicyStatement(
                    actions=["kms:CreateGrant"],
                    resources=[self.key_arn],
                    conditions={"Bool": {"kms:GrantIsForAWSResource": "true"}},
                )
            )

    def _properties(self, resource: CfnResource) -> dict[str, Any]:
        """Return the properties that encrypt a resource; none if its type keeps nothing."""
        key = self.key_arn
        match resource.cfn_resource_type:
            case "AWS::Lambda::Function" if isinstance(resource, lambda_.CfnFunction):
                return {"KmsKeyArn": key}
            case (
                "AWS::Logs::LogGroup" | "AWS::SecretsManager::Secret" | "AWS::Timestream::Database"
            ):
                return {"KmsKeyId": key}
            case "AWS::SNS::Topic":
                return {"KmsMasterKeyId": key}
            case "AWS::SQS::Queue":
                return {"KmsMasterKeyId": key, "SqsManagedSseEnabled": False}
            case "AWS::DynamoDB::Table":
                by_key = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
                return {"SSESpecification": by_key}
            case "AWS::S3::Bucket":
                by_default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
                rule = {"ServerSideEncryptionByDefault": by_default, "BucketKeyEnabled": True}
                return {"BucketEncryption.ServerSideEncryptionConfiguration": [rule]}
        return {}

    def _create(self, *, keep: bool) -> kms.Key:
        stack = Stack.of(self)
        key = kms.Key(
            self,
            "Key",
            description=f"Plimsoll: what the deployment {stack.stack_name} keeps",
            enable_key_rotation=True,
            # results that are kept could not be read without it
            removal_policy=RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY,
        )
        # docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(f"logs.{stack.region}.{stack.url_suffix}")],
                actions=list(USES),
                resources=["*"],
                conditions={
                    "ArnLike": {
                        "kms:EncryptionContext:aws:logs:arn": arn(stack, "logs", "log-group:*")
                    }
                },
            )
        )
        # docs.aws.amazon.com/sns/latest/dg/sns-key-management.html. Not every service tells KMS for
        # whom it publishes, so the account stands in the policies of the topics alone.
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(f"{name}.amazonaws.com") for name in PUBLISHERS],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],
            )
        )
        return key
