"""The process that functions are forked from is killed, as the kernel does for want of memory.

The run whose function was running fails with that sentence, and its target is gone.
"""

import psutil
import pytest

from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import Bench, tiny, why

# a run fails alike in whatever function it is: one stands for all
REPRESENTATIVE = "judge-step"
REASON = "the process that functions are forked from was killed"
LONG_STEP = {"load__warmup_s": 1, "load__duration_s": 60}


def kill_nursery(bench: Bench) -> None:
    assert bench.twin._aws is not None
    [nursery] = [
        process
        for process in psutil.Process(bench.twin._aws.pid).children()
        if "plimsoll.local.lambdas.nursery" in process.cmdline()
    ]
    nursery.kill()


@pytest.mark.whole  # a teardown that is taken up again has it too
@pytest.mark.parametrize(
    ("function", "phase"),
    [
        pytest.param(*case, marks=() if case[0] == REPRESENTATIVE else pytest.mark.whole)
        for case in (
            ("create-target", "provision"),
            ("create-schema", "prepare"),
            ("load-dataset-0", "prepare"),
            ("verify-dataset", "prepare"),
            ("plan-step", "step"),
            ("judge-step", "step"),
            ("conclude", "conclude"),
        )
    ],
)
def test_a_function_that_ran_fails_its_run(bench: Bench, function: str, phase: str) -> None:
    run = bench.start(tiny(f"nursery-{phase}"), hold=[function])
    gate = bench.gate(function, run)
    gate.await_arrival()
    kill_nursery(bench)
    gate.open()
    record, result = bench.end(run)
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert result.failure.phase == phase, why(record)
    assert REASON in result.failure.cause


@pytest.mark.whole  # tests/faults kills it under load
def test_in_the_midst_of_a_load(bench: Bench) -> None:
    run = bench.start(
        tiny("nursery-load", search__clients=[2], **LONG_STEP), hold=["freeze-load-client-0"]
    )
    bench.gate("freeze-load-client-0", run).await_frozen()
    kill_nursery(bench)
    record, result = bench.end(run)
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert result.failure.phase == "step"
    assert REASON in result.failure.cause


def test_a_teardown_is_taken_up_again(bench: Bench) -> None:
    run = bench.start(tiny("nursery-teardown"), hold=["delete-target"])
    gate = bench.gate("delete-target", run)
    gate.await_arrival()
    kill_nursery(bench)
    gate.open()
    bench.succeed(run)
