"""Runs on fresh targets, simulated: what a new target changes, and what changes within a run."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from plimsoll.capacity.statistics.fresh_targets import OverTargets, estimate_over_targets
from plimsoll.capacity.statistics.intervals import compute_interval
from plimsoll.model.judging.capacity import Capacity
from plimsoll.report.comparing.fresh_targets import sample_fresh
from tests.unit.capacity.simulators import Target, World
from tests.unit.capacity.trials import run, search_for, shifted

REPETITIONS = 5  # windows of each run at its answer's load
TRUTH = 1000.0  # geometric mean over all targets, ops/s


def draw_figure(random: Random, between: float, within: float) -> float:
    """Draw a run's figure as a run states it: the lower end of the interval of its repetitions.

    Args:
        random: What is drawn from.
        between: Standard deviation of the logarithm of throughput, from target to target.
        within: Standard deviation of the logarithm of a repetition, on one target.
    """
    target = TRUTH * math.exp(random.gauss(0, between))
    found = compute_interval(
        [target * math.exp(random.gauss(0, within)) for _ in range(REPETITIONS)]
    )
    assert found is not None
    return found.low_ops_per_second


def draw_mean(random: Random, between: float, within: float) -> float:
    """Draw a run's figure as the geometric mean of its repetitions."""
    return TRUTH * math.exp(
        random.gauss(0, between) + random.gauss(0, within) / math.sqrt(REPETITIONS)
    )


Draw = Callable[[Random, float, float], float]


def cover_next(n: int, between: float, within: float, seeds: range, draw: Draw) -> float:
    """Return how often the prediction interval of n fresh runs holds the next one's figure."""
    held = 0
    for seed in seeds:
        random = Random(seed)
        figures = [draw(random, between, within) for _ in range(n)]
        held += holds_next(estimate_over_targets(figures), draw(random, between, within))
    return held / len(seeds)


def cover_mean(n: int, between: float, within: float, seeds: range) -> float:
    """Return how often the interval of the mean over n fresh targets holds that over all."""
    held = 0
    for seed in seeds:
        random = Random(seed)
        found = estimate_over_targets([draw_mean(random, between, within) for _ in range(n)])
        assert found is not None
        held += found.mean_low <= TRUTH <= found.mean_high
    return held / len(seeds)


def cover_next_alone(between: float, within: float, seeds: range) -> float:
    """Return how often one run's own interval holds the geometric mean of the next fresh run."""
    held = 0
    for seed in seeds:
        random = Random(seed)
        target = TRUTH * math.exp(random.gauss(0, between))
        own = compute_interval(
            [target * math.exp(random.gauss(0, within)) for _ in range(REPETITIONS)]
        )
        assert own is not None
        next_mean = draw_mean(random, between, within)
        held += own.low_ops_per_second <= next_mean <= own.high_ops_per_second
    return held / len(seeds)


def holds_next(found: OverTargets | None, figure: float) -> bool:
    """Return whether a prediction interval holds a figure; without an interval it does not."""
    return found is not None and found.next_low <= figure <= found.next_high


# --- whole searches, each on a simulated database that is a little faster or slower ---


def search_fresh(
    strategy: str, target: Target, between: float, noise: float, seeds: range
) -> list[Capacity]:
    """Search for the load line of a fresh target of one kind with each seed."""
    search = search_for(strategy, target)
    found = []
    for seed in seeds:
        speed = math.exp(Random(-seed - 7).gauss(0, between))
        fresh = make_faster(target, speed)
        found.append(run(shifted(search, seed), fresh, World(noise=noise), seed).capacity)
    return found


def make_faster(target: Target, speed: float) -> Target:
    """Return a database that is faster by a factor: its ceiling, and each operation."""
    return replace(
        target,
        ceiling_ops_per_second=target.ceiling_ops_per_second * speed,
        latency_s=lambda throughput: target.latency_s(throughput / speed) / speed,
    )


def cover_next_search(
    n: int, found: Sequence[Capacity], draws: int, seed: int
) -> tuple[float, float]:
    """Draw n runs and a next one, again and again.

    Returns:
        How often the prediction interval holds the next figure, of the draws that have an interval;
        and their share of all draws.
    """
    random = Random(seed)
    exact = [capacity for capacity in found if capacity.bound == "="]
    held = stated = 0
    for _ in range(draws):
        *runs, after = random.sample(exact, n + 1)
        sample = sample_fresh(runs)
        estimate = estimate_over_targets(sample.figures, sample.deviation_least)
        stated += estimate is not None
        held += holds_next(estimate, sample_fresh([after]).figures[0])
    return held / stated if stated else math.nan, stated / draws
