"""Steps that say nothing are void; an answer's closing steps take nothing with them."""

import pytest

from plimsoll.fleet.fold import fold_clients
from plimsoll.fleet.sense import check_sense
from plimsoll.model.judging.steps import Purpose
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_merge import result

STEP = synthetic_run()[0].steps[0]
REFUSED = "the target refused connections of 1 of 1 client: Too many connections"


@pytest.mark.parametrize(
    ("purpose", "void"),
    [
        ("climb", None),  # that load fails
        ("soak", None),  # so does the answer's own
        ("twice_clients", REFUSED),
        ("open_loop", REFUSED),
        ("sentinel", REFUSED),
    ],
)
def test_a_closing_step_that_was_refused_says_nothing_of_the_answer(
    purpose: Purpose, void: str | None
) -> None:
    refused = STEP.step.model_copy(update={"refused": REFUSED, "throughput_ops_per_second": 0.0})
    plan = STEP.plan.model_copy(update={"purpose": purpose})
    step = STEP.model_copy(update={"plan": plan, "step": refused})
    seen, _ = check_sense(step, fold_clients(plan, [result(0, [100])]))
    assert seen.step.void == void
