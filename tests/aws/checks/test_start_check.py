"""A firing starts a run, and the control's, once however often it is delivered."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.drain import begin_drain, end_drain
from plimsoll.checks import runs as starting
from plimsoll.checks.runs import hash_measured, start_check
from plimsoll.checks.schedules import put_check, read_check_history
from plimsoll.errors import PlimsollError
from plimsoll.model.request.request import Request
from tests.aws.checks.conftest import executions, schedules
from tests.support.every_setting import EverySetting
from tests.unit.checks.histories import REQUEST, check

TEAM = "payments"
AT = datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
CONTROL = REQUEST["target"] | {"instance_class": "db.m6i.large"}


def fire(deployment: EverySetting, at: datetime = AT) -> dict[str, object]:
    return start_check(deployment, TEAM, "nightly", at)


def stored(run_id: object) -> dict[str, Any]:
    body = clients.s3().get_object(Bucket="results", Key=f"runs/{run_id}/request.json")
    request: dict[str, Any] = json.loads(body["Body"].read())
    return request


def test_a_firing_starts_the_run_and_the_same_run_on_the_control(deployment: EverySetting) -> None:
    put_check(deployment, TEAM, check(control=CONTROL))
    started = fire(deployment)
    assert executions(deployment) == sorted(map(str, started.values()))
    target, control = stored(started["target"]), stored(started["control"])
    assert (target["team"], target["name"]) == (TEAM, "nightly")
    assert control["name"] == "nightly-control"
    assert control["target"]["instance_class"] == "db.m6i.large"
    assert control["workload"] == target["workload"]
    [point] = read_check_history(deployment, TEAM, "nightly").points
    assert point.scheduled_at == AT
    assert point.control is not None
    assert (point.target.run_id, point.control.run_id) == (started["target"], started["control"])
    assert not point.settled


def test_a_firing_delivered_twice_is_one_run_whatever_was_changed_meanwhile(
    deployment: EverySetting,
) -> None:
    put_check(deployment, TEAM, check())
    first = fire(deployment)
    put_check(deployment, TEAM, check(request=REQUEST | {"description": "changed"}))
    assert fire(deployment) == first
    assert len(executions(deployment)) == 1
    assert len(read_check_history(deployment, TEAM, "nightly").points) == 1


def test_a_check_that_is_due_while_nothing_may_start_is_put_off(
    deployment: EverySetting,
) -> None:
    put_check(deployment, TEAM, check())
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
    begin_drain(deployment.service_table, until)
    assert fire(deployment) == {}
    assert fire(deployment, AT + timedelta(hours=1)) == {}  # put off together with the first
    assert executions(deployment) == []
    assert read_check_history(deployment, TEAM, "nightly").points == ()
    (put_off,) = (one for name, one in schedules().items() if name.startswith(".put-off."))
    assert put_off["ScheduleExpression"] == f"at({until:%Y-%m-%dT%H:%M:%S})"
    assert put_off["ActionAfterCompletion"] == "DELETE"
    assert put_off["Target"]["Arn"] == deployment.start_check_arn
    event = json.loads(put_off["Target"]["Input"])
    assert event.keys() == {"team", "name", "scheduled_at"}

    end_drain(deployment.service_table)
    started = fire(deployment, datetime.fromisoformat(event["scheduled_at"]))
    assert executions(deployment) == [started["target"]]
    assert [p.scheduled_at for p in read_check_history(deployment, TEAM, "nightly").points] == [AT]


def test_each_firing_is_a_run_of_its_own(deployment: EverySetting) -> None:
    put_check(deployment, TEAM, check())
    fire(deployment)
    fire(deployment, AT.replace(day=2))
    assert len(executions(deployment)) == 2
    points = read_check_history(deployment, TEAM, "nightly").points
    assert [point.scheduled_at.day for point in points] == [1, 2]


@pytest.mark.parametrize("gone", [True, False])
def test_a_check_that_is_gone_or_disabled_starts_nothing(
    deployment: EverySetting, *, gone: bool
) -> None:
    if not gone:
        put_check(deployment, TEAM, check(enabled=False))
    assert fire(deployment) == {}
    assert executions(deployment) == []


def test_a_run_that_is_refused_is_a_gap_that_says_why(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_check(deployment, TEAM, check())

    def refuse(*_: object, **__: object) -> str:
        raise PlimsollError("team payments has 2 runs at once (allowed: 2)")

    monkeypatch.setattr(starting, "submit_run", refuse)
    fire(deployment)
    [point] = read_check_history(deployment, TEAM, "nightly").points
    assert point.settled
    assert point.target.run_id is None
    assert point.target.problem == (
        "it was not started: team payments has 2 runs at once (allowed: 2)"
    )


def test_runs_that_are_refused_night_after_night_are_one_message(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch, outbox: list[dict[str, Any]]
) -> None:
    put_check(deployment, TEAM, check())

    def refuse(*_: object, **__: object) -> str:
        raise PlimsollError("team payments has 2 runs at once (allowed: 2)")

    monkeypatch.setattr(starting, "submit_run", refuse)
    sent = []
    for day in range(1, 5):
        fire(deployment, AT.replace(day=day))
        sent.append(len(outbox))
    assert sent == [0, 1, 1, 1]
    assert "Latest: it was not started: team payments has 2 runs" in outbox[0]["Message"]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"name": "other", "description": "words", "tags": {"a": "b"}, "time_limit_s": 600}, True),
        ({"team": "other"}, True),
        ({"workload": {"name": "ycsb-b", "records": 1000}}, False),
        ({"target": CONTROL}, False),
        ({"load": {"duration_s": 30}}, False),
    ],
)
def test_runs_compare_where_they_measure_the_same(change: dict[str, Any], same: bool) -> None:
    one, other = (Request.model_validate(body) for body in (REQUEST, REQUEST | change))
    assert (hash_measured(one) == hash_measured(other)) is same


def test_what_rds_may_charge_changes_no_history() -> None:
    target = {**REQUEST["target"], "engine": "mysql", "engine_version": "8.0"}
    asked = [{**target, "extended_support": each} for each in (False, True)]
    one, other = (Request.model_validate(REQUEST | {"target": each}) for each in asked)
    assert hash_measured(one) == hash_measured(other)
