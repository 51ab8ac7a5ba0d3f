"""What the figures of runs on fresh targets say of all targets of their kind.

A run's own interval covers repetitions on its one target. What a new target changes (its host,
volume, layout on disk, a restart) is the same for all of these repetitions, so no interval within
the run can contain it. Figures of several runs, each on a target of its own, scatter by both. Let
the logarithm of a figure be normal, with a part drawn for each target and a part drawn within the
run. Then one figure for each target is an independent sample of the sum, and Student's t on the
logarithms gives two intervals (Hahn and Meeker 1991, "Statistical Intervals", chapters 3 and 4):

- of the mean over targets: +- t * s / sqrt(n);
- of the figure of the next fresh run: +- t * s * sqrt(1 + 1/n), which stays wide for many runs.

`tests/unit/capacity/statistics/test_fresh_targets.py` measures the coverage;
docs/evidence/repeatability.md has the table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from plimsoll.capacity.statistics.intervals import compute_standard_deviation, find_t_quantile

METHOD = "Student's t on logarithms, over fresh targets"


@dataclass(frozen=True)
class OverTargets:
    """The mean over targets, and the figure of the next fresh run, in the unit of the figures.

    Attributes:
        mean: The geometric mean of the figures.
        mean_low: The lower end of the 95 % confidence interval of the mean over all such targets.
        mean_high: The upper end of it.
        next_low: The lower end of the 95 % prediction interval for the next fresh run's figure.
        next_high: The upper end of it.
    """

    mean: float
    mean_low: float
    mean_high: float
    next_low: float
    next_high: float


def estimate_over_targets(
    figures: Sequence[float], deviation_least: float = 0.0
) -> OverTargets | None:
    """Estimate what all targets of a kind give, from one figure for each of several.

    Args:
        figures: The figure of each run, positive, each on a target of its own.
        deviation_least: A lower bound on the standard deviation of their logarithms. In an open
            loop figures are offered rates, and several may be equal by chance.

    Returns:
        None for fewer than two figures, or for equal figures without a lower bound.
    """
    if len(figures) < 2:
        return None
    logs = [math.log(figure) for figure in figures]
    n, middle = len(logs), fmean(logs)
    deviation = max(deviation_least, compute_standard_deviation(logs))
    if deviation < 1e-12:
        return None
    margin = find_t_quantile(0.025, n - 1) * deviation
    of_mean, of_next = margin / math.sqrt(n), margin * math.sqrt(1 + 1 / n)
    return OverTargets(
        mean=math.exp(middle),
        mean_low=math.exp(middle - of_mean),
        mean_high=math.exp(middle + of_mean),
        next_low=math.exp(middle - of_next),
        next_high=math.exp(middle + of_next),
    )
