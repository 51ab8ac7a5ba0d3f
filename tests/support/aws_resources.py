"""AWS within this process (moto), and what a deployment has there: the one place that makes it."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from plimsoll.aws import clients
from plimsoll.model.deployment.tables import RUNS, SERVICE, TABLES
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


# Made in the first account, whose credentials they keep. One client takes up to 0.3 s to make; moto
# answers through a hook in each, for whichever account stands at the time.
_session: list[boto3.session.Session] = []
_kept: dict[tuple[str, str, str, str], Any] = {}


def keep_client(
    service: str, region_name: str | None = None, config: Config | None = None, **others: Any
) -> Any:
    """Give what `boto3.client` would, made once in this process.

    A test that changes a client (`monkeypatch`, `meta.events`) changes it back: others share it.
    """
    region = region_name or os.environ["AWS_DEFAULT_REGION"]
    options = getattr(config, "_user_provided_options", {})
    key = (service, region, repr(sorted(options.items())), repr(sorted(others.items())))
    if key not in _kept:
        if not _session:
            _session.append(boto3.session.Session())
        make: Any = _session[0].client  # its types know a service's name only as a literal
        _kept[key] = make(service, region_name=region, config=config, **others)
    return _kept[key]


@contextmanager
def aws_account(*, region: str = REGION, outside: Sequence[str] = ()) -> Iterator["MockAWS"]:
    """Have AWS answer within this process, from an empty account, with credentials of its own.

    `boto3.client` gives one client for each service, region and configuration: see `keep_client`.

    Args:
        region: Where the clients look.
        outside: Patterns of the URLs that are asked for real.
    """
    config: DefaultConfig = {"core": {"passthrough": {"urls": list(outside), "services": []}}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", region)
        patch.setattr(boto3, "client", keep_client)
        # No test looks at Amazon's images. moto makes 1,300 of them, and their snapshots, for each
        # account that asks EC2 or RDS for anything.
        patch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
        # moto answers botocore itself; these patterns, 1,300 an account, are for the `requests`
        # library, which nothing here uses
        patch.setattr("moto.core.models.RESPONSES_METHODS", [])
        with mock_aws(config=config) as mock, recorded_answers():
            clients.use_factory(None)
            yield mock
    clients.use_factory(None)


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
