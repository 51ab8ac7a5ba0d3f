"""Counts of two states: Student's tails, Holm's procedure, and how often it raises an alarm."""

import math
from random import Random

import pytest

from plimsoll.capacity.statistics.counts import (
    compute_detectable_difference,
    compute_p_value,
    compute_t_tail,
    estimate_count_noise,
    find_critical_t,
    select_changed,
)
from plimsoll.capacity.statistics.intervals import find_t_quantile


@pytest.mark.parametrize("degrees", range(1, 31))
def test_the_tail_agrees_with_the_table_of_quantiles(degrees: int) -> None:
    assert compute_t_tail(find_t_quantile(0.025, degrees), degrees) == pytest.approx(0.05, rel=2e-3)
    assert compute_t_tail(find_t_quantile(0.05, degrees), degrees) == pytest.approx(0.10, rel=2e-3)


def integrate_tail(t: float, degrees: int) -> float:
    """Integrate the density from t on, in steps that grow with t."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)
    total, x = 0.0, t
    for _ in range(40_000):
        step = x * 1e-3
        middle = x + step / 2
        total += step * scale * (1 + middle * middle / degrees) ** (-(degrees + 1) / 2)
        x += step
    return 2 * total


@pytest.mark.parametrize(("t", "degrees"), [(8.0, 10), (15.0, 10), (40.0, 4), (9.0, 22)])
def test_far_tails_agree_with_the_integral_of_the_density(t: float, degrees: int) -> None:
    assert compute_t_tail(t, degrees) == pytest.approx(integrate_tail(t, degrees), rel=1e-3)


def test_the_farthest_tails_are_never_too_small_and_never_negative() -> None:
    for degrees in (4, 10, 22):
        tails = [compute_t_tail(t, degrees) for t in (0.0, 1.0, 5.0, 20.0, 100.0, 1e4, math.inf)]
        assert tails == sorted(tails, reverse=True)
        assert tails[0] == 1
        assert tails[-1] == 0
        assert compute_t_tail(100.0, degrees) >= integrate_tail(100.0, degrees) * 0.999


def test_a_critical_value_has_its_tail() -> None:
    assert compute_t_tail(find_critical_t(1e-5, 10), 10) == pytest.approx(1e-5)


def test_repetitions_that_agree_exactly_have_noise() -> None:
    assert estimate_count_noise([5.0, 5.0], [5.0, 5.0], events_of_block=1000) == pytest.approx(
        5.0 * 0.002 * math.sqrt(2)
    )
    assert estimate_count_noise([0.0, 0.0], [0.0, 0.0], events_of_block=1000) == pytest.approx(
        0.003 * math.sqrt(2)
    )
    assert compute_p_value([1.0] * 6, [1.001] * 6, 1000) > 0.01
    assert compute_p_value([1.0] * 6, [1.1] * 6, 1000) < 1e-6


def test_holm_accepts_the_smallest_and_stops_at_the_first_that_fails() -> None:
    # compared with 0.05 / 4, / 3, / 2: the third fails, so the fourth is not looked at
    assert select_changed({"d": 0.04, "a": 0.01, "c": 0.03, "b": 0.0166}, 0.05) == {"a", "b"}
    assert select_changed({}, 0.05) == set()


def simulate_alarms(comparisons: int, most: float, *, shift: float = 0.0) -> int:
    """Count comparisons of 60 counts each, six repetitions, that find any change."""
    draws = Random(7)
    found = 0
    for _ in range(comparisons):
        p_values = {}
        for count in range(60):
            moved = shift if count == 0 else 0.0
            before = [draws.gauss(100, 2) for _ in range(6)]
            after = [draws.gauss(100 + moved, 2) for _ in range(6)]
            p_values[count] = compute_p_value(before, after, 1000)
        found += bool(select_changed(p_values, most))
    return found


def test_equal_states_raise_no_more_alarms_than_stated() -> None:
    # binomial with 5 %: more than 35 of 400 has a probability below 0.001
    assert simulate_alarms(400, 0.05) <= 35


def test_the_smallest_detectable_change_is_found_in_most_comparisons() -> None:
    before = [96.5, 98.5, 99.9, 100.1, 101.5, 103.5]
    after = [101.5, 99.9, 96.5, 103.5, 98.5, 100.1]
    least = compute_detectable_difference(before, after, 1000, most=0.005 / 60)
    assert 5 < least < 40
    assert simulate_alarms(40, 0.005, shift=least) >= 34


def test_what_both_of_a_pair_share_is_no_noise() -> None:
    before = [10.0, 14.0, 10.0, 12.0, 14.0, 10.0]
    after = [value * 1.001 for value in before]
    assert estimate_count_noise(before, after, 1000) < 0.04
    assert compute_p_value(before, [value + 1 for value in before], 1000) < 1e-6
