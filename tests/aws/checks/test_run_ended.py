"""The end of a check's run: a point of its history, and at most one message."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import RESULT
from plimsoll.capacity.judge import judge as judge_steps
from plimsoll.checks.runs import hash_measured, settle_and_judge, start_check
from plimsoll.checks.schedules import put_check, read_check_history
from plimsoll.checks.store import CheckStore
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunState
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run
from tests.unit.checks.histories import REQUEST, check, day, history

TEAM = "payments"
STEADY = [1001, 998, 1003, 997, 1002, 999, 1004, 996]
LOW = [800, 802, 799, 801]
RULES = Rules(confirmation=None, limits_us={"update": 1000})


def fire(deployment: EverySetting, at: datetime) -> dict[str, str]:
    started = start_check(deployment, TEAM, "nightly", at)
    return {side: str(run_id) for side, run_id in started.items()}


def end(deployment: EverySetting, run_id: str, ops_per_second: float | None) -> int:
    """Write the result of a run, with its capacity or failed, and judge; gives the messages."""
    if ops_per_second is None:
        return end_with(deployment, run_id, None)
    good = Step(
        clients=1, throughput_ops_per_second=ops_per_second, latency_us={"update": {"p99": 9}}
    )
    slow = Step(clients=2, throughput_ops_per_second=1, latency_us={"update": {"p99": 9999}})
    return end_with(deployment, run_id, [good, slow])


def end_with(deployment: EverySetting, run_id: str, steps: Sequence[Step] | None) -> int:
    """Write a run's result, and judge as the event of its end has it; None: it failed."""
    result, _ = synthetic_run(run_id=run_id)
    capacity = judge_steps(steps, RULES) if steps is not None else None
    state = RunState.SUCCEEDED if capacity else RunState.FAILED
    changed = {"capacity": capacity, "state": state}
    deployment.files(run_id).put_model(RESULT, result.model_copy(update=changed))
    messages = settle_and_judge(deployment, run_id)["messages"]
    assert isinstance(messages, int)
    return messages


def seed(
    deployment: EverySetting, figures: Sequence[float], control: Sequence[float] | None = None
) -> None:
    """Put a history of settled points there, day by day."""
    store = CheckStore(deployment.service_table or "")
    same = hash_measured(Request.model_validate(REQUEST))
    for point in history(figures, control, comparable=same):
        store.open_point(TEAM, "nightly", point)


def go_on(deployment: EverySetting, figures: Sequence[float | None], first: int) -> list[int]:
    """Let the check fire day by day; gives the number of messages after each run."""
    return [
        end(deployment, fire(deployment, day(first + index))["target"], value)
        for index, value in enumerate(figures)
    ]


def test_a_run_that_ended_is_a_point_with_its_figure(deployment: EverySetting) -> None:
    put_check(deployment, TEAM, check())
    run_id = fire(deployment, day(0))["target"]
    assert end(deployment, run_id, 1000) == 0
    [point] = read_check_history(deployment, TEAM, "nightly").points
    assert point.settled
    assert (point.target.verdict, point.target.state) == ("KNEE", RunState.SUCCEEDED)
    assert point.target.figures["capacity"].value == 1000
    assert point.target.figures["capacity"].bracket == (1, 2)


def test_a_run_that_failed_is_a_gap(deployment: EverySetting) -> None:
    put_check(deployment, TEAM, check())
    run_id = fire(deployment, day(0))["target"]
    end(deployment, run_id, None)
    [point] = read_check_history(deployment, TEAM, "nightly").points
    assert point.settled
    assert point.target.figures["capacity"].value is None


def test_a_drop_is_one_message_however_many_runs_follow(
    deployment: EverySetting, outbox: list[dict[str, Any]], bus: list[dict[str, Any]]
) -> None:
    put_check(deployment, TEAM, check())
    seed(deployment, STEADY)
    assert go_on(deployment, LOW, first=8) == [0, 1, 0, 0]
    [message] = outbox
    assert message["TopicArn"] == deployment.alarm_topic_arn
    assert message["Subject"] == "Plimsoll: nightly: capacity fell by 19.9 %"
    first_low = read_check_history(deployment, TEAM, "nightly").points[8].target.run_id
    for words in (
        "nightly (team payments): capacity fell by 19.9 %",
        "Before: 1,000 ops/s (mean of 8 runs, standard deviation 2.9 ops/s)",
        "After:  801 ops/s (mean of 2 runs",
        "Since:  the run scheduled for 2026-01-09 02:30 UTC",
        "Confidence: p = ",
        "names no control",
        f"Report: s3://results/runs/{first_low}/report.html",
    ):
        assert words in message["Message"]
    [event] = bus
    assert (event["DetailType"], event["EventBusName"]) == ("Regression", "plimsoll")
    history = read_check_history(deployment, TEAM, "nightly")
    assert [change.at for change in history.changes] == [day(8)]
    assert [announced.at for announced in history.announced] == [day(8)]


