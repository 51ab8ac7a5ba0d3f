"""A step that says nothing by chance is done again: it may say something the next time."""

import time

from plimsoll.local.runner import LocalRun
from plimsoll.model.fleet import ClientResult, StepPlan
from plimsoll.model.results import RunResult
from plimsoll.model.runs import RunRecord, RunState
from plimsoll.runs.files import client_path, plan_path
from tests.local.runs.conftest import Bench, Gate, tiny, wait_until, why


def wait_for_the_end(run: LocalRun, *, step: int) -> None:
    plan = run.deployment.files(run.run_id).get(plan_path(step), StepPlan)
    wait_until(lambda: time.time() * 1000 > plan.window_end_epoch_ms, "the window's end")


def hold_until_the_end(gate: Gate, run: LocalRun, *, step: int) -> None:
    """Hold a step's client until its window is over."""
    gate.await_arrival()
    wait_for_the_end(run, step=step)
    gate.open()


def said_nothing(record: RunRecord, result: RunResult) -> str:
    """Say why step 1 said nothing, of a run that went on and has its answer."""
    assert result.failure is None, why(record)
    assert record.state is RunState.SUCCEEDED
    first = result.steps[0].step
    assert first.void is not None
    assert not first.operations
    assert result.capacity is not None
    assert f"steps/1 says nothing of the target: {first.void}" in result.capacity.notes
    assert any(step.step.void is None for step in result.steps)
    return first.void


def test_a_step_whose_client_stood_still_for_its_window_is_done_again(bench: Bench) -> None:
    """It is frozen within its warm-up, which is long enough for that on any machine."""
    run = bench.start(tiny("frozen", load__warmup_s=6), hold=["freeze-load-client-0"])
    gate = bench.gate("freeze-load-client-0", run)
    client = gate.await_frozen()
    gate.open()
    wait_for_the_end(run, step=1)
    client.resume()
    void = said_nothing(*bench.end(run))
    assert void.startswith("no operation was answered in the window of step 1: ")


def test_a_step_for_which_all_clients_come_too_late_is_done_again(bench: Bench) -> None:
    run = bench.start(tiny("late"), hold=["load-client-0"])
    hold_until_the_end(bench.gate("load-client-0", run), run, step=1)
    void = said_nothing(*bench.end(run))
    assert void.startswith("no client of step 1 ran: client 0: called ")
    assert "after the barrier, when half of the window was over" in void


def test_the_client_that_warms_the_caches_begins_when_it_comes(bench: Bench) -> None:
    run = bench.start(tiny("warms", prepare__warm_s=0.5), hold=["load-client-0"])
    hold_until_the_end(bench.gate("load-client-0", run), run, step=0)
    record, result = bench.end(run)
    assert result.failure is None, why(record)
    assert record.state is RunState.SUCCEEDED
    warmed = run.deployment.files(run.run_id).get(client_path(0, 0), ClientResult)
    assert warmed.report.statements_sent > 0
