"""Confidence sequences: how often any of the intervals lacks the truth, and what they find."""

import math
from random import Random
from typing import Literal

import pytest

from plimsoll.capacity.statistics.sequences import compute_sequence_interval

ERROR = 0.01
MATTERS = math.log(1.03)


def test_too_few_values_have_no_interval() -> None:
    assert compute_sequence_interval([], ERROR) == (-math.inf, math.inf)
    assert compute_sequence_interval([1.0], ERROR) == (-math.inf, math.inf)
    low, high = compute_sequence_interval([1.0, 2.0] * 20, ERROR)
    assert low < 1.5 < high


def test_it_moves_and_scales_with_the_values() -> None:
    values = [0.1, 0.4, 0.2, 0.5, 0.3, 0.2, 0.1, 0.6, 0.2, 0.3]
    low, high = compute_sequence_interval(values, ERROR)
    moved = compute_sequence_interval([5 + 2 * value for value in values], ERROR)
    assert moved == pytest.approx((5 + 2 * low, 5 + 2 * high))


def decide(
    draws: Random, mean: float, deviation: float, pairs: int
) -> Literal["differs", "too small to matter", "undecided"]:
    """Look after each pair, and stop as soon as it is decided."""
    values: list[float] = []
    for _ in range(pairs):
        values.append(draws.gauss(mean, deviation))
        low, high = compute_sequence_interval(values, ERROR)
        if low > 0 or high < 0:
            return "differs"
        if low > -MATTERS and high < MATTERS:
            return "too small to matter"
    return "undecided"


def test_looking_again_and_again_raises_no_more_alarms_than_stated() -> None:
    draws = Random(3)
    outcomes = [decide(draws, 0.0, 0.02, 100) for _ in range(1_000)]
    # 1 % of 1,000 and three standard errors more
    assert outcomes.count("differs") <= 20
    assert outcomes.count("too small to matter") >= 950


def test_a_difference_of_3_percent_is_found() -> None:
    draws = Random(4)
    outcomes = [decide(draws, -math.log(1.03), 0.02, 100) for _ in range(1_000)]
    assert outcomes.count("differs") >= 950
    assert outcomes.count("too small to matter") <= 10
