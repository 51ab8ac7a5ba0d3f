"""A step that says nothing by chance is done again: it may say something the next time."""

import time

import pytest

from plimsoll.aws.run_files import client_path
from plimsoll.model.run.fleet import ClientResult
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunRecord, RunState
from tests.local.workflow.conftest import Bench, hold_until_the_end, tiny, wait_for_the_end, why


def said_nothing(record: RunRecord, result: RunResult, *, step: int = 1) -> str:
    """Say why a step said nothing, of a run that went on and has its answer."""
    assert result.failure is None, why(record)
    assert record.state is RunState.SUCCEEDED
    silent = result.steps[step - 1].step
    assert silent.void is not None
    assert not silent.operations
    assert result.capacity is not None
    assert f"step {step} does not count: {silent.void}" in result.capacity.notes
    assert any(later.step.void is None for later in result.steps[step:])
    return silent.void


@pytest.mark.whole  # tests/aws/workflow/test_judge_step.py has void steps
def test_a_step_whose_client_stood_still_for_its_window_is_done_again(bench: Bench) -> None:
    """It is frozen within its warm-up, which is long enough for that on nearly any machine."""
    for _ in range(4):
        run = bench.start(tiny("frozen", load__warmup_s=6), hold=["freeze-load-client-0"])
        gate = bench.gate("freeze-load-client-0", run)
        client = gate.await_frozen()
        frozen_at_ms = time.time() * 1000
        gate.open()
        step = run.look().record.step or 0  # the first one whose client came in time
        wait_for_the_end(run, step=step)
        client.resume()
        record, result = bench.end(run)
        if frozen_at_ms < result.steps[step - 1].plan.window_start_epoch_ms:
            break
    void = said_nothing(record, result, step=step)
    assert void.startswith(f"no operation was answered in the window of step {step}: ")


@pytest.mark.whole  # one that stood still is done again as well
def test_a_step_for_which_all_clients_come_too_late_is_done_again(bench: Bench) -> None:
    run = bench.start(tiny("late"), hold=["load-client-0"])
    hold_until_the_end(bench.gate("load-client-0", run), run, step=1)
    void = said_nothing(*bench.end(run))
    assert void.startswith("no client of step 1 ran: client 0 failed: called ")
    assert "after the barrier, when half of the window was over" in void


@pytest.mark.whole
def test_the_client_that_warms_the_caches_begins_when_it_comes(bench: Bench) -> None:
    long = 5  # longer than a machine stands still between its coming and its first statement
    run = bench.start(tiny("warms", prepare__warm_s=long), hold=["load-client-0"])
    hold_until_the_end(bench.gate("load-client-0", run), run, step=0)
    record, result = bench.end(run)
    assert result.failure is None, why(record)
    assert record.state is RunState.SUCCEEDED
    warmed = run.files.get(client_path(0, 0), ClientResult)
    assert warmed.report.statements_sent > 0
