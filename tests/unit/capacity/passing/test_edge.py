"""Where the edge lies: a range that is never narrower than what was seen.

How often it covers the true edge, `test_search.py` and `test_bad_windows.py` show.
"""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from tests.unit.capacity.samples import LINEAR, offered, step
from tests.unit.capacity.simulators import NOISY, QUIET, queue
from tests.unit.capacity.trials import run, search_for


@pytest.mark.parametrize("strategy", ["steps", "ramp", "rate"])
def test_what_was_seen_lies_within(strategy: str) -> None:
    for seed in range(8):
        capacity = run(search_for(strategy, queue()), queue(), NOISY, seed).capacity
        if capacity.edge is not None and capacity.bracket is not None:
            passed, failed = capacity.bracket
            assert passed is not None
            assert failed is not None
            assert capacity.edge.low <= passed < failed <= capacity.edge.high
            assert capacity.edge.confidence == 0.90


def test_without_noise_the_range_is_what_was_seen() -> None:
    capacity = run(search_for("rate", queue()), queue(), QUIET, 0).capacity
    assert capacity.edge is not None
    assert (capacity.edge.low, capacity.edge.high) == capacity.bracket


def found(capacity: Capacity) -> tuple[float, float]:
    assert capacity.edge is not None
    return capacity.edge.low, capacity.edge.high


def test_repetitions_make_it_narrower() -> None:
    rules = Rules(confirmation=None)
    rates = (1000.0, 1000.0, 1000.0, 2000.0, 3000.0)
    wobble = (100.0, 120.0, 90.0, 110.0, 105.0)
    light = [offered(r, r, us) for r, us in zip(rates, wobble, strict=True)]
    few = [*light, offered(4000, 3000, 9000)]
    many = [*light, *[offered(3000, 3000, 104)] * 6, *[offered(4000, 3000, 9000)] * 4]
    low, high = found(judge(few, rules))
    closer_low, closer_high = found(judge(many, rules))
    assert low <= closer_low
    assert closer_high < high


def test_of_steps_that_were_never_repeated_nothing_is_claimed() -> None:
    capacity = judge([*LINEAR, step(4, 3100, 301)], Rules(confirmation=None))
    assert capacity.verdict == "KNEE"
    assert capacity.edge is None


def test_operations_of_one_pair_of_steps_are_one_pair() -> None:
    """Three operations of two steps scatter together: they are no three pairs."""

    def seen(clients: int, throughput: float, us: float) -> Step:
        latency_us = {name: {"p99": us} for name in ("read", "update", "scan")}
        alone = step(clients, throughput, us)
        return alone.model_copy(update={"latency_us": latency_us})

    twice = [seen(1, 1000, 100), seen(1, 1000, 105), seen(2, 2000, 100), seen(4, 3000, 900)]
    assert judge(twice, Rules(confirmation=None)).edge is None
    often = [*twice, seen(1, 1000, 103)]
    assert judge(often, Rules(confirmation=None)).edge is not None


def test_a_failure_for_anything_but_latency_is_a_pass_or_a_failure() -> None:
    steps = [
        *[step(1, 1000 + n) for n in range(3)],
        *[step(2, 2000 + n) for n in range(3)],
        *[step(4, 1000 + n) for n in range(3)],
    ]
    capacity = judge(steps, Rules(confirmation=None))
    assert capacity.cause == "retrograde"
    assert capacity.edge is not None
    assert capacity.edge.method == "psychometric function"


def test_results_from_before_there_was_a_range_are_readable() -> None:
    capacity = run(search_for("rate", queue()), queue(), QUIET, 0).capacity
    older = capacity.model_dump(mode="json", exclude={"edge"})
    assert Capacity.model_validate(older).edge is None
