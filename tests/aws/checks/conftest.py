"""A deployment with checks, of which every service answers within this process (moto)."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from moto import mock_aws

from plimsoll.aws import clients
from plimsoll.model.settings import Setting
from tests.support.every_setting import NO_LIMITS, EverySetting, settings_on_aws
from tests.support.tables import create_tables

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
def deployment(aws: Any) -> EverySetting:
    aws.reset()
    clients.s3().create_bucket(
        Bucket="results", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    create_tables()
    clients.scheduler().create_schedule_group(Name=GROUP)
    clients.events().create_event_bus(Name="plimsoll")
    topic = clients.sns().create_topic(Name="alarms")["TopicArn"]
    machine = clients.stepfunctions().create_state_machine(
        name="plimsoll-run",
        definition=json.dumps(MACHINE),
        roleArn=f"arn:aws:iam::{ACCOUNT}:role/workflow",
    )
    return settings_on_aws(
        {
            Setting.RUN_MACHINE_ARN: machine["stateMachineArn"],
            Setting.ALARM_TOPIC_ARN: topic,
            Setting.CHECK_GROUP: GROUP,
            Setting.CHECK_ROLE_ARN: f"arn:aws:iam::{ACCOUNT}:role/checks",
            Setting.START_CHECK_ARN: f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:start-check",
            Setting.ALLOWED_ENDPOINTS: json.dumps({"db.example:3306": SECRET}),
            Setting.TEAMS: json.dumps(dict.fromkeys(("payments", "orders"), NO_LIMITS)),
        }
    )


def schedules() -> dict[str, dict[str, Any]]:
    client = clients.scheduler()
    listed = client.list_schedules(GroupName=GROUP)["Schedules"]
    return {
        one["Name"]: dict(client.get_schedule(GroupName=GROUP, Name=one["Name"])) for one in listed
    }


def executions(deployment: EverySetting) -> list[str]:
    client = clients.stepfunctions()
    arn = deployment.run_machine_arn
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
