"""Confidence in the throughput of one load, from its repetitions.

Repetitions of a step are few: 3 to 12. The percentile bootstrap cannot serve there: it never
leaves the range of the sample, so with three repetitions it covers the truth 75 times in 100 at
best (1 - 2 / 2^3), and with ten still only 90 (Hesterberg 2015, "What Teachers Should Know About
the Bootstrap"). What keeps its word is the *studentized* bootstrap, or bootstrap-t (Efron and
Tibshirani 1993, "An Introduction to the Bootstrap", section 12.5), taken on the logarithms, since
rates scatter in proportion. Below five repetitions it degenerates too (resamples of one repeated
value have no spread), and Student's t (1908), its normal-theory limit, takes its place. The test
`tests/unit/capacity/test_intervals.py` shows what each covers; docs/method.md has the table.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.capacity import Interval

FloatTable = NDArray[np.float64]
IntegerTable = NDArray[np.int64]

BOOTSTRAP_FROM = 5  # repetitions
RESAMPLES = 2_000
SEED = 19_080_301  # any fixed number: the same repetitions always give the same interval

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


def t_quantile(tail: float, degrees: int) -> float:
    """Give the upper quantile of Student's t.

    Args:
        tail: 0.05 or 0.025.
        degrees: of freedom, at least 1; beyond 20 by Cornish and Fisher's expansion (the error is
            under 0.0005).
    """
    table, normal = {0.05: (_T_950, 1.644854), 0.025: (_T_975, 1.959964)}[tail]
    if degrees <= len(table):
        return table[degrees - 1]
    cubic = (normal**3 + normal) / 4
    quintic = (5 * normal**5 + 16 * normal**3 + 3 * normal) / 96
    return normal + cubic / degrees + quintic / degrees**2


def deviation(values: Sequence[float]) -> float:
    """Standard deviation (n - 1) of at least two values, in their unit.

    In floating point: `statistics.stdev` reckons with fractions, which costs fifty times as much.
    """
    middle = fmean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def pooled_noise(groups: Iterable[Sequence[float]]) -> float:
    """Standard deviation of the logarithm among repetitions, pooled over groups of them.

    Args:
        groups: the repetitions of each load, in one unit. Those of fewer than two values, or with
            one that is not positive, say nothing of noise.

    Returns:
        0 where nothing was repeated.
    """
    squares, degrees = 0.0, 0
    for values in groups:
        if len(values) >= 2 and min(values) > 0:
            logs = [math.log(value) for value in values]
            middle = fmean(logs)
            squares += sum((log - middle) ** 2 for log in logs)
            degrees += len(logs) - 1
    return math.sqrt(squares / degrees) if degrees else 0.0


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Standard deviation (n - 1) / mean; None for fewer than two values or a mean of 0."""
    if len(values) < 2 or not any(values):
        return None
    return deviation(values) / fmean(values)


def relative_margin(values: Sequence[float], tail: float, noise: float = 0.0) -> float:
    """How far the lower limit lies below the middle, as a share of it, by Student's t.

    Args:
        values: the throughput of each repetition.
        tail: 0.05 or 0.025.
        noise: the least standard deviation of their logarithms to believe in: a few repetitions
            agree now and then by luck.

    Returns:
        Infinity for fewer than two values, or where one is not positive.
    """
    if len(values) < 2 or min(values) <= 0:
        return math.inf
    spread = max(noise, deviation([math.log(value) for value in values]))
    return 1 - math.exp(-t_quantile(tail, len(values) - 1) * spread / math.sqrt(len(values)))


def interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Bracket the throughput that repetitions scatter about.

    Args:
        values: the throughput of each repetition, in operations per second, in any order.
        confidence: 0.95 or 0.90 (whose lower end is the one-sided 95 % limit).

    Returns:
        None for a single repetition, or if one is 0 (a logarithm that does not exist).
    """
    if len(values) < 2 or min(values) <= 0:
        return None
    logs = np.log(np.sort(np.asarray(values, dtype=float)))
    n, middle = len(logs), float(logs.mean())
    error = float(logs.std(ddof=1)) / math.sqrt(n)
    tail = round((1 - confidence) / 2, 3)
    if error < 1e-12:
        return Interval(
            low_ops_per_second=values[0],
            high_ops_per_second=values[0],
            confidence=confidence,
            repetitions=n,
            method="identical repetitions",
            seed=None,
        )
    if n < BOOTSTRAP_FROM:
        high = t_quantile(tail, n - 1)
        low, method = -high, "Student's t on logarithms"
    else:
        low, high = _studentized(logs, middle, tail)
        method = "studentized bootstrap on logarithms"
    return Interval(
        low_ops_per_second=math.exp(middle - high * error),
        high_ops_per_second=math.exp(middle - low * error),
        confidence=confidence,
        repetitions=n,
        method=method,
        seed=SEED if method.startswith("studentized") else None,
    )


@cache
def _drawn(n: int) -> IntegerTable:
    """Which repetitions each resample takes; the same at every call."""
    return np.random.default_rng(SEED).integers(0, n, (RESAMPLES, n))


def _studentized(logs: FloatTable, middle: float, tail: float) -> tuple[float, float]:
    """Quantiles of (mean* - mean) / error* over resamples with any spread."""
    n = len(logs)
    resamples = logs[_drawn(n)]
    means = resamples.mean(axis=1)
    from_mean = resamples - means[:, None]
    errors = np.sqrt(np.einsum("ij,ij->i", from_mean, from_mean) / (n - 1) / n)
    some = errors > 1e-12
    quotients = (means[some] - middle) / errors[some]
    low, high = np.quantile(quotients, (tail, 1 - tail))
    return float(low), float(high)
