"""What an operation takes, by the load."""

import math
import random

import pytest

from plimsoll.sizing.queueing import fit_trend


def test_commits_that_come_together_take_less_each() -> None:
    """From 2 at one under way to 1 at four: a slope of -1/2 of the logarithms."""
    found = fit_trend([(1, 2.0), (4, 1.0)])
    assert found is not None
    assert found.slope == pytest.approx(-0.5)
    assert found.at(2).mid == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(("load", "each"), [(16, 1.0), (0.5, 2.0)])
def test_nothing_is_counted_on_beyond_what_was_measured(load: float, each: float) -> None:
    found = fit_trend([(1, 2.0), (4, 1.0)])
    assert found is not None
    assert found.at(load).mid == pytest.approx(each)


@pytest.mark.parametrize(("load", "least"), [(4, 1.0), (16, 0.5), (64, 0.5)])
def test_that_it_goes_on_falling_for_a_while_is_held_possible(load: float, least: float) -> None:
    found = fit_trend([(1, 2.0), (4, 1.0)])
    assert found is not None
    assert found.at(load).low == pytest.approx(least / 1.15)
    assert found.at(load).high == pytest.approx(1.15)


def test_what_rises_is_scatter() -> None:
    found = fit_trend([(1, 1.0), (4, 2.0)])
    assert found is not None
    assert found.at(1).mid == found.at(4).mid == pytest.approx(math.sqrt(2))


def test_of_few_steps_the_interval_is_wide_of_alike_ones_five_percent() -> None:
    few, alike = (
        fit_trend([(1, 2.0), (4, 1.0)]),
        fit_trend([(load, 2.0) for load in (1, 2, 3, 4, 6, 8)]),
    )
    assert few is not None
    assert alike is not None
    assert few.at(4).low == pytest.approx(1 / 1.15)
    assert (alike.at(4).low, alike.at(4).high) == pytest.approx((2 / 1.05, 2.1))


def test_scatter_widens_the_interval_by_students_t() -> None:
    """Logarithms of +-0.1 about 0 at one load: deviation 0.1155 of 4, t of 3 degrees 2.3534."""
    found = fit_trend([(2, math.exp(x)) for x in (0.1, -0.1, 0.1, -0.1)])
    assert found is not None
    assert found.spread == pytest.approx(2.3534 * math.sqrt(0.04 / 3) / 2, rel=1e-4)


def test_however_wide_the_interval_nothing_is_taken_for_free() -> None:
    found = fit_trend([(2, 1.0), (2, 1e-6), (2, 10.0)])
    assert found is not None
    assert found.spread > 1
    assert found.at(2).low > 0


@pytest.mark.parametrize("points", [[], [(1, 0.0)], [(0.0, 1.0)]])
def test_of_nothing_there_is_no_trend(points: list[tuple[float, float]]) -> None:
    assert fit_trend(points) is None


def test_at_the_ends_of_the_loads_the_interval_is_wider_and_covers_what_it_states() -> None:
    """With the standard error of the mean alone, a stated 90 % covered 72 % at the heavy end."""
    rng, loads, covered, trials = random.Random(39), (1, 2, 4, 8, 16, 32), 0, 400
    for _ in range(trials):
        points = [(load, 2.0 * load**-0.3 * math.exp(rng.gauss(0, 0.15))) for load in loads]
        found = fit_trend(points)
        assert found is not None
        guess = found.at(32)
        covered += guess.low <= 2.0 * 32**-0.3 <= guess.high
        assert found.at(32).high / found.at(32).mid > found.at(5.66).high / found.at(5.66).mid
    assert 0.84 <= covered / trials <= 0.96
