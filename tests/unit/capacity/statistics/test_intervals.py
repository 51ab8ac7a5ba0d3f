"""The interval keeps its word: 95 in 100 cover the truth. The percentile bootstrap would not."""

import math
from random import Random

import numpy as np
import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.statistics.intervals import (
    compute_interval,
    compute_median_margin,
    compute_relative_margin,
    compute_robust_deviation,
    drop_outliers,
    estimate_pooled_noise,
    find_t_quantile,
)
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.search_request import NextStep
from tests.unit.capacity.simulators import NOISY, QUIET, World, answer, queue

TRIALS = 1_000  # 93 to 97 % is then 2.9 standard errors on either side of 95 %


ASKED = NextStep(index=0, clients=1, connections=24, purpose="confirm", why="")
TRUTH = answer(queue(), ASKED, QUIET, Random()).throughput_ops_per_second or 0.0


def repetitions(n: int, world: World, seed: int) -> list[float]:
    """Throughputs of one load of the simulated queue; without noise each would be `TRUTH`."""
    target, random = queue(), Random(seed)
    steps = [answer(target, ASKED, world, random) for _ in range(n)]
    return [step.throughput_ops_per_second or 0.0 for step in steps]


def coverage(n: int, world: World, seeds: range = range(TRIALS)) -> float:
    covered = 0
    for seed in seeds:
        values = repetitions(n, world, seed)
        found = compute_interval(values)
        assert found is not None
        covered += found.low_ops_per_second <= TRUTH <= found.high_ops_per_second
    return covered / len(seeds)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_95_in_100_intervals_cover_the_truth_of_the_simulator(n: int) -> None:
    assert 0.93 <= coverage(n, NOISY) <= 0.97


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize(
    "world", [World(noise=0.05, bad_share=0.05), World(noise=0.10, heavy_tails=True)], ids=str
)
def test_so_they_do_with_bad_windows_and_with_heavy_tails(n: int, world: World) -> None:
    assert coverage(n, world) >= 0.93


def test_one_bad_window_does_not_move_the_interval_of_eleven_repetitions_alike() -> None:
    eleven = [7076.0, 7120, 7155, 7180, 7210, 7240, 7270, 7300, 7350, 7410, 7473]
    found, without = compute_interval([*eleven, 3927]), compute_interval(eleven)
    assert found is not None
    assert without is not None
    assert found.repetitions == 11
    assert 7076 < found.low_ops_per_second < 7240
    assert found.method == "Student's t on logarithms, without 1 outlier"
    assert found.model_copy(update={"method": without.method}) == without


def test_outliers_are_few_and_far() -> None:
    values = [100.0, 101, 102, 103, 104, 105, 106, 107]
    assert drop_outliers([*values, 50]) == values
    assert drop_outliers([*values, 96]) == [*values, 96]
    assert drop_outliers([*values, 50, 51, 52]) == [*values, 50, 51, 52]  # more than a quarter
    assert drop_outliers([*values[:6], 50]) == [*values[:6], 50]  # seven: none can be told
    assert drop_outliers([100.0] * 8 + [101]) == [100.0] * 8 + [101]  # within 2 %


@pytest.mark.parametrize("n", [5, 8, 9, 12])
def test_the_scale_of_normal_deviates_is_their_deviation_whatever_one_of_them_is(n: int) -> None:
    random = Random(n)
    samples = [[random.gauss(0, 2) for _ in range(n)] for _ in range(3_000)]
    assert sum(compute_robust_deviation(values) for values in samples) / 3_000 == pytest.approx(
        2, rel=0.05
    )
    spoiled = [compute_robust_deviation([*values[1:], 1e9]) for values in samples]
    assert 2 < sum(spoiled) / 3_000 < 4


