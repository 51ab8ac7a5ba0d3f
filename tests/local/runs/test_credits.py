"""A gp2 volume with and without its burst credits: what lasts is not what credits pay for."""

from typing import Any

import pytest

from plimsoll.model.capacity import Capacity
from plimsoll.model.request import Fault
from plimsoll.model.steps import CLOSING
from plimsoll.model.volume_faults import Drain
from tests.local.runs.conftest import Bench, measured, tiny

GP2: dict[str, Any] = {
    "target__volume": {"type": "gp2", "size_gib": 100},  # 300 IOPS that last, 3,000 with credits
    "search__connections_per_client": 4,  # commits at once: more than 300 log writes a second
    "load__duration_s": 4,
    "load__warmup_s": 2,
}
# in the window at most what it earns from the drain on: 300 IOPS for the warm-up and the window
WITHOUT_CREDITS_MOST_IOPS = 300 * (2 + 4) / 4


def answer(bench: Bench, name: str, *faults: Fault) -> tuple[Capacity, float, float]:
    """Run it; gives the answer, the IOPS used and the least burst balance in the answer's step.

    A fast machine questions the answer with another step, by clients that poll.
    """
    request = tiny(name, **GP2).model_copy(update={"faults": faults})
    _, result = bench.succeed(bench.start(request))
    assert result.capacity is not None
    step = [s.step for s in measured(result) if s.step.purpose not in CLOSING][-1]
    (volume,) = [use for use in step.credits or () if use.bucket == "volume"]
    assert (volume.earned_per_s, volume.full) == (300, 5_400_000)
    assert volume.balance_percent is not None
    return result.capacity, volume.used_per_s, volume.balance_percent


@pytest.mark.whole  # tests/unit/capacity/test_credits.py judges it
def test_what_credits_pay_for_is_a_burst_and_no_capacity(bench: Bench) -> None:
    capacity, iops, balance_percent = answer(bench, "on-credits")
    assert iops > 309, "else nothing was spent"
    assert balance_percent > 99
    assert capacity.verdict == "BURST"
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert capacity.burst is not None
    assert capacity.burst.lasts_s == pytest.approx(5_400_000 / (iops - 300))


def test_without_credits_it_is_what_lasts(bench: Bench) -> None:
    drained = Fault(step=1, after_s=0, volume=Drain())
    capacity, iops, balance_percent = answer(bench, "without-credits", drained)
    assert balance_percent < 1
    assert iops <= WITHOUT_CREDITS_MOST_IOPS
    assert capacity.burst is None
    if iops <= 309:  # what was earned before the window may be spent in it
        assert capacity.verdict == "LOWER_BOUND"
        assert capacity.max_sustainable_throughput_ops_per_second is not None
