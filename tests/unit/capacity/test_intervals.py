"""The interval keeps its word: 95 in 100 cover the truth. The percentile bootstrap would not."""

import math
from random import Random

import numpy as np
import pytest

from plimsoll.capacity import judge
from plimsoll.capacity.intervals import SEED, interval, relative_margin, t_quantile
from plimsoll.model.capacity import Rules
from plimsoll.model.search_request import NextStep
from tests.unit.capacity.simulators import answer, queue

TRIALS = 1_000  # 93 to 97 % is then 2.9 standard errors on either side of 95 %


ASKED = NextStep(index=0, clients=1, connections=24, purpose="confirm", why="")
TRUTH = answer(queue(), ASKED, 0.0, Random()).throughput_ops_per_second or 0.0


def repetitions(n: int, noise: float, seed: int) -> list[float]:
    """Throughputs of one load of the simulated queue; without noise each would be `TRUTH`."""
    target, random = queue(), Random(seed)
    steps = [answer(target, ASKED, noise, random) for _ in range(n)]
    return [step.throughput_ops_per_second or 0.0 for step in steps]


def coverage(n: int, noise: float, trials: int = TRIALS) -> float:
    covered = 0
    for seed in range(trials):
        values = repetitions(n, noise, seed)
        found = interval(values)
        assert found is not None
        covered += found.low_ops_per_second <= TRUTH <= found.high_ops_per_second
    return covered / trials


@pytest.mark.parametrize(("n", "noise"), [(3, 0.10), (5, 0.10), (10, 0.10)])
def test_95_in_100_intervals_cover_the_truth_of_the_simulator(n: int, noise: float) -> None:
    assert 0.93 <= coverage(n, noise) <= 0.97


def test_the_percentile_bootstrap_would_cover_75_in_100_of_three_repetitions() -> None:
    covered = 0
    for seed in range(1000):
        values = repetitions(3, 0.10, seed)
        resamples = np.random.default_rng(seed).choice(values, (200, 3)).mean(axis=1)
        low, high = np.quantile(resamples, (0.025, 0.975))
        covered += low <= TRUTH <= high
    assert 0.68 <= covered / 1000 <= 0.80


@pytest.mark.parametrize(
    ("n", "method", "seed"),
    [
        (2, "Student's t on logarithms", None),
        (4, "Student's t on logarithms", None),
        (5, "studentized bootstrap on logarithms", SEED),
    ],
)
def test_the_method_and_its_seed_are_named(n: int, method: str, seed: int | None) -> None:
    found = interval([1000.0 + 10 * i for i in range(n)])
    assert found is not None
    assert (found.method, found.seed, found.repetitions) == (method, seed, n)
    assert found.low_ops_per_second < 1000 < found.high_ops_per_second


def test_students_t_by_hand() -> None:
    found = interval([900.0, 1000.0, 1100.0])
    assert found is not None
    logs = [math.log(x) for x in (900, 1000, 1100)]
    middle = sum(logs) / 3
    error = math.sqrt(sum((x - middle) ** 2 for x in logs) / 2 / 3)
    assert found.low_ops_per_second == pytest.approx(math.exp(middle - 4.3027 * error))
    assert found.high_ops_per_second == pytest.approx(math.exp(middle + 4.3027 * error))


@pytest.mark.parametrize("values", [[1000.0], [0.0, 1000.0]])
def test_no_interval_where_there_is_none(values: list[float]) -> None:
    assert interval(values) is None
    assert relative_margin(values, 0.025) == math.inf


def test_identical_repetitions_have_an_interval_of_one_point() -> None:
    found = interval([5600.0] * 5)
    assert found is not None
    assert (found.low_ops_per_second, found.high_ops_per_second) == (5600, 5600)


@pytest.mark.parametrize("degrees", [1, 2, 5, 20, 21, 40, 200])
def test_quantiles_of_students_t_are_those_that_sampling_gives(degrees: int) -> None:
    sampled = np.random.default_rng(1).standard_t(degrees, 400_000)
    assert t_quantile(0.05, degrees) == pytest.approx(np.quantile(sampled, 0.95), rel=0.02)
    assert t_quantile(0.025, degrees) == pytest.approx(np.quantile(sampled, 0.975), rel=0.03)


def test_the_interval_of_the_answer_covers_the_truth_of_its_load() -> None:
    """The whole way: an interval on a capacity, not on a bare list."""
    random, target = Random(7), queue()
    asked = NextStep(index=0, clients=8, connections=8, purpose="confirm", why="")
    steps = [answer(target, asked, 0.05, random) for _ in range(8)]
    truth = answer(target, asked, 0.0, random).throughput_ops_per_second or 0.0
    found = judge(steps, Rules(confirmation=None)).interval
    assert found is not None
    assert found.repetitions == 8
    assert found.low_ops_per_second < truth < found.high_ops_per_second
