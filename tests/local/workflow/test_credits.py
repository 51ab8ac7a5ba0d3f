"""A gp2 volume with and without its burst credits: what lasts is not what credits pay for."""

from typing import Any

import pytest

from plimsoll.model.aws.volume_rules import Drain
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import CLOSING
from plimsoll.model.request.request import Fault
from tests.local.workflow.conftest import ANSWERED, Bench, measured, tiny

GP2: dict[str, Any] = {
    "target__volume": {"type": "gp2", "size_gib": 100},  # 300 IOPS that last, 3,000 with credits
    "search__connections_per_client": 4,  # commits at once: more than 300 log writes a second
    "load__duration_s": 4,
    "load__warmup_s": 2,
    **ANSWERED,
}
# in the window at most what it earns from the drain on: 300 IOPS for the warm-up and the window
WITHOUT_CREDITS_MOST_IOPS = 300 * (2 + 4) / 4


def answer(bench: Bench, name: str, *faults: Fault) -> tuple[Capacity, list[float], float]:
    """Run it; gives the answer, the IOPS used in each step and the least burst balance in the last.

    A fast machine questions the answer with another step, by clients that poll.
    """
    request = tiny(name, **GP2).model_copy(update={"faults": faults})
    _, result = bench.succeed(bench.start(request))
    assert result.capacity is not None
    steps = [s.step for s in measured(result) if s.step.purpose not in CLOSING]
    uses = [use for step in steps for use in step.credits or () if use.bucket == "volume"]
    assert {(use.earned_per_s, use.full) for use in uses} == {(300, 5_400_000)}
    assert uses[-1].balance_percent is not None
    return result.capacity, [use.used_per_s for use in uses], uses[-1].balance_percent


def is_steady(capacity: Capacity) -> bool:
    """Say whether no load was much slower in the second half of its window.

    The load is its own baseline: it fails by its credits, or because this machine stood still.
    """
    reasons = {reason for load in capacity.steps for reason in load.reasons}
    assert reasons <= {"credits", "unsteady"}
    return "unsteady" not in reasons


@pytest.mark.whole  # tests/unit/capacity/test_credits.py judges it
def test_what_credits_pay_for_is_a_burst_and_no_capacity(bench: Bench) -> None:
    capacity, iops, balance_percent = answer(bench, "on-credits")
    spent = [used for used in iops if used > 309]
    assert spent, "else nothing was spent"
    assert balance_percent > 99
    assert capacity.max_sustainable_throughput_ops_per_second is None
    if is_steady(capacity):
        assert capacity.verdict == "BURST"
        assert capacity.burst is not None
        least_s, most_s = (5_400_000 / (used - 300) for used in (max(spent), min(spent)))
        assert least_s * (1 - 1e-6) <= capacity.burst.lasts_s <= most_s * (1 + 1e-6)


def test_without_credits_it_is_what_lasts(bench: Bench) -> None:
    drained = Fault(step=1, after_s=0, volume=Drain())
    capacity, iops, balance_percent = answer(bench, "without-credits", drained)
    assert balance_percent < 1
    assert max(iops) <= WITHOUT_CREDITS_MOST_IOPS
    assert capacity.burst is None
    # what was earned before a window may be spent in it
    if is_steady(capacity) and max(iops) <= 309:
        assert capacity.verdict == "LOWER_BOUND"
        assert capacity.max_sustainable_throughput_ops_per_second is not None
