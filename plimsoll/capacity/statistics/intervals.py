"""Confidence intervals for the throughput of repetitions.

Repetitions of a step are few, 3 to 15, and sometimes one of them hits a bad window: something on
the machine or in the cloud halves its speed. The interval is Student's t (1908) on the logarithms,
since rates scatter in proportion, without outliers. An outlier lies far from the median, measured
by a robust scale (Rousseeuw and Croux 1993, "Alternatives to the Median Absolute Deviation").
Resampling is worse: with three repetitions, the percentile bootstrap covers the true value in 75 of
100 cases (Hesterberg 2015, "What Teachers Should Know About the Bootstrap"), and the studentized
bootstrap puts the lower end below every observation as soon as there is an outlier.
`tests/unit/capacity/statistics/test_intervals.py` measures the coverage;
docs/evidence/search.md has the table.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, combinations
from statistics import fmean, median

from plimsoll import words
from plimsoll.model.judging.capacity import Interval

OUTLIERS_FROM = 8  # repetitions needed to identify an outlier
OUTLIER = 4.5  # distance from the median, in scales of the repetitions, that few reach by chance
OUTLIER_LEAST = 0.02  # share of the median: a smaller distance is never an outlier
OUTLIERS_SHARE = 0.25  # largest share of outliers; if there are more, none is treated as one
QUARTILE_TO_DEVIATION = 2.2191  # 1 / the lower quartile of |x - y| for two normal deviates
# Rousseeuw and Croux's factors for samples of 2 to 9; larger samples use their formula.
_SMALL = (0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872)

# Quantiles of Student's t for 1, 2, 3 ... degrees of freedom (Fisher and Yates 1938, table III).
# fmt: off
_T_950 = (
    6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432, 1.8946, 1.8595, 1.8331, 1.8125,
    1.7959, 1.7823, 1.7709, 1.7613, 1.7531, 1.7459, 1.7396, 1.7341, 1.7291, 1.7247,
)
_T_975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
)
# fmt: on


def find_t_quantile(tail: float, degrees: int) -> float:
    """Return the upper quantile of Student's t.

    Args:
        tail: 0.05 or 0.025.
        degrees: degrees of freedom, at least 1. Beyond 20, Cornish and Fisher's expansion is used
            (error below 0.0005).
    """
    table, normal = {0.05: (_T_950, 1.644854), 0.025: (_T_975, 1.959964)}[tail]
    if degrees <= len(table):
        return table[degrees - 1]
    cubic = (normal**3 + normal) / 4
    quintic = (5 * normal**5 + 16 * normal**3 + 3 * normal) / 96
    return normal + cubic / degrees + quintic / degrees**2


def compute_standard_deviation(values: Sequence[float]) -> float:
    """Return the standard deviation (n - 1) of at least two values, in their unit.

    Uses floating point: `statistics.stdev` computes with fractions, which takes fifty times as
    long.
    """
    middle = fmean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def compute_robust_deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of values, robust against outliers.

    Rousseeuw and Croux's Qn (1993): the k-th smallest of the differences between any two of n
    values, with k = h (h - 1) / 2 and h = n // 2 + 1. Up to half of the values may be outliers.
    """
    n = len(values)
    differences = sorted(abs(x - y) for x, y in combinations(values, 2))
    half = n // 2 + 1
    factor = _SMALL[n - 2] if n < 10 else n / (n + (1.4 if n % 2 else 3.8))
    return factor * QUARTILE_TO_DEVIATION * differences[half * (half - 1) // 2 - 1]


def drop_outliers(values: Sequence[float]) -> list[float]:
    """Return the values without outliers: those beyond 4.5 scales from the median of logarithms.

    At most a quarter of the values is left out; none of fewer than eight values; and none if a
    value is not positive.
    """
    if len(values) < OUTLIERS_FROM or min(values) <= 0:
        return list(values)
    logs = [math.log(value) for value in values]
    middle = median(logs)
    far = max(OUTLIER * compute_robust_deviation(logs), OUTLIER_LEAST)
    kept = [v for v, log in zip(values, logs, strict=True) if abs(log - middle) <= far]
    return kept if len(values) - len(kept) <= OUTLIERS_SHARE * len(values) else list(values)


def estimate_pooled_noise(groups: Iterable[Sequence[float]]) -> float:
    """Return the standard deviation of the logarithm within groups of repetitions, pooled.

    It is computed from the lower quartile of the differences within groups, which bad windows do
    not affect.

    Args:
        groups: repetitions of each load, in one unit. Groups with fewer than two values, or with
            one
            that is not positive, are left out.

    Returns:
        0 if nothing was repeated.
    """
    differences = sorted(
        abs(math.log(x / y))
        for values in groups
        if min(values, default=0) > 0
        for x, y in combinations(values, 2)
    )
    if not differences:
        return 0.0
    # No interpolation: with one outlier among three repetitions, one difference is free of it.
    return QUARTILE_TO_DEVIATION * differences[(len(differences) - 1) // 4]


def compute_coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Return standard deviation (n - 1) / mean; None for fewer than two values or a mean of 0."""
    if len(values) < 2 or not any(values):
        return None
    return compute_standard_deviation(values) / fmean(values)


def compute_relative_margin(values: Sequence[float], tail: float, noise: float = 0.0) -> float:
    """Return (middle - lower limit) / middle of an interval by Student's t.

    Args:
        values: throughput of each repetition.
        tail: 0.05 or 0.025.
        noise: lower bound on the standard deviation of the logarithms; a few repetitions may agree
            by
            chance.

    Returns:
        Infinity for fewer than two values, or if one is not positive.
    """
    if len(values) < 2 or min(values) <= 0:
        return math.inf
    values = drop_outliers(values)
    spread = max(noise, compute_standard_deviation([math.log(value) for value in values]))
    return 1 - math.exp(-find_t_quantile(tail, len(values) - 1) * spread / math.sqrt(len(values)))


def compute_median_margin(values: Sequence[float]) -> float:
    """Return (median - its lower 97.5 % limit) / median, for any distribution of the values.

    By the sign test: the limit is the k-th smallest value, where k is the largest number such that
    fewer than k heads in n coin tosses have a probability of at most 2.5 %.

    Returns:
        Infinity for fewer than six values, or a median that is not positive.
    """
    n, middle = len(values), median(values) if values else 0.0
    chances = accumulate(math.comb(n, heads) / 2**n for heads in range(n + 1))
    rank = sum(chance <= 0.025 for chance in chances)
    return 1 - sorted(values)[rank - 1] / middle if rank and middle > 0 else math.inf


def find_center(values: Sequence[float]) -> float:
    """Return the geometric mean of values without outliers: the middle of that interval.

    Returns:
        The median if one of the values is not positive, since 0 has no logarithm.
    """
    if min(values) <= 0:
        return median(values)
    return compute_geometric_interval(drop_outliers(values))[0]


def compute_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Return the confidence interval of the throughput of repetitions.

    Args:
        values: throughput of each repetition, in operations per second, in any order.
        confidence: 0.95, or 0.90 (whose lower end is the one-sided 95 % limit).

    Returns:
        None for a single repetition, or if one is 0 (which has no logarithm).
    """
    if len(values) < 2 or min(values) <= 0:
        return None
    kept = sorted(drop_outliers(values))
    same = kept[0] == kept[-1]
    left_out = len(values) - len(kept)
    without = f", without {words.format_count(left_out, 'outlier')}" if left_out else ""
    _, low, high = compute_geometric_interval(kept, confidence)
    return Interval(
        low_ops_per_second=low,
        high_ops_per_second=high,
        confidence=confidence,
        repetitions=len(kept),
        method="identical repetitions" if same else f"Student's t on logarithms{without}",
    )


def compute_geometric_interval(
    values: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the geometric mean of values with its interval, by Student's t on their logarithms.

    Args:
        values: at least one, all positive. Equal values have an interval of width 0; the interval
            of
            a single value is meaningless.
        confidence: 0.95 or 0.90.

    Returns:
        The mean, and the low and the high end of its interval, in the unit of the values.
    """
    if min(values) == max(values):
        return values[0], values[0], values[0]
    logs = [math.log(value) for value in values]
    n, middle = len(logs), fmean(logs)
    margin = (
        find_t_quantile(round((1 - confidence) / 2, 3), n - 1)
        * compute_standard_deviation(logs)
        / math.sqrt(n)
    )
    return math.exp(middle), math.exp(middle - margin), math.exp(middle + margin)
