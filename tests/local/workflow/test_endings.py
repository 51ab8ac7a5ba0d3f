"""Runs that are ended: from outside, by their time limit, by their budget, by their schedule."""

from datetime import UTC, datetime
from typing import get_args

import pytest

from plimsoll.aws import clients
from plimsoll.model.deployment.rules import DELETIONS_GROUP
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import Bench, tiny, wait_until, why


def bring_forward(name: str) -> None:
    """Have a schedule fire now."""
    armed = clients.scheduler().get_schedule(Name=name, GroupName=DELETIONS_GROUP)
    clients.scheduler().update_schedule(
        Name=name,
        GroupName=DELETIONS_GROUP,
        ScheduleExpression=f"at({datetime.now(UTC):%Y-%m-%dT%H:%M:%S})",
        FlexibleTimeWindow=armed["FlexibleTimeWindow"],
        ActionAfterCompletion="DELETE",
        Target=armed["Target"],
    )


@pytest.mark.parametrize(
    ("phase", "function"),
    [  # a run is stopped alike in whatever phase it is: `step` stands for all
        pytest.param("provision", "await-target", marks=pytest.mark.whole),
        pytest.param("prepare", "verify-dataset", marks=pytest.mark.whole),
        ("step", "judge-step"),
        pytest.param("conclude", "conclude", marks=pytest.mark.whole),
    ],
)
def test_the_execution_is_stopped_from_outside(bench: Bench, phase: str, function: str) -> None:
    run = bench.start(tiny(f"stopped-{phase}"), hold=[function])
    gate = bench.gate(function, run)
    gate.await_arrival()
    run.stop()
    gate.open()
    record, result = bench.end(run)
    assert record.state is RunState.STOPPED, why(record)
    assert result.failure is not None
    assert result.failure.cause == "the run was stopped from outside"
    assert result.state is RunState.STOPPED


def test_the_execution_is_stopped_while_its_target_is_being_made(bench: Bench) -> None:
    run = bench.start(tiny("stopped-making"), hold=["create-target"])
    gate = bench.gate("create-target", run)
    gate.await_arrival()
    run.stop()
    wait_until(lambda: run.look().record.state.ended, "the teardown")
    gate.open()  # only now does the function go on, and must make nothing
    wait_until(lambda: bench.running("create-target") == 0, "end")
    record, _ = bench.end(run)
    assert record.stack_id is None
    assert record.state is RunState.STOPPED, why(record)


def test_the_time_limit_passes(bench: Bench) -> None:
    run = bench.start(tiny("too-long", time_limit_s=201, load__duration_s=200))
    record, result = bench.end(run)
    assert record.state is RunState.TIMED_OUT, why(record)
    assert result.failure is not None
    assert result.failure.error == "TimeLimitPassedError"
    assert "3 min 21 s leaves no time for step 1" in result.failure.cause


def test_the_budget_would_be_passed_by_the_next_step(bench: Bench) -> None:
    """At a price that makes one client a second a cent: the second step has a hundred.

    The target costs nothing: its part of a budget is a deadline, which a busy machine could pass.
    Nor does a busy machine keep the search from going on to the second step: no audit disputes the
    first one.
    """
    free = {
        "rds-mariadb": {"db.m5.large": 0},
        "rds-storage": {"io1": 0},
        "rds-iops": {"io1": 0},
        "secrets-manager": {"secret": 0},
    }
    dear = {"as_of": "2026-01-01", "usd": {"lambda": {"arm64-duration": 0.01}, **free}}
    limits = {"confirmation": None, "audits_off": sorted(get_args(AuditName))}
    asked = tiny("too-dear", search__clients=[1, 100], limits=limits, budget_usd=20)
    run = bench.start(asked, prices=dear)
    record, result = bench.end(run)
    assert record.state is RunState.OVER_BUDGET, why(record)
    assert {step.plan.clients for step in result.steps} == {1}
    assert result.failure is not None
    assert result.failure.error == "BudgetPassedError"
    following = len(result.steps) + 1
    assert f"with step {following} (100 clients) it would be $" in result.failure.cause


def test_the_schedule_deletes_a_target_that_nobody_tears_down(bench: Bench) -> None:
    """The workflow is stopped, and the rule that should see it is off."""
    run = bench.start(tiny("forgotten"), hold=["create-schema"])
    gate = bench.gate("create-schema", run)
    gate.await_arrival()
    events = bench.twin.client("events")
    events.disable_rule(Name="plimsoll-teardown")
    try:
        run.stop()
        name = f"plimsoll-{run.run_id}"
        assert name in bench.twin.databases
        bring_forward(f"plimsoll-run-{run.run_id}")
        wait_until(lambda: name not in bench.twin.databases, "the schedule")
    finally:
        events.enable_rule(Name="plimsoll-teardown")
        gate.open()

    def armed() -> set[str]:
        return {one["Name"] for one in clients.scheduler().list_schedules()["Schedules"]}

    # it is called before that
    wait_until(lambda: f"plimsoll-run-{run.run_id}" not in armed(), "the schedule deletes itself")
