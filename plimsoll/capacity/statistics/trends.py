"""Tests whether a series has a trend, or only fluctuates.

Mann's test (1945, "Nonparametric Tests Against Trend", Econometrica 13), with the variance by Hamed
and Rao (1998, "A modified Mann-Kendall trend test for autocorrelated data", Journal of Hydrology
204) for series whose values depend on earlier ones: a test that assumes independent seconds takes
the waves of a page cleaner for a trend. The size of the trend is Sen's slope (1968, "Estimates of
the Regression Coefficient Based on Kendall's Tau", JASA 63).
"""

import math
from collections.abc import Sequence
from statistics import NormalDist, mean, median

from plimsoll.model.judging.steps import Trend

LEAST = 6  # values needed: with fewer, every order is likely by chance
# More values are averaged with their neighbors: the number of pairs grows with the square
MOST = 120
SIGNIFICANT = 0.05


def detect_trend(values: Sequence[float]) -> Trend | None:
    """Test equally spaced values for a trend.

    Returns:
        None if there are too few values, or their median is 0.
    """
    series = _average_neighbors(values)
    count = len(series)
    middle = median(series) if series else 0.0
    if count < LEAST or middle == 0:
        return None
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    score = sum(_find_sign(series[j] - series[i]) for i, j in pairs)
    slope = median((series[j] - series[i]) / (j - i) for i, j in pairs)
    ties = [series.count(value) for value in set(series)]
    variance = (
        _compute_pairs_variance(count) - sum(map(_compute_pairs_variance, ties))
    ) * _compute_variance_inflation([value - slope * place for place, value in enumerate(series)])
    deviations = max(0, abs(score) - 1) / math.sqrt(variance) if variance > 0 else 0.0
    return Trend(
        change_share=slope * (count - 1) / middle,
        p_value=2 * (1 - NormalDist().cdf(deviations)),
        values=len(values),
    )


def is_significant(found: Trend) -> bool:
    """Return whether such a trend is unlikely by chance."""
    return found.p_value < SIGNIFICANT


def _average_neighbors(values: Sequence[float]) -> list[float]:
    each = -(-len(values) // MOST) or 1
    whole = len(values) - len(values) % each
    return [mean(values[i : i + each]) for i in range(0, whole, each)]


def _find_sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _compute_pairs_variance(count: int) -> float:
    """Return the variance of the score of values in random order (Kendall 1955)."""
    return count * (count - 1) * (2 * count + 5) / 18


def _compute_variance_inflation(residuals: Sequence[float]) -> float:
    """Return the factor by which autocorrelation increases the score's variance (Hamed and Rao).

    Computed from the significant autocorrelations of the ranks of the residuals. Never below 1:
    negative autocorrelations are mostly chance in so short a series.
    """
    count = len(residuals)
    order = sorted(residuals)
    ranks = [order.index(r) + (order.count(r) - 1) / 2 for r in residuals]
    middle = mean(ranks)
    spread = sum((rank - middle) ** 2 for rank in ranks)
    if spread == 0:
        return 1.0
    total = 0.0
    for lag in range(1, count - 2):
        shared = (ranks[i] - middle for i in range(count - lag))
        later = (ranks[i + lag] - middle for i in range(count - lag))
        correlation = sum(a * b for a, b in zip(shared, later, strict=True)) / spread
        if abs(correlation) > NormalDist().inv_cdf(0.975) / math.sqrt(count):
            total += (count - lag) * (count - lag - 1) * (count - lag - 2) * correlation
    return max(1.0, 1 + 2 * total / (count * (count - 1) * (count - 2)))


WAVE_LEAST_S = 3  # shorter ones are whole in any window
# Standard errors of an autocorrelation beyond which the highest of some dozens is no chance
WAVE_ERRORS = 3.5


def find_wave_s(each_second: Sequence[float]) -> float | None:
    """Return the period of the waves in a throughput by the second; None if there are none.

    It is the lag of the highest autocorrelation beyond the first lag at which it is negative
    (Box and Jenkins 1970: the standard error of each is 1 / sqrt(n) where there are none).
    """
    n = len(each_second)
    middle = mean(each_second) if n else 0.0
    moved = [value - middle for value in each_second]
    square = sum(move * move for move in moved)
    if not square:
        return None
    lags = range(1, n // 2 + 1)
    found = [sum(a * b for a, b in zip(moved, moved[k:], strict=False)) / square for k in lags]
    falls = next((k for k, r in zip(lags, found, strict=True) if r < 0), None)
    beyond = [(r, k) for k, r in zip(lags, found, strict=True) if falls and k > falls]
    highest, period = max(beyond, default=(0.0, 0))
    certain = highest > WAVE_ERRORS / math.sqrt(n)
    return float(period) if certain and period >= WAVE_LEAST_S else None
