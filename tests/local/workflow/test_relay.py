"""A soak on one machine: its fleets follow each other, and end when their run is stopped.

That the server sees no pause is a measurement (`python -m benchmarks.relay`); the arithmetic of the
state machine is tested in virtual time (`tests/unit/statemachines/test_relays.py`).
"""

import math
from itertools import pairwise

import pytest

from plimsoll.aws.run_files import claim_path, plan_path
from plimsoll.model.request.load_request import compute_shortest_relay_window_s
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import ANSWERED, Bench, ended, tiny, wait_until, why

WINDOW_S = math.ceil(compute_shortest_relay_window_s(2)) + 1
SOAK = {
    **ANSWERED,
    "search__clients": [2],
    "load__timeout_ms": 2_000,
    "limits__soak_window_s": WINDOW_S,
}


@pytest.mark.whole  # tests/unit/statemachines/test_relays.py, in virtual time
def test_a_soak_is_held_by_one_fleet_after_the_other(bench: Bench) -> None:
    run = bench.start(tiny("relay", **SOAK, limits__soak_s=3 * WINDOW_S))
    _, result = bench.succeed(run)
    first = next(step.plan for step in result.steps if step.plan.relay is not None)
    held = [
        step for step in result.steps if step.plan.relay and step.plan.relay.first == first.index
    ]
    # a busy machine may not sustain the load; the second fleet is called before that is known
    assert 2 <= len(held) <= 3
    assert [step.plan.why for step in held] == [
        f"soak: window {number} of 3, 2 min 12 s in all" for number in range(1, len(held) + 1)
    ]
    for before, step in pairwise(held):
        assert before.plan.window_end_epoch_ms == step.plan.start_at_epoch_ms
        assert step.server is not None, "its counters were read where the one before it ended"
    assert all(step.step.statements_sent is None for step in held)
    assert result.capacity is not None
    assert result.capacity.closing is not None
    soak = result.capacity.closing.soak
    assert soak is not None
    told = {window.step for window in soak.windows}
    assert told >= {step.plan.index for step in held}


@pytest.mark.whole
def test_the_clients_of_a_soak_end_when_their_run_is_stopped(bench: Bench) -> None:
    """Functions run on when their execution is stopped, as on AWS; nobody calls further ones."""
    run = bench.start(
        tiny(
            "relay-stop",
            **{**SOAK, "limits__soak_window_s": 600},
            limits__soak_s=2400,
            time_limit_s=3600,
        )
    )
    files = run.files

    def begun() -> bool:
        step = run.look().record.step or 0
        plan = files.find_model(plan_path(step), StepPlan)
        soaks = plan is not None and plan.relay is not None
        return ended(run) or (soaks and files.find(claim_path(step, 1)) is not None)

    wait_until(begun, "the soak is under way")
    assert not ended(run), why(run.look().record)
    step = run.look().record.step
    assert step is not None
    run.stop()
    record, result = bench.end(run)
    assert record.state is RunState.STOPPED, why(record)
    assert record.deleted_at is not None
    assert result.failure is not None
    wait_until(lambda: bench.running("load-client") == 0, "the clients have ended")
    assert files.find(claim_path(step + 1, 0)) is None
