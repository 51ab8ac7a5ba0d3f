"""A gp2 volume with and without its burst credits: what lasts is not what credits pay for."""

from typing import Any, NamedTuple

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
EARNED_IOPS = 300


class Used(NamedTuple):
    """IOPS in a window, and the most that the volume can earn for it since the first load began."""

    iops: float
    earned_iops: float


def answer(bench: Bench, name: str, *faults: Fault) -> tuple[Capacity, list[Used], float]:
    """Run it; gives the answer, what each step used and the least burst balance in the last.

    A fast machine questions the answer with another step, by clients that poll.
    """
    request = tiny(name, **GP2).model_copy(update={"faults": faults})
    _, result = bench.succeed(bench.start(request))
    assert result.capacity is not None
    steps = [step for step in measured(result) if step.step.purpose not in CLOSING]
    began_ms = result.steps[0].plan.start_at_epoch_ms
    used, balance_percent = [], None
    for step in steps:
        assert step.window_start_epoch_ms is not None
        assert step.window_end_epoch_ms is not None
        (use,) = [use for use in step.step.credits or () if use.bucket == "volume"]
        assert (use.earned_per_s, use.full) == (EARNED_IOPS, 5_400_000)
        since, window = (
            step.window_end_epoch_ms - from_ms for from_ms in (began_ms, step.window_start_epoch_ms)
        )
        used.append(Used(use.used_per_s, EARNED_IOPS * since / window))
        balance_percent = use.balance_percent
    assert balance_percent is not None
    return result.capacity, used, balance_percent


def is_steady(capacity: Capacity) -> bool:
    """Say whether no load was much slower in the second half of its window.

    The load is its own baseline: it fails by its credits, or because this machine stood still.
    """
    reasons = {reason for load in capacity.steps for reason in load.reasons}
    assert reasons <= {"credits", "unsteady"}
    return "unsteady" not in reasons


@pytest.mark.whole  # tests/unit/capacity/test_credits.py judges it
def test_what_credits_pay_for_is_a_burst_and_no_capacity(bench: Bench) -> None:
    capacity, windows, balance_percent = answer(bench, "on-credits")
    spent = [used.iops for used in windows if used.iops > 309]
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
    capacity, windows, balance_percent = answer(bench, "without-credits", drained)
    assert balance_percent < 1
    assert all(used.iops <= used.earned_iops for used in windows)
    assert capacity.burst is None
    # what was earned before a window may be spent in it
    if is_steady(capacity) and max(used.iops for used in windows) <= 309:
        assert capacity.verdict == "LOWER_BOUND"
        assert capacity.max_sustainable_throughput_ops_per_second is not None
