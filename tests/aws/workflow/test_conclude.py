"""The conclusion waits for the target's metrics of the last step, and not for ever."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll import search_steps
from plimsoll.aws import clients
from plimsoll.aws.run_files import CONCLUSION, CONDITIONS, REQUEST, plan_path, step_path
from plimsoll.capacity.credits import judge_sustained
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import BilledIo
from plimsoll.model.run.results import (
    CheckedCondition,
    CheckedConditions,
    SecondTotals,
    StepResult,
)
from plimsoll.model.run.run_record import Switch, TargetAddress
from plimsoll.workflow import conclude as concluding
from plimsoll.workflow.conclude import conclude
from plimsoll.workflow.result import Conclusion
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.support.every_setting import EverySetting
from tests.support.merged import merge_step
from tests.unit.fleet.test_merge import START_MS, after, planned, result

MINUTE = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
TARGET = TargetAddress(
    protocol="mysql", host="db", port=3306, database="db", secret_arn="arn", identifier="db-1"
)
FIELDS = ("ReadIOPS", "WriteIOPS", "CPUUtilization")
DONE = {"concluded": True, "wait_s": 0}


class Clock:
    """A clock that a test sets."""

    now = MINUTE + timedelta(minutes=1, seconds=10)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(concluding, "now", clock)
    return clock


@pytest.fixture
def measured(deployment: EverySetting) -> EverySetting:
    """A run on RDS whose only step had its window from 12:00:00 to 12:01:00, 10 s ago."""
    recorded(deployment, target=TARGET, step_at=MINUTE - timedelta(seconds=30))
    start = 1000 * int(MINUTE.timestamp())
    window = (start + 40 - START_MS, start + 60_000 - START_MS)
    plan = planned().model_copy(
        update={"start_at_epoch_ms": start - 30_000, "warmup_s": 30, "duration_s": 60}
    )
    results = [
        result(client, [100] * 400, window=window).model_copy(update={"run_id": RUN})
        for client in (0, 1)
    ]
    files = deployment.files(RUN)
    files.put_model(plan_path(1), plan)
    files.put_model(step_path(1), merge_step(plan, results, [], server_after=after(1100)))
    return deployment


def point(*names: str, minute: datetime = MINUTE) -> None:
    """Have CloudWatch know a minute's value of some metrics."""
    data: list[Any] = [
        {
            "MetricName": name,
            "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "db-1"}],
            "Timestamp": minute,
            "Value": 50.0,
        }
        for name in names
    ]
    clients.cloudwatch().put_metric_data(Namespace="AWS/RDS", MetricData=data)


def test_it_waits_until_every_figure_of_the_last_window_is_there(
    measured: EverySetting, clock: Clock
) -> None:
    waiting = {"concluded": False, "wait_s": 1}
    point(*FIELDS, minute=MINUTE - timedelta(minutes=1))  # of the warm-up
    assert conclude(measured, RUN) == waiting
    until = measured.records.get(RUN).metrics_awaited_until
    assert until == clock.now + timedelta(minutes=3)
    clock.now += timedelta(seconds=15)
    point(*FIELDS[:2])
    assert conclude(measured, RUN) == waiting, "the processor's figure is not there"
    assert measured.records.get(RUN).metrics_awaited_until == until, "waiting does not prolong it"
    clock.now += timedelta(seconds=15)
    point("CPUUtilization")
    assert conclude(measured, RUN) == DONE
    step = measured.files(RUN).get(step_path(1), StepResult)
    assert step.target is not None
    assert (step.target.points, step.target.write_iops) == (1, 50.0)
    assert measured.files(RUN).get(CONCLUSION, Conclusion).notes == ()
    assert measured.records.get(RUN).metrics_awaited_until is None


def test_after_three_minutes_it_goes_on_without_them_and_says_so(
    measured: EverySetting, clock: Clock
) -> None:
    assert conclude(measured, RUN)["concluded"] is False
    clock.now += timedelta(minutes=3)
    assert conclude(measured, RUN) == DONE
    (note,) = measured.files(RUN).get(CONCLUSION, Conclusion).notes
    assert note == "the target's metrics of its last step were not all there after 3 min"


