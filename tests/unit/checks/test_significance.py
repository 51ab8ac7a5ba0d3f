"""The tests of a step: what each is for, on few seeds. docs/checks.md counts on many."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from benchmarks.change_points import Draw, correlated, normal, with_outliers
from plimsoll.checks.significance import (
    clear,
    correlated_p_value,
    correlation_at_most,
    normal_scores,
    p_value_of_step,
    rank_p_value,
    winsorized,
)

P_VALUE_MAX = 0.002
SEEDS = 40


def p_values(noise: Draw, drop: float, runs_after: int) -> list[float]:
    """Test a step at a known place after 40 runs."""
    found = []
    for seed in range(SEEDS):
        figures = noise(np.random.default_rng([1, seed]), 40 + runs_after)
        figures[40:] *= 1 - drop
        before, after = winsorized(figures.tolist(), [40])
        sides = (figures[:40].tolist(), figures[40:].tolist())
        found.append(p_value_of_step(*sides, (before, after), most=P_VALUE_MAX))
    return found


def test_an_outlier_counts_at_its_bound_and_the_other_figures_as_they_are() -> None:
    [part] = winsorized([10, 11, 9, 10, 12, 8, 10, 90], [])
    assert part[:7].tolist() == [10, 11, 9, 10, 12, 8, 10]
    assert part[7] == pytest.approx(10 + 2.5 * 1.4826)  # the median deviation is 1


def test_ranks_become_normal_quantiles_and_equal_figures_equal_ones() -> None:
    scores = normal_scores([5, 1e9, 5, -3])
    assert scores.tolist() == pytest.approx(stats.norm.ppf([2.5 / 5, 4 / 5, 2.5 / 5, 1 / 5]))


def test_the_bound_of_the_correlation_nears_it_with_more_runs() -> None:
    def bound(noise: Callable[[float], Draw], runs: int) -> float:
        figures = noise(0.05)(np.random.default_rng(3), runs)
        return correlation_at_most(figures[: runs // 2], figures[runs // 2 :])

    assert bound(normal, 20000) == pytest.approx(0, abs=0.03)
    assert bound(correlated, 20000) == pytest.approx(0.7, abs=0.03)
    assert bound(normal, 12) > 0.5
    assert bound(correlated, 40) > 0.7


def test_of_figures_alike_the_bound_is_the_samples_alone() -> None:
    assert correlation_at_most(np.ones(50), np.ones(50)) == pytest.approx(0.2, abs=0.03)


def test_few_figures_and_those_without_noise_have_a_p_value() -> None:
    assert correlated_p_value(np.array([1.0]), np.array([2.0, 3.0])) == 1
    assert correlated_p_value(np.ones(4), np.zeros(4)) < 1e-9


def test_the_rank_test_counts_orders() -> None:
    # of C(7, 3) = 35 orders, two are as extreme as this one
    assert rank_p_value([1, 2, 3, 4], [5, 6, 7]) == pytest.approx(2 / 35)


def test_a_step_is_clear_if_it_is_larger_than_all_before_have_ranged() -> None:
    before = [100.0, 101, 99, 100, 102, 98, 100, 101]
    assert clear(before, [93.9, 93])
    assert clear(before, [106.1, 107])
    assert not clear(before, [94.1, 90])
    assert not clear(before, [90])
    assert not clear(before[:7], [90, 90])


@pytest.mark.parametrize(
    "noise", [normal(0.05), with_outliers(0.05), correlated(0.05)], ids=["normal", "out", "AR"]
)
def test_noise_alone_is_seldom_significant_at_a_known_place(
    noise: Draw,
) -> None:
    for runs_after in (2, 5, 10):
        assert sum(p <= P_VALUE_MAX for p in p_values(noise, 0, runs_after)) <= 1


@pytest.mark.parametrize(
    ("noise", "share_min"),
    [(normal(0.05), 0.9), (with_outliers(0.05), 0.8)],
    ids=["normal", "out"],
)
def test_a_drop_of_15_percent_is_significant_after_ten_runs(noise: Draw, share_min: float) -> None:
    seen = [p <= P_VALUE_MAX for p in p_values(noise, 0.15, 10)]
    assert sum(seen) >= share_min * SEEDS


def test_students_t_alone_would_take_correlated_noise_for_a_step() -> None:
    taken = 0
    for seed in range(SEEDS):
        figures = correlated(0.05)(np.random.default_rng([1, seed]), 50)
        taken += stats.ttest_ind(figures[:40], figures[40:]).pvalue <= P_VALUE_MAX
    assert taken >= 4