def test_the_control_is_waited_for_and_tells_the_cloud_from_the_database(
    deployment: EverySetting, outbox: list[dict[str, Any]]
) -> None:
    put_check(deployment, TEAM, check(control=REQUEST["target"], thresholds={"runs_after_min": 3}))
    seed(deployment, [*STEADY, *LOW[:2]], [*STEADY, *LOW[:2]])
    runs = fire(deployment, day(10))
    assert end(deployment, runs["target"], LOW[2]) == 0
    assert end(deployment, runs["control"], LOW[2] + 1) == 1
    assert "the cloud changed, not the database" in outbox[0]["Message"]


def test_an_end_of_which_no_event_came_is_made_good_by_the_next(deployment: EverySetting) -> None:
    put_check(deployment, TEAM, check())
    lost = fire(deployment, day(0))["target"]
    result, _ = synthetic_run(run_id=lost)
    deployment.files(lost).put_model(RESULT, result)
    assert not read_check_history(deployment, TEAM, "nightly").points[0].settled
    end(deployment, fire(deployment, day(1))["target"], 1000)
    assert all(point.settled for point in read_check_history(deployment, TEAM, "nightly").points)


def test_a_message_that_cannot_be_sent_is_sent_by_the_next_try(
    deployment: EverySetting, outbox: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_check(deployment, TEAM, check())
    seed(deployment, [*STEADY, LOW[0]])
    run_id = fire(deployment, day(9))["target"]
    working = clients.sns().publish

    def fail(**_: Any) -> None:
        raise ConnectionError("SNS is away")

    monkeypatch.setattr(clients.sns(), "publish", fail)
    with pytest.raises(ConnectionError):
        end(deployment, run_id, LOW[1])
    assert read_check_history(deployment, TEAM, "nightly").announced == ()
    monkeypatch.setattr(clients.sns(), "publish", working)
    assert settle_and_judge(deployment, run_id) == {"messages": 1}
    assert settle_and_judge(deployment, run_id) == {"messages": 0}
    assert len(outbox) == 1


def test_a_bus_that_is_away_keeps_no_message_back(
    deployment: EverySetting, outbox: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    put_check(deployment, TEAM, check())
    clients.events().delete_event_bus(Name="plimsoll")
    seed(deployment, [*STEADY, LOW[0]])
    assert go_on(deployment, LOW[1:2], first=9) == [1]
    assert len(outbox) == 1
    assert "the event Regression was not sent" in capsys.readouterr().out


def test_runs_of_no_check_and_of_deleted_ones_are_nobodys(deployment: EverySetting) -> None:
    assert settle_and_judge(deployment, "20260101-000000-abcdef") == {"messages": 0}


def test_a_check_without_an_answer_two_nights_long_is_one_message_and_its_recovery_another(
    deployment: EverySetting, outbox: list[dict[str, Any]], bus: list[dict[str, Any]]
) -> None:
    put_check(deployment, TEAM, check())
    seed(deployment, STEADY)
    assert go_on(deployment, [None, None, None, None, 1000, 1001], first=8) == [0, 1, 0, 0, 1, 0]
    silent, answered = outbox
    assert silent["TopicArn"] == deployment.alarm_topic_arn
    assert silent["Subject"] == "Plimsoll: nightly: no answer for 2 runs in a row"
    assert silent["Message"].splitlines()[2] == (
        "capacity: 2 runs without a figure since 2026-01-09 02:30 UTC."
        " Latest: the run FAILED: it drew no verdict"
    )
    assert answered["Subject"] == "Plimsoll: nightly: it has a figure again: capacity"
    assert "capacity: 4 runs without a figure since 2026-01-09" in answered["Message"]
    assert [event["DetailType"] for event in bus] == ["Check Silent", "Check Answered"]
    assert read_check_history(deployment, TEAM, "nightly").silences == ()


def test_a_check_that_never_answers_is_told_too(
    deployment: EverySetting, outbox: list[dict[str, Any]]
) -> None:
    put_check(deployment, TEAM, check(thresholds={"missing_runs_max": 3}))
    assert go_on(deployment, [None] * 5, first=0) == [0, 0, 1, 0, 0]
    assert len(outbox) == 1


def test_a_run_that_sustains_not_even_its_first_load_is_a_regression(
    deployment: EverySetting, outbox: list[dict[str, Any]]
) -> None:
    put_check(deployment, TEAM, check())
    seed(deployment, STEADY)
    overloaded = [
        Step(clients=1, throughput_ops_per_second=300, latency_us={"update": {"p99": 9999}})
    ]
    sent = [
        end_with(deployment, fire(deployment, day(8 + index))["target"], overloaded)
        for index in range(3)
    ]
    assert sent == [0, 1, 0]
    [message] = outbox
    assert message["Subject"] == "Plimsoll: nightly: capacity fell by 70 % or more"
    assert (
        "After:  < 300 ops/s (mean of 2 runs, standard deviation 0 ops/s;"
        " bounds among them count as their limits)"
    ) in message["Message"]
