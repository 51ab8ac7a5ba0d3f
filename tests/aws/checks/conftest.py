"""A deployment with checks, of which every service answers within this process (moto)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.model.settings import Setting
from tests.support.aws_resources import (
    ACCOUNT,
    REGION,
    aws_account,
    make_bucket,
    make_state_machine,
    make_tables,
    role_arn,
)
from tests.support.every_setting import NO_LIMITS, EverySetting, settings_on_aws

GROUP = "plimsoll-checks"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:example"


@pytest.fixture(scope="module")
def aws() -> Iterator[Any]:
    """AWS within this process; its clients take long to make, and are kept for the module."""
    with aws_account() as mock:
        yield mock


@pytest.fixture
def deployment(aws: Any) -> EverySetting:
    aws.reset()
    make_bucket()
    make_tables()
    clients.scheduler().create_schedule_group(Name=GROUP)
    clients.events().create_event_bus(Name="plimsoll")
    topic = clients.sns().create_topic(Name="alarms")["TopicArn"]
    return settings_on_aws(
        {
            Setting.RUN_MACHINE_ARN: make_state_machine("plimsoll-run"),
            Setting.ALARM_TOPIC_ARN: topic,
            Setting.CHECK_GROUP: GROUP,
            Setting.CHECK_ROLE_ARN: role_arn("checks"),
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
    published: list[dict[str, Any]] = []
    _overhear(monkeypatch, clients.sns(), "publish", published.append)
    return published


@pytest.fixture
def bus(aws: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is put on the bus."""
    assert aws is not None
    put: list[dict[str, Any]] = []
    _overhear(monkeypatch, clients.events(), "put_events", lambda call: put.extend(call["Entries"]))
    return put


def _overhear(
    monkeypatch: pytest.MonkeyPatch, client: Any, name: str, hear: Callable[[dict[str, Any]], None]
) -> None:
    """Show each call of a client's method to the test before it is made."""
    method = getattr(client, name)

    def shown(**members: Any) -> Any:
        hear(members)
        return method(**members)

    monkeypatch.setattr(client, name, shown)
