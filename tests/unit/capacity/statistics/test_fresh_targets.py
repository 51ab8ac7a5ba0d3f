"""Intervals over fresh targets keep their word where targets differ; a run's own does not."""

import math

import pytest

from plimsoll.capacity.statistics.fresh_targets import estimate_over_targets
from plimsoll.capacity.statistics.intervals import find_t_quantile
from tests.unit.capacity.fresh_runs import (
    cover_mean,
    cover_next,
    cover_next_alone,
    cover_next_search,
    draw_figure,
    draw_mean,
    search_fresh,
)
from tests.unit.capacity.simulators import queue

SEEDS = range(39_000, 41_000)  # 93 % is then 4 standard errors below 95 %
SCATTER = [(0.0, 0.05), (0.02, 0.05), (0.05, 0.02)]  # between targets, within a run


@pytest.mark.parametrize("n", [3, 5, pytest.param(10, marks=pytest.mark.whole)])
@pytest.mark.parametrize(("between", "within"), SCATTER)
def test_93_in_100_prediction_intervals_hold_the_next_fresh_run(
    n: int, between: float, within: float
) -> None:
    """The stated 95 are kept, though a figure is the lower end of an interval, and not normal."""
    assert cover_next(n, between, within, SEEDS, draw_figure) >= 0.93


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize(("between", "within"), SCATTER)
def test_so_they_do_with_means_as_figures_and_not_much_more(
    n: int, between: float, within: float
) -> None:
    assert 0.93 <= cover_next(n, between, within, SEEDS, draw_mean) <= 0.97


@pytest.mark.parametrize("n", [2, 3, 10])
def test_95_in_100_intervals_hold_the_mean_over_all_targets(n: int) -> None:
    assert 0.93 <= cover_mean(n, 0.05, 0.05, SEEDS) <= 0.97


def test_a_runs_own_interval_does_not_hold_the_next_where_targets_differ() -> None:
    assert cover_next_alone(0.05, 0.02, SEEDS) < 0.4


@pytest.mark.parametrize("strategy", ["ramp", pytest.param("rate", marks=pytest.mark.whole)])
def test_so_they_do_with_whole_searches(strategy: str) -> None:
    found = search_fresh(strategy, queue(), 0.03, 0.05, range(39_000, 39_100))
    held, stated = cover_next_search(3, found, 2_000, 39)
    assert stated == 1
    assert held >= 0.93


def test_the_two_intervals_are_students() -> None:
    found = estimate_over_targets([900.0, 1000.0, 1100.0])
    assert found is not None
    logs = [math.log(x) for x in (900, 1000, 1100)]
    middle = sum(logs) / 3
    deviation = math.sqrt(sum((x - middle) ** 2 for x in logs) / 2)
    margin = find_t_quantile(0.025, 2) * deviation
    assert math.log(found.mean) == pytest.approx(middle)
    assert math.log(found.mean_high / found.mean) == pytest.approx(margin / math.sqrt(3))
    assert math.log(found.next_high / found.mean) == pytest.approx(margin * math.sqrt(4 / 3))
    assert found.mean / found.next_low == pytest.approx(found.next_high / found.mean)


def test_without_two_figures_or_any_scatter_there_is_no_interval() -> None:
    assert estimate_over_targets([]) is None
    assert estimate_over_targets([1000.0]) is None
    assert estimate_over_targets([1000.0] * 3) is None  # rates of a grid may be equal by chance
    with_edges = estimate_over_targets([1000.0] * 3, deviation_least=0.02)
    assert with_edges is not None
    assert math.log(with_edges.next_high / 1000) == pytest.approx(4.3027 * 0.02 * math.sqrt(4 / 3))
