"""The tests of a step: what each is for, on few seeds. docs/evidence/checks.md counts on many."""

import numpy as np
import pytest

from benchmarks.change_points import Draw, correlated, normal, with_outliers
from plimsoll.checks.statistics import (
    clip_outliers,
    compare_correlated_means,
    compare_ranks,
    detect_step,
    is_clear_step,
    split_and_winsorize,
)

P_VALUE_MAX = 0.001
SEEDS = 100


def significant(noise: Draw, drop: float, runs_after: int) -> int:
    """Count the histories in which a step at a known place, after 40 runs, is significant."""
    found = 0
    for seed in range(SEEDS):
        figures = noise(np.random.default_rng([1, seed]), 40 + runs_after)
        figures[40:] *= 1 - drop
        before, after = split_and_winsorize(figures.tolist(), [40])
        sides = (figures[:40].tolist(), figures[40:].tolist())
        found += detect_step(*sides, (before, after), most=P_VALUE_MAX)[1]
    return found


def test_an_outlier_counts_at_its_bound_and_the_other_figures_as_they_are() -> None:
    [part] = split_and_winsorize([10, 11, 9, 10, 12, 8, 10, 90], [])
    assert part[:7].tolist() == [10, 11, 9, 10, 12, 8, 10]
    assert part[7] == pytest.approx(10 + 2.5 * 1.4826)  # the median deviation is 1


def test_where_places_are_sought_an_outlier_counts_at_a_bound_and_a_step_as_it_is() -> None:
    low, high = [10.0, 11, 9, 10, 12, 8, 10], [1010.0, 1011, 1009, 1012, 1008]
    held = clip_outliers([*low, 0, *low, *high])
    assert held[7] == pytest.approx(10 - 3 * 1.4826)  # the median deviation is 1
    assert held[15:].tolist() == high


def test_the_end_of_a_short_step_is_no_outlier_of_a_long_level() -> None:
    figures = [1 + index % 3 / 1000 for index in range(10)] + [
        1e9 + index % 3 for index in range(9)
    ]
    assert clip_outliers(figures)[10] == figures[10]


def test_where_most_figures_are_alike_none_is_held() -> None:
    assert clip_outliers([5, 5, 5, 5, 7]).tolist() == [5, 5, 5, 5, 7]
    assert split_and_winsorize([5, 5, 5, 5, 7], [])[0].tolist() == [5, 5, 5, 5, 7]


def test_runs_that_resemble_each_other_are_worth_fewer() -> None:
    apart = np.array([10.0, 12, 9, 11, 10, 12, 9, 11])
    alike = np.sort(apart)  # as much scatter, around the same mean
    assert (
        compare_correlated_means(apart, apart - 3) < compare_correlated_means(alike, alike - 3) / 3
    )


def test_few_figures_and_those_without_noise_have_a_p_value() -> None:
    assert compare_correlated_means(np.array([1.0]), np.array([2.0, 3.0])) == 1
    assert compare_correlated_means(np.ones(4), np.zeros(4)) < 1e-9


def test_the_rank_test_counts_orders() -> None:
    # of C(7, 3) = 35 orders, two are as extreme as this one
    assert compare_ranks([1, 2, 3, 4], [5, 6, 7]) == pytest.approx(2 / 35)


def test_a_step_is_clear_if_it_is_larger_than_all_before_have_ranged() -> None:
    before = [100.0, 101, 99, 100, 102, 98, 100, 101]
    assert is_clear_step(before, [93.9, 93])
    assert is_clear_step(before, [106.1, 107])
    assert not is_clear_step(before, [94.1, 90])
    assert not is_clear_step(before, [90])
    assert not is_clear_step(before[:7], [90, 90])
    assert is_clear_step(before[:4], [90, 90, 90, 90])


@pytest.mark.parametrize(
    "noise", [normal(0.05), with_outliers(0.05), correlated(0.05)], ids=["normal", "out", "AR"]
)
def test_noise_alone_is_seldom_significant_at_a_known_place(
    noise: Draw,
) -> None:
    for runs_after in (2, 5, 10):
        assert significant(noise, 0, runs_after) <= 1


@pytest.mark.parametrize(
    ("noise", "share_min"),
    [(normal(0.05), 0.9), (with_outliers(0.05), 0.8)],
    ids=["normal", "out"],
)
def test_a_drop_of_10_percent_is_significant_after_ten_runs(noise: Draw, share_min: float) -> None:
    assert significant(noise, 0.10, 10) >= share_min * SEEDS


def test_students_t_alone_would_take_correlated_noise_for_a_step() -> None:
    from scipy import stats  # noqa: PLC0415 - takes long, and every worker collects

    taken = 0
    for seed in range(SEEDS):
        figures = correlated(0.05)(np.random.default_rng([1, seed]), 50)
        taken += stats.ttest_ind(figures[:40], figures[40:]).pvalue <= P_VALUE_MAX
    assert taken >= 4
