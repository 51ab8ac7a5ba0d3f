"""The janitor's sweep: what it deletes, and that no target keeps it from the others."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.errors import PlimsollError
from plimsoll.targets import janitor
from plimsoll.targets.snapshots import EXPIRES_AT

pytestmark = pytest.mark.usefixtures("account")
PASSED, NEVER = "2026-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"
AT = datetime(2026, 1, 1, 0, 15, tzinfo=UTC)


BUS = "plimsoll"


@pytest.fixture(autouse=True)
def bus(account: None) -> None:
    del account
    clients.events().create_event_bus(Name=BUS)


@pytest.fixture
def topic() -> str:
    return clients.sns().create_topic(Name="alarms")["TopicArn"]


def stack(name: str, expires_at: str | None) -> None:
    clients.cloudformation().create_stack(
        StackName=name,
        TemplateBody=json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}),
        Tags=[] if expires_at is None else [{"Key": EXPIRES_AT, "Value": expires_at}],
    )


def left() -> set[str]:
    pages = boto3.client("cloudformation").get_paginator("describe_stacks").paginate()
    return {one["StackName"] for page in pages for one in page["Stacks"]}


def test_targets_go_when_their_time_has_passed_and_nothing_else_does(topic: str) -> None:
    for name, tag in {
        "plimsoll-run-over": PASSED,
        "plimsoll-run-over-too": "2026-01-01T00:15:00",  # without a zone: UTC
        "plimsoll-run-goes-on": NEVER,
        "plimsoll-run-of-nobody": None,
        "another": PASSED,
    }.items():
        stack(name, tag)
    assert set(janitor.sweep_stacks(topic, BUS, at=AT)) == {
        "plimsoll-run-over",
        "plimsoll-run-over-too",
    }
    assert left() == {"plimsoll-run-goes-on", "plimsoll-run-of-nobody", "another"}


def test_a_tag_that_cannot_be_read_keeps_no_other_target_and_its_own_for_a_day(
    topic: str,
) -> None:
    """The longest that a run's time limit may be."""
    stack("plimsoll-run-a", "soon")
    stack("plimsoll-run-b", PASSED)
    now = datetime.now(UTC)
    assert janitor.sweep_stacks(topic, BUS, at=now) == ["plimsoll-run-b"]
    assert janitor.sweep_stacks(topic, BUS, at=now + timedelta(hours=23)) == []
    assert janitor.sweep_stacks(topic, BUS, at=now + timedelta(hours=25)) == ["plimsoll-run-a"]


def test_a_target_that_cannot_be_deleted_keeps_no_other_and_is_told(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("plimsoll-run-a", "plimsoll-run-b", "plimsoll-run-c"):
        stack(name, PASSED)
    client: Any = clients.cloudformation()
    delete = client.delete_stack

    def protected(**asked: Any) -> Any:
        if "/plimsoll-run-b/" in asked["StackName"]:
            error: Any = {"Code": "ValidationError", "Message": "TerminationProtection is enabled"}
            raise ClientError({"Error": error}, "DeleteStack")
        return delete(**asked)

    monkeypatch.setattr(client, "delete_stack", protected)
    monkeypatch.setattr(clients, "cloudformation", lambda: client)
    with pytest.raises(PlimsollError, match=r"^plimsoll-run-b: .*TerminationProtection"):
        janitor.sweep_stacks(topic, BUS, at=AT)
    assert left() == {"plimsoll-run-b"}


def test_a_message_that_cannot_be_sent_keeps_no_target_and_is_told() -> None:
    for name in ("plimsoll-run-a", "plimsoll-run-b"):
        stack(name, PASSED)
    with pytest.raises(PlimsollError, match=r"plimsoll-run-a: .*; plimsoll-run-b: "):
        janitor.sweep_stacks("arn:aws:sns:eu-west-1:123456789012:gone", BUS, at=AT)
    assert left() == set()