def test_the_record_has_the_whole_figure_so_that_it_is_rounded_once(
    measured: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2066.48 written as 2066.5 was shown as 2,067 beside a report with 2,066."""
    measured.records.change(RUN, target=TARGET.model_copy(update={"identifier": None}))
    figure = 2066.48329048017
    judged = judge_sustained

    def with_the_figure(*arguments: Any, **others: Any) -> Any:
        capacity = judged(*arguments, **others)
        return capacity.model_copy(update={"max_sustainable_throughput_ops_per_second": figure})

    monkeypatch.setattr(search_steps, "judge_sustained", with_the_figure)
    conclude(measured, RUN)
    told = measured.records.get(RUN).capacity_ops_per_second
    assert told is not None
    assert float(told) == figure


def test_conditions_that_the_rows_break_dispute_the_answer(measured: EverySetting) -> None:
    measured.records.change(RUN, target=TARGET.model_copy(update={"identifier": None}))
    files = measured.files(RUN)
    assert conclude(measured, RUN) == DONE
    assert files.get(CONCLUSION, Conclusion).conditions == ()
    verdict = files.get(CONCLUSION, Conclusion).capacity.verdict
    assert verdict != "INCONSISTENT"
    broken = CheckedCondition(name="c1", about="no gap", breaches=2)
    files.put_model(CONDITIONS, CheckedConditions(conditions=(broken,)))
    assert conclude(measured, RUN) == DONE
    found = files.get(CONCLUSION, Conclusion)
    assert found.conditions == (broken,)
    assert found.capacity.verdict == "INCONSISTENT"
    assert found.capacity.summary.endswith("the rows break c1 (no gap; 2 times)")
    assert measured.records.get(RUN).verdict == "INCONSISTENT"


def test_conditions_that_nobody_checked_are_not_known(measured: EverySetting) -> None:
    measured.records.change(RUN, target=TARGET.model_copy(update={"identifier": None}))
    files = measured.files(RUN)
    tpcc = {**REQUESTED, "workload": {"name": "tpcc", "records": 1}}
    files.put(REQUEST, Request.model_validate(tpcc).model_dump_json())
    assert conclude(measured, RUN) == DONE
    found = files.get(CONCLUSION, Conclusion).conditions
    assert [one.name for one in found] == [f"c{number}" for number in range(1, 13)]
    assert {one.breaches for one in found} == {None}
    assert {one.unknown for one in found} == {
        "the run had no time left for it, or its function failed"
    }


def test_nothing_is_awaited_of_a_target_without_metrics(measured: EverySetting) -> None:
    measured.records.change(RUN, target=TARGET.model_copy(update={"identifier": None}))
    assert conclude(measured, RUN) == DONE


def test_nothing_is_awaited_for_a_load_that_holds_no_whole_minute(measured: EverySetting) -> None:
    files = measured.files(RUN)
    step = files.get(step_path(1), StepResult)
    plan = step.plan.model_copy(update={"duration_s": 20})
    end = step.plan.window_start_epoch_ms + 20_000
    short = step.model_copy(update={"plan": plan, "window_end_epoch_ms": end})
    files.put_model(step_path(1), short)
    assert conclude(measured, RUN) == DONE


def test_why_a_toggle_was_not_measured_stands_in_its_result(measured: EverySetting) -> None:
    states = [{"name": name, "parameters": {"sync_binlog": name}} for name in ("0", "1")]
    request = Request.model_validate({**REQUESTED, "toggle": {"states": states}})
    measured.files(RUN).put(REQUEST, request.model_dump_json())
    failed = Switch(step=2, state="0", stage="failed", problem="the target is storage-full")
    without_metrics = TARGET.model_copy(update={"identifier": None})
    measured.records.change(RUN, target=without_metrics, switch=failed)
    assert conclude(measured, RUN) == DONE
    conclusion = measured.files(RUN).get(CONCLUSION, Conclusion)
    assert conclusion.capacity.verdict is not None, "the answer stands"
    assert conclusion.toggle is not None
    assert conclusion.toggle.detail == (
        "0 and 1 were not compared: no pair of steps counts; the target is storage-full"
    )


def test_of_aurora_it_notes_what_aws_charges_of_its_cluster_since_it_was_there(
    measured: EverySetting,
) -> None:
    aurora = {
        "kind": "aurora",
        "engine": "aurora-mysql",
        "engine_version": "8.0",
        "instance_class": "db.r7g.large",
    }
    request = Request.model_validate({**REQUESTED, "target": aurora})
    measured.files(RUN).put(REQUEST, request.model_dump_json())
    measured.records.change(RUN, target_ready_at=MINUTE - timedelta(minutes=12))
    for minutes, reads, writes in ((-10, 500, 90_000), (0, 600, 200)):  # loaded; the step's
        for name, value in (("VolumeReadIOPs", reads), ("VolumeWriteIOPs", writes)):
            counted: Any = {
                "MetricName": name,
                "Dimensions": [{"Name": "DBClusterIdentifier", "Value": "db-1"}],
                "Timestamp": MINUTE + timedelta(minutes=minutes),
                "Value": float(value),
            }
            clients.cloudwatch().put_metric_data(Namespace="AWS/RDS", MetricData=[counted])
    files = measured.files(RUN)
    began, sent = (
        SecondTotals(
            epoch_s=int(MINUTE.timestamp()) + at,
            step=1,
            operation="read",
            succeeded=succeeded,
            errors=0,
            max_us=None,
            buckets={},
        )
        for at, succeeded in ((-60, 90), (10, 400))  # the load began within a period before
    )
    step = files.get(step_path(1), StepResult)
    files.put_model(step_path(1), step.model_copy(update={"seconds": (began, sent)}))
    point(*FIELDS)
    assert conclude(measured, RUN) == DONE
    concluded = files.get(CONCLUSION, Conclusion)
    assert concluded.billed_io == BilledIo(
        reads=1100, writes=90_200, beside_operations=800, operations=400
    )
    assert concluding.WRITES_OF_AURORA in concluded.notes
