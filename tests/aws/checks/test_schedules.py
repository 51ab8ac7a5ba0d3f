"""A check's definition and its schedule: made, replaced, read, deleted; wrong ones never made."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.checks.runs import start_check
from plimsoll.checks.schedules import (
    delete_check,
    list_checks,
    put_check,
    read_check,
    read_check_history,
)
from plimsoll.checks.store import CheckStore
from plimsoll.errors import CheckNotFoundError, UsageError
from tests.aws.checks.conftest import schedules
from tests.support.every_setting import EverySetting
from tests.unit.checks.histories import REQUEST, check

ENDPOINT = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "other.example",
    "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db",
}


def test_a_check_has_a_schedule_bound_to_its_team(deployment: EverySetting) -> None:
    made = check(
        schedule="cron(30 2 ? * MON-FRI *)", time_zone="Europe/Berlin", flexible_minutes=15
    )
    assert put_check(deployment, "payments", made) is True
    [(name, schedule)] = schedules().items()
    assert name == "payments.nightly"
    assert schedule["ScheduleExpression"] == "cron(30 2 ? * MON-FRI *)"
    assert schedule["ScheduleExpressionTimezone"] == "Europe/Berlin"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}
    assert schedule["State"] == "ENABLED"
    assert schedule["Target"]["Arn"] == deployment.start_check_arn
    assert json.loads(schedule["Target"]["Input"]) == {
        "team": "payments",
        "name": "nightly",
        "scheduled_at": "<aws.scheduler.scheduled-time>",
    }


def test_a_check_put_again_replaces_itself_and_its_schedule(deployment: EverySetting) -> None:
    put_check(deployment, "payments", check())
    changed = check(schedule="rate(2 days)", enabled=False)
    assert put_check(deployment, "payments", changed) is False
    [schedule] = schedules().values()
    assert (schedule["ScheduleExpression"], schedule["State"]) == ("rate(2 days)", "DISABLED")
    assert read_check(deployment, "payments", "nightly").schedule == "rate(2 days)"


def refuse(code: str, message: str) -> Any:
    """Return a method of a client that AWS answers with an error."""

    def call(**_: Any) -> Any:
        raised = getattr(clients.scheduler().exceptions, code)
        raise raised({"Error": {"Code": code, "Message": message}}, "CreateSchedule")

    return call


def test_a_check_whose_schedule_is_refused_is_not_made(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = refuse("ValidationException", "Invalid Schedule Expression")
    monkeypatch.setattr(clients.scheduler(), "create_schedule", refused)
    with pytest.raises(UsageError, match="schedule: EventBridge Scheduler refuses it: Invalid"):
        put_check(deployment, "payments", check())
    assert list_checks(deployment, "payments").schedules == ()
    full = refuse("ServiceQuotaExceededException", "too many")
    monkeypatch.setattr(clients.scheduler(), "create_schedule", full)
    with pytest.raises(clients.scheduler().exceptions.ServiceQuotaExceededException):
        put_check(deployment, "payments", check())
    assert list_checks(deployment, "payments").schedules == ()
    assert schedules() == {}


def test_a_check_whose_new_schedule_is_refused_stays_as_it_was(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_check(deployment, "payments", check())
    before = read_check(deployment, "payments", "nightly")
    refused = refuse("ThrottlingException", "slower")
    monkeypatch.setattr(clients.scheduler(), "update_schedule", refused)
    with pytest.raises(clients.scheduler().exceptions.ThrottlingException):
        put_check(deployment, "payments", check(description="changed"))
    assert read_check(deployment, "payments", "nightly").description == before.description


def test_what_another_caller_wrote_meanwhile_is_not_taken_back(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_and_fail(**call: Any) -> Any:
        assert deployment.service_table is not None
        CheckStore(deployment.service_table).put_check("payments", check(description="theirs"))
        return refuse("ThrottlingException", "slower")(**call)

    monkeypatch.setattr(clients.scheduler(), "create_schedule", write_and_fail)
    with pytest.raises(clients.scheduler().exceptions.ThrottlingException):
        put_check(deployment, "payments", check(description="ours"))
    assert read_check(deployment, "payments", "nightly").description == "theirs"


def test_two_teams_have_checks_of_one_name_and_see_their_own(deployment: EverySetting) -> None:
    put_check(deployment, "payments", check(description="theirs"))
    put_check(deployment, "orders", check(description="ours"))
    put_check(deployment, "orders", check(name="hourly"))
    listed = list_checks(deployment, "orders")
    assert [one.name for one in listed.schedules] == ["hourly", "nightly"]
    assert read_check(deployment, "orders", "nightly").description == "ours"
    delete_check(deployment, "orders", "nightly")
    assert set(schedules()) == {"payments.nightly", "orders.hourly"}
    assert read_check(deployment, "payments", "nightly").description == "theirs"


def test_a_check_that_cannot_be_read_leaves_the_others_listed(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("early", "newer", "nightly"):
        put_check(deployment, "payments", check(name=name))
    key = {"pk": {"S": "team#payments"}, "sk": {"S": "schedule#newer"}}
    assert deployment.service_table is not None
    clients.dynamodb().put_item(
        TableName=deployment.service_table, Item={**key, "check": {"S": '{"secret": "hunter2"}'}}
    )
    found = list_checks(deployment, "payments")
    assert [one.name for one in found.schedules] == ["early", "nightly"]
    assert found.unreadable == 1
    told = json.loads(capsys.readouterr().out)["unreadable"]
    assert told.startswith("schedule#newer of team payments cannot be read by this version: ")
    assert "secret (extra_forbidden)" in told
    assert "hunter2" not in told


def test_a_deleted_check_is_gone_with_its_schedule(deployment: EverySetting) -> None:
    put_check(deployment, "payments", check())
    delete_check(deployment, "payments", "nightly")
    assert schedules() == {}
    for call in (read_check, read_check_history, delete_check):
        with pytest.raises(CheckNotFoundError, match="team payments has no schedule 'nightly'"):
            call(deployment, "payments", "nightly")


@pytest.mark.parametrize(
    ("team", "changes", "words"),
    [
        (
            "payments",
            {"request": REQUEST | {"workload": {"name": "ycsb-z", "records": 1}}},
            "ycsb-z",
        ),
        (
            "payments",
            {"request": REQUEST | {"limits": {"limits_us": {"reed": 10}}}},
            "request.limits.limits_us.reed: ",
        ),
        ("payments", {"request": REQUEST | {"target": ENDPOINT}}, "request.target.host: other"),
        ("payments", {"control": ENDPOINT}, "control.host: other.example:3306 is not among"),
        (
            "payments",
            {"compare": [{"kind": "latency", "operation": "reed", "rate_ops_per_second": 500}]},
            "compare[0].operation: ",
        ),
        ("t" * 40, {"name": "n" * 24}, "longer than 23 characters"),
        ("payments", {"schedule": "cron(0 0 1 1 ? 1999)"}, "schedule: cron(0 0 1 1 ? 1999) never"),
        ("payments", {"schedule": "cron(0 0 30 2 ? *)"}, "schedule: cron(0 0 30 2 ? *) never"),
    ],
)
def test_a_check_that_cannot_run_is_refused_before_anything_is_made(
    deployment: EverySetting, team: str, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as error:
        put_check(deployment, team, check(**changes))
    assert words in str(error.value)
    assert schedules() == {}
    assert list_checks(deployment, team).schedules == ()


def test_the_next_run_is_told_where_it_is_known(deployment: EverySetting) -> None:
    put_check(deployment, "payments", check(schedule="cron(0 0 1 1 ? 2099)"))
    new_year = datetime(2099, 1, 1, tzinfo=UTC)
    assert read_check(deployment, "payments", "nightly").next_at == new_year
    put_check(deployment, "payments", check(schedule="cron(0 0 1 1 ? 2099)", enabled=False))
    assert read_check(deployment, "payments", "nightly").next_at is None
    put_check(deployment, "payments", check(schedule="rate(1 day)"))
    assert read_check(deployment, "payments", "nightly").next_at is None
    start_check(deployment, "payments", "nightly", datetime(2026, 1, 1, 2, 30, tzinfo=UTC))
    following = datetime(2026, 1, 2, 2, 30, tzinfo=UTC)
    assert read_check(deployment, "payments", "nightly").next_at == following
