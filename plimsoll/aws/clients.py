"""The clients of AWS services that functions call, each created when first needed.

Every call that is safe to repeat is retried (botocore's standard mode). Time-outs are short enough
for a function to end with its own error.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_iam import IAMClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_rds import RDSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_service_quotas import ServiceQuotasClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_stepfunctions import SFNClient

ClientFactory = Callable[[str], Any]

_CONFIG = Config(
    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 5}
)
# The function that sends an event has seconds for its own work, so an event is not waited for.
_HASTY = Config(
    connect_timeout=2, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2}
)
# Newer regions and the local twin refuse links with the old signature (SigV2). Several threads read
# thousands of files, each with its own connection.
S3_CONNECTIONS = 16
_S3 = _CONFIG.merge(Config(signature_version="s3v4", max_pool_connections=S3_CONNECTIONS))
_CONFIGS = {"events": _HASTY, "s3": _S3}
_clients: dict[str, Any] = {}


def _make_client(name: str) -> Any:
    config = _CONFIGS.get(name, _CONFIG)
    make: ClientFactory = lambda service: boto3.client(service, config=config)  # type: ignore[call-overload]  # noqa: E731 - its types know a service's name only as a literal
    return make(name)


_factory: list[ClientFactory] = [_make_client]


def use_factory(factory: ClientFactory | None) -> None:
    """Take every client from a factory from now on; None for clients from the environment.

    Clients of the previous factory stay open, since other threads may be using them.
    """
    if factory is not None and _factory[0] == factory:
        return
    _factory[0] = factory or _make_client
    _clients.clear()


def _get_client(name: str) -> Any:
    if name not in _clients:
        _clients[name] = _factory[0](name)
    return _clients[name]


def cloudformation() -> "CloudFormationClient":
    """Return the client of AWS CloudFormation."""
    client: CloudFormationClient = _get_client("cloudformation")
    return client


def cloudwatch() -> "CloudWatchClient":
    """Return the client of Amazon CloudWatch."""
    client: CloudWatchClient = _get_client("cloudwatch")
    return client


def dynamodb() -> "DynamoDBClient":
    """Return the client of Amazon DynamoDB."""
    client: DynamoDBClient = _get_client("dynamodb")
    return client


def ec2() -> "EC2Client":
    """Return the client of Amazon EC2."""
    client: EC2Client = _get_client("ec2")
    return client


def events() -> "EventBridgeClient":
    """Return the client of Amazon EventBridge."""
    client: EventBridgeClient = _get_client("events")
    return client


def iam() -> "IAMClient":
    """Return the client of AWS IAM."""
    client: IAMClient = _get_client("iam")
    return client


def lambda_() -> "LambdaClient":
    """Return the client of AWS Lambda."""
    client: LambdaClient = _get_client("lambda")
    return client


def rds() -> "RDSClient":
    """Return the client of Amazon RDS."""
    client: RDSClient = _get_client("rds")
    return client


def s3() -> "S3Client":
    """Return the client of Amazon S3."""
    client: S3Client = _get_client("s3")
    return client


def scheduler() -> "EventBridgeSchedulerClient":
    """Return the client of EventBridge Scheduler."""
    client: EventBridgeSchedulerClient = _get_client("scheduler")
    return client


def secretsmanager() -> "SecretsManagerClient":
    """Return the client of AWS Secrets Manager."""
    client: SecretsManagerClient = _get_client("secretsmanager")
    return client


def service_quotas() -> "ServiceQuotasClient":
    """Return the client of Service Quotas."""
    client: ServiceQuotasClient = _get_client("service-quotas")
    return client


def sns() -> "SNSClient":
    """Return the client of Amazon SNS."""
    client: SNSClient = _get_client("sns")
    return client


def stepfunctions() -> "SFNClient":
    """Return the client of AWS Step Functions."""
    client: SFNClient = _get_client("stepfunctions")
    return client


def apigateway() -> Any:
    """Return the client of Amazon API Gateway."""
    return _get_client("apigateway")


def logs() -> Any:
    """Return the client of Amazon CloudWatch Logs."""
    return _get_client("logs")


def sts() -> Any:
    """Return the client of AWS Security Token Service."""
    return _get_client("sts")


def tagging() -> Any:
    """Return the client of the Resource Groups Tagging API."""
    return _get_client("resourcegroupstaggingapi")
