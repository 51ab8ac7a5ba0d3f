"""The AWS services that functions call: one client each, made when first needed.

Every call that can be repeated safely is (botocore's standard mode); time-outs are short enough
for a function to end with a reason of its own.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_stepfunctions import SFNClient

_CONFIG = Config(
    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 5}
)


@cache
def _client(name: str) -> Any:
    return boto3.client(name, config=_CONFIG)  # type: ignore[call-overload]  # a name from below


def cloudformation() -> "CloudFormationClient":
    """The client of AWS CloudFormation."""
    client: CloudFormationClient = _client("cloudformation")
    return client


def cloudwatch() -> "CloudWatchClient":
    """The client of Amazon CloudWatch."""
    client: CloudWatchClient = _client("cloudwatch")
    return client


def dynamodb() -> "DynamoDBClient":
    """The client of Amazon DynamoDB."""
    client: DynamoDBClient = _client("dynamodb")
    return client


def s3() -> "S3Client":
    """The client of Amazon S3."""
    client: S3Client = _client("s3")
    return client


def scheduler() -> "EventBridgeSchedulerClient":
    """The client of EventBridge Scheduler."""
    client: EventBridgeSchedulerClient = _client("scheduler")
    return client


def secretsmanager() -> "SecretsManagerClient":
    """The client of AWS Secrets Manager."""
    client: SecretsManagerClient = _client("secretsmanager")
    return client


def sns() -> "SNSClient":
    """The client of Amazon SNS."""
    client: SNSClient = _client("sns")
    return client


def stepfunctions() -> "SFNClient":
    """The client of AWS Step Functions."""
    client: SFNClient = _client("stepfunctions")
    return client


def forget() -> None:
    """Drop every client, so that the next ones see another endpoint or other credentials."""
    _client.cache_clear()