def test_noise_is_pooled_from_loads_and_one_bad_window_in_five_does_not_move_it() -> None:
    random = Random(3)
    loads = [[math.exp(0.05 * random.gauss(0, 1)) for _ in range(3)] for _ in range(3_000)]
    assert estimate_pooled_noise(loads) == pytest.approx(0.05, rel=0.05)
    assert estimate_pooled_noise([[1.0, 1.02, 0.98, 0.99, 0.5]]) < 0.05
    assert estimate_pooled_noise([[1.0], [0.0, 1.0]]) == 0


def test_the_percentile_bootstrap_would_cover_75_in_100_of_three_repetitions() -> None:
    covered = 0
    for seed in range(1000):
        values = repetitions(3, NOISY, seed)
        resamples = np.random.default_rng(seed).choice(values, (200, 3)).mean(axis=1)
        low, high = np.quantile(resamples, (0.025, 0.975))
        covered += low <= TRUTH <= high
    assert 0.68 <= covered / 1000 <= 0.80


def test_the_method_is_named() -> None:
    found = compute_interval([1000.0 + 10 * i for i in range(5)])
    assert found is not None
    assert (found.method, found.repetitions) == ("Student's t on logarithms", 5)
    assert found.low_ops_per_second < 1020 < found.high_ops_per_second


def test_students_t_by_hand() -> None:
    found = compute_interval([900.0, 1000.0, 1100.0])
    assert found is not None
    logs = [math.log(x) for x in (900, 1000, 1100)]
    middle = sum(logs) / 3
    error = math.sqrt(sum((x - middle) ** 2 for x in logs) / 2 / 3)
    assert found.low_ops_per_second == pytest.approx(math.exp(middle - 4.3027 * error))
    assert found.high_ops_per_second == pytest.approx(math.exp(middle + 4.3027 * error))


@pytest.mark.parametrize("values", [[1000.0], [0.0, 1000.0]])
def test_no_interval_where_there_is_none(values: list[float]) -> None:
    assert compute_interval(values) is None
    assert compute_relative_margin(values, 0.025) == math.inf


def test_identical_repetitions_have_an_interval_of_one_point() -> None:
    found = compute_interval([5600.0] * 5)
    assert found is not None
    assert (found.low_ops_per_second, found.high_ops_per_second) == (5600, 5600)


@pytest.mark.parametrize("degrees", [1, 2, 5, 20, 21, 40, 200])
def test_quantiles_of_students_t_are_those_that_sampling_gives(degrees: int) -> None:
    sampled = np.random.default_rng(1).standard_t(degrees, 400_000)
    assert find_t_quantile(0.05, degrees) == pytest.approx(np.quantile(sampled, 0.95), rel=0.02)
    assert find_t_quantile(0.025, degrees) == pytest.approx(np.quantile(sampled, 0.975), rel=0.03)


def test_the_interval_of_the_answer_covers_the_truth_of_its_load() -> None:
    """The whole way: an interval on a capacity, not on a bare list."""
    random, target = Random(7), queue()
    asked = NextStep(index=0, clients=8, connections=8, purpose="confirm", why="")
    steps = [answer(target, asked, World(noise=0.05), random) for _ in range(8)]
    truth = answer(target, asked, QUIET, random).throughput_ops_per_second or 0.0
    found = judge(steps, Rules(confirmation=None)).interval
    assert found is not None
    assert found.repetitions == 8
    assert found.low_ops_per_second < truth < found.high_ops_per_second


def test_the_median_is_as_sure_as_the_sign_test_says() -> None:
    """Of 15 values the fourth is the limit: fewer than four heads in 15 tosses have 1.8 %."""
    values = [100.0 + n for n in range(15)]
    assert compute_median_margin(values) == pytest.approx(1 - 103 / 107)
    assert compute_median_margin([50.0, *values[1:]]) == pytest.approx(
        1 - 103 / 107
    )  # an outlier is one
    assert compute_median_margin(values[:5]) == math.inf
    assert compute_median_margin([]) == math.inf


def test_one_outlier_among_three_repetitions_is_no_noise() -> None:
    assert estimate_pooled_noise([[100.0, 100.0, 400.0]]) == 0
