"""AWS within this process (moto), and what a deployment has there: the one place that makes it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest
from moto import mock_aws

from plimsoll.aws import clients
from plimsoll.model.tables import RUNS, SERVICE, TABLES
from tests.support.recorded_aws import recorded_answers

if TYPE_CHECKING:
    from moto.core.config import DefaultConfig
    from moto.core.models import MockAWS

REGION: Literal["eu-west-1"] = "eu-west-1"
ACCOUNT = "123456789012"
BUCKET, RUNS_TABLE, SERVICE_TABLE = "results", RUNS.name, SERVICE.name


def role_arn(name: str) -> str:
    """Give a role's ARN."""
    return f"arn:aws:iam::{ACCOUNT}:role/{name}"


@contextmanager
def aws_account(*, region: str = REGION, outside: Sequence[str] = ()) -> Iterator["MockAWS"]:
    """Have AWS answer within this process, from an empty account, with credentials of its own.

    Args:
        region: Where the clients look.
        outside: Patterns of the URLs that are asked for real.
    """
    config: DefaultConfig = {"core": {"passthrough": {"urls": list(outside), "services": []}}}
    with (
        pytest.MonkeyPatch.context() as environment,
        mock_aws(config=config) as mock,
        recorded_answers(),
    ):
        environment.setenv("AWS_DEFAULT_REGION", region)
        clients.through(None)
        yield mock
    clients.through(None)


def make_bucket() -> None:
    """Make the results bucket in the clients' region."""
    client = clients.s3()
    where: Any = {"LocationConstraint": client.meta.region_name}
    if client.meta.region_name == "us-east-1":  # which S3 takes for granted, and refuses by name
        client.create_bucket(Bucket=BUCKET)
    else:
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=where)


def make_tables() -> None:
    """Make every table of a deployment, empty."""
    for table in TABLES:
        clients.dynamodb().create_table(**table.creation(table.name))


def make_state_machine(name: str) -> str:
    """Make a state machine whose executions do nothing; gives its ARN."""
    definition = {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}
    return clients.stepfunctions().create_state_machine(
        name=name, definition=json.dumps(definition), roleArn=role_arn("states")
    )["stateMachineArn"]
