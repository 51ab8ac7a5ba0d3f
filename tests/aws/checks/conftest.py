"""A deployment with checks, of which every service answers within this process (moto)."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from moto import mock_aws

from plimsoll.aws import clients
from plimsoll.aws.function_settings import Deployment
from tests.support.tables import create_table

REGION: Literal["eu-west-1"] = "eu-west-1"
ACCOUNT = "123456789012"
GROUP = "plimsoll-checks"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:example"
MACHINE = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}


@pytest.fixture(scope="module")
def aws() -> Iterator[Any]:
    """AWS within this process; its clients take long to make, and are kept for the module."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", REGION)
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        clients.through(None)
        mock = mock_aws()
        mock.start()
        yield mock
        mock.stop()
        clients.through(None)


@pytest.fixture
def deployment(aws: Any) -> Deployment:
    aws.reset()
    clients.s3().create_bucket(
        Bucket="results", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    create_table("runs", "run_id")
    create_table("service", "pk", "sk")
    clients.scheduler().create_schedule_group(Name=GROUP)
    clients.events().create_event_bus(Name="plimsoll")
    topic = clients.sns().create_topic(Name="alarms")["TopicArn"]
    machine = clients.stepfunctions().create_state_machine(
        name="plimsoll-run",
        definition=json.dumps(MACHINE),
        roleArn=f"arn:aws:iam::{ACCOUNT}:role/workflow",
    )
    return Deployment(
        results_bucket="results",
        runs_table="runs",
        service_table="service",
        run_machine_arn=machine["stateMachineArn"],
        alarm_topic_arn=topic,
        event_bus="plimsoll",
        check_group=GROUP,
        check_role_arn=f"arn:aws:iam::{ACCOUNT}:role/checks",
        start_check_arn=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:start-check",
        allowed_endpoints=json.dumps({"db.example:3306": SECRET}),
    )


def schedules() -> dict[str, dict[str, Any]]:
    client = clients.scheduler()
    listed = client.list_schedules(GroupName=GROUP)["Schedules"]
    return {
        one["Name"]: dict(client.get_schedule(GroupName=GROUP, Name=one["Name"])) for one in listed
    }


def executions(deployment: Deployment) -> list[str]:
    client = clients.stepfunctions()
    arn = deployment.run_machine_arn or ""
    listed = client.list_executions(stateMachineArn=arn)["executions"]
    return sorted(one["name"] for one in listed)


@pytest.fixture
def outbox(aws: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is published to SNS."""
    assert aws is not None
    client = clients.sns()
    published: list[dict[str, Any]] = []
    real = client.publish

    def publish(**members: Any) -> Any:
        published.append(members)
        return real(**members)

    monkeypatch.setattr(client, "publish", publish)
    return published


@pytest.fixture
def bus(aws: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is put on the bus."""
    assert aws is not None
    client = clients.events()
    told: list[dict[str, Any]] = []
    real = client.put_events

    def put_events(**members: Any) -> Any:
        told.extend(members["Entries"])
        return real(**members)

    monkeypatch.setattr(client, "put_events", put_events)
    return told
