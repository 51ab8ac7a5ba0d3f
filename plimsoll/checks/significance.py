"""Whether two groups of figures, one after the other, differ by more than their noise.

The noise of a database is not normal: one run in twenty is far out, and a good night follows a good
night. So a step is significant only if two tests say so, one that outliers cannot move and one that
knows of correlation. docs/checks.md has what both together find, and how often they err.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

NEIGHBORS = 10  # runs on each side with which a figure is compared where places are sought
NEIGHBOR_DEVIATIONS = 3.0  # robust standard deviations from their medians at which it counts
OUTLIER_DEVIATIONS = 2.5  # ... from the median of its side of a step, where one is tested
EXACT_RUNS = 8  # the rank test is exact up to so many runs in the smaller group (SciPy's own rule)
CORRELATED_FACTOR = 10  # the t-test's largest p-value, in the rank test's ...
CORRELATED_P_VALUE_MAX = 0.05  # ... but never more than this
CORRELATION_MOST = 0.95
FREEDOM_MIN = 3.0  # degrees of freedom: a large step in few runs leaves no effective runs
# runs before and after a step so large that it needs no rank test: fewer are never enough for one
CLEAR_RUNS_MIN = ((8, 2), (4, 4))

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def clipped(figures: Sequence[float]) -> Floats:
    """Hold each figure that is far from the runs before it and from those after it as well.

    The first and the last are held at nothing: they may begin or end a level of their own.
    """
    runs = np.asarray(figures, dtype=np.float64)
    held = runs.copy()
    for index in range(1, len(runs) - 1):
        near = runs[max(0, index - NEIGHBORS) : index], runs[index + 1 : index + 1 + NEIGHBORS]
        medians = [float(np.median(side)) for side in near]
        residuals = [side - middle for side, middle in zip(near, medians, strict=True)]
        bound = NEIGHBOR_DEVIATIONS * _deviation(np.concatenate(residuals))
        held[index] = _held(runs[index], min(medians), max(medians), bound)
    return held


def winsorized(figures: Sequence[float], places: Sequence[int]) -> list[Floats]:
    """Split figures at places; hold each part's outliers at a bound around its median."""
    parts = np.split(np.asarray(figures, dtype=np.float64), places)
    medians = [float(np.median(part)) for part in parts]
    residuals = [part - middle for part, middle in zip(parts, medians, strict=True)]
    bound = OUTLIER_DEVIATIONS * _deviation(np.concatenate(residuals))
    return [_held(part, middle, middle, bound) for part, middle in zip(parts, medians, strict=True)]


def step_test(
    before: Sequence[float], after: Sequence[float], held: tuple[Floats, Floats], *, most: float
) -> tuple[float, bool]:
    """Test a step.

    Args:
        before: Figures before it.
        after: Figures after it.
        held: Both with their outliers held (`winsorized`).
        most: The rank test's largest p-value of a significant step.

    Returns:
        Its p-value, the rank test's where that decides, and whether it is significant.
    """
    correlated = correlated_p_value(*held)
    if correlated > min(CORRELATED_FACTOR * most, CORRELATED_P_VALUE_MAX):
        return correlated, False
    rank = rank_p_value(before, after)
    if rank > most and clear(before, after):
        return correlated, True
    return rank, rank <= most


def rank_p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """Test whether one group has the larger figures (Mann and Whitney, 1947, two-sided)."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - takes long; a short history needs none

    exact = min(len(before), len(after)) <= EXACT_RUNS
    return float(mannwhitneyu(before, after, method="exact" if exact else "asymptotic").pvalue)


def clear(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether every figure after lies farther out than all before have ever ranged.

    Ranks know no distances: two runs at half the capacity are to them as two a bit low.
    """
    sides = (len(before), len(after))
    if not any(sides[0] >= first and sides[1] >= second for first, second in CLEAR_RUNS_MIN):
        return False
    low, high = min(before), max(before)
    return max(after) < low - (high - low) or min(after) > high + (high - low)


def correlated_p_value(before: Floats, after: Floats) -> float:
    """Test a step in figures of which each resembles the one before it (AR(1) noise): Student's t.

    So many runs are worth fewer, by the factor (1 - r) / (1 + r) (Bayley and Hammersley, J. Royal
    Statistical Society Supplement 8 (1946) 184). The correlation r is that of all runs around one
    mean, as if there were no step: a step makes it larger, and the test more careful.
    """
    from scipy.stats import t  # noqa: PLC0415 - as above

    runs = len(before) + len(after)
    if runs < 4:  # two means, and as many degrees of freedom
        return 1.0
    worth = _worth(np.concatenate([before, after]))
    squares = sum(float(np.sum((part - part.mean()) ** 2)) for part in (before, after))
    variance = squares / (runs - 2) * (1 / len(before) + 1 / len(after)) / worth
    step = abs(float(after.mean() - before.mean()))
    if variance == 0:
        return 1.0 if step == 0 else 0.0
    return float(2 * t.sf(step / sqrt(variance), max(runs * worth - 2, FREEDOM_MIN)))


def _worth(figures: Floats) -> float:
    """Give what a run is worth beside its neighbors: 1 where none resembles the one before it."""
    residuals = figures - figures.mean()
    power = float(residuals @ residuals)
    sample = float(residuals[1:] @ residuals[:-1]) / power if power else 0.0
    correlation = min(max(sample, 0.0), CORRELATION_MOST)
    return (1 - correlation) / (1 + correlation)


def _deviation(residuals: Floats) -> float:
    """Give the robust standard deviation of residuals.

    1.4826 times their median amount (Huber and Ronchetti, Robust Statistics, 2009, chapter 5).
    """
    return 1.4826 * float(np.median(np.abs(residuals)))


def _held(figures: Floats, low: float, high: float, bound: float) -> Floats:
    """Hold figures within a bound of two levels; where half of them are alike, there is none."""
    return np.clip(figures, low - bound, high + bound) if bound > 0 else figures
