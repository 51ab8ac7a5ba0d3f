"""The effects of a 2 x 2 are those of the textbook, and their intervals cover the truth."""

import math
import random
from collections.abc import Sequence

import pytest

from plimsoll.capacity.statistics.contrasts import estimate_contrast, estimate_mean
from plimsoll.capacity.statistics.factorial import Effects, estimate_effects

# Jain (1991), example 18.1: MIPS of a workstation by memory and cache, three repetitions each.
# His model adds, ours is of logarithms: these are figures whose logarithms are his.
JAIN = [
    [math.exp(value / 100) for value in cell]
    for cell in ((15, 18, 12), (25, 28, 19), (45, 48, 51), (75, 75, 81))
]


def effects(*cells: Sequence[float]) -> Effects:
    return estimate_effects([estimate_mean(cell) for cell in cells])


def test_the_effects_are_those_of_jains_example() -> None:
    """He finds q0 = 41, qA = 21.5, qB = 9.5 and qAB = 5."""
    found = effects(*JAIN)
    assert found.first.ratio == pytest.approx(math.exp(2 * 21.5 / 100))
    assert found.second.ratio == pytest.approx(math.exp(2 * 9.5 / 100))
    assert found.interaction.ratio == pytest.approx(math.exp(4 * 5 / 100))


def test_a_gain_in_one_row_is_that_of_the_two_targets_compared_alone() -> None:
    found = effects(*JAIN)
    assert found.second_at_low.ratio * found.interaction.ratio == pytest.approx(
        found.second_at_high.ratio
    )
    for gain, pair in ((found.second_at_low, JAIN[:2]), (found.second_at_high, JAIN[2:])):
        assert gain == estimate_contrast((-1, 1), [estimate_mean(cell) for cell in pair])


def test_without_repetitions_there_are_ratios_and_no_intervals() -> None:
    found = effects((100.0,), (100.0,), (300.0,), (420.0,))
    for effect in (found.second_at_high, found.interaction):
        assert effect.ratio == pytest.approx(1.4)
        assert (effect.low, effect.high) == (None, None)


def test_one_cell_without_repetitions_takes_the_interval_of_what_rests_on_it() -> None:
    found = effects((100.0,), (101.0, 99.0), (300.0, 301.0), (420.0, 419.0))
    assert found.second_at_low.low is None
    assert found.interaction.low is None
    assert found.second_at_high.low is not None


def test_equal_repetitions_are_sure() -> None:
    found = effects((100.0, 100.0), (100.0, 100.0), (300.0, 300.0), (420.0, 420.0))
    assert (found.interaction.low, found.interaction.high) == pytest.approx((1.4, 1.4))


def test_the_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Cells that scatter by 2 % and by 10 %, three repetitions each; the gain is 1.4 on one row."""
    draws = random.Random(18)

    def cell(middle: float, scatter: float) -> list[float]:
        return [middle * math.exp(draws.gauss(0, scatter)) for _ in range(3)]

    covered = 0
    for _ in range(400):
        found = effects(cell(100, 0.02), cell(100, 0.02), cell(300, 0.1), cell(420, 0.02))
        assert found.interaction.low is not None
        assert found.interaction.high is not None
        covered += found.interaction.low <= 1.4 <= found.interaction.high
    assert 370 <= covered <= 396  # 380 of 400 are 95 %
