"""Confidence in the throughput of one load, from its repetitions.

Repetitions of a step are few, 3 to 15, and now and then one of them met a bad window: something on
the machine or in the cloud that slowed it by half. The interval is Student's t (1908) on the
logarithms, since rates scatter in proportion, over the repetitions that are like each other: what
lies far from their median, by a scale that outliers do not move (Rousseeuw and Croux 1993,
"Alternatives to the Median Absolute Deviation"), is no repetition of the same thing. Resampling
serves worse: the percentile bootstrap covers the truth 75 times in 100 of three repetitions
(Hesterberg 2015, "What Teachers Should Know About the Bootstrap"), and the studentized one puts the
lower end below every observation as soon as there is an outlier. The test
`tests/unit/capacity/statistics/test_intervals.py` shows what is covered; docs/method.md has the
table.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, combinations
from statistics import fmean, median
from typing import TypeVar

from plimsoll import words
from plimsoll.model.judging.capacity import Interval
from plimsoll.model.judging.closing import PairedRatio

OUTLIERS_FROM = 8  # repetitions: of fewer none can be told to be the odd one
OUTLIER = 4.5  # times the scale of the repetitions: so far from their median few lie by chance
OUTLIER_LEAST = 0.02  # of the median: nearer than this nothing is far
OUTLIERS_SHARE = 0.25  # more of them are no outliers
QUARTILE_TO_DEVIATION = 2.2191  # 1 / the lower quartile of |x - y| for two normal deviates
# Rousseeuw and Croux's factors for small samples, 2 to 9; larger ones by their formula.
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


def scale(values: Sequence[float]) -> float:
    """Give the standard deviation that values scatter with, but for outliers among them.

    Rousseeuw and Croux's Qn (1993): of the differences between any two of n values the k-th
    smallest, k = h (h - 1) / 2 with h = n // 2 + 1. Up to half of the values may be anything.
    """
    n = len(values)
    differences = sorted(abs(x - y) for x, y in combinations(values, 2))
    half = n // 2 + 1
    factor = _SMALL[n - 2] if n < 10 else n / (n + (1.4 if n % 2 else 3.8))
    return factor * QUARTILE_TO_DEVIATION * differences[half * (half - 1) // 2 - 1]


def alike(values: Sequence[float]) -> list[float]:
    """Leave out outliers: what lies beyond 4.5 times the scale from the median (of logarithms).

    Never more than a quarter of the values, nor any of fewer than eight, nor of values that are not
    positive.
    """
    if len(values) < OUTLIERS_FROM or min(values) <= 0:
        return list(values)
    logs = [math.log(value) for value in values]
    middle = median(logs)
    far = max(OUTLIER * scale(logs), OUTLIER_LEAST)
    kept = [v for v, log in zip(values, logs, strict=True) if abs(log - middle) <= far]
    return kept if len(values) - len(kept) <= OUTLIERS_SHARE * len(values) else list(values)


def pooled_noise(groups: Iterable[Sequence[float]]) -> float:
    """Standard deviation of the logarithm among repetitions, pooled over groups of them.

    From the lower quartile of the differences within groups, which bad windows do not move.

    Args:
        groups: the repetitions of each load, in one unit. Those of fewer than two values, or with
            one that is not positive, say nothing of noise.

    Returns:
        0 where nothing was repeated.
    """
    differences = sorted(
        abs(math.log(x / y))
        for values in groups
        if min(values, default=0) > 0
        for x, y in combinations(values, 2)
    )
    if not differences:
        return 0.0
    # Not interpolated: of three repetitions with one outlier, one difference is free of it.
    return QUARTILE_TO_DEVIATION * differences[(len(differences) - 1) // 4]


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
    values = alike(values)
    spread = max(noise, deviation([math.log(value) for value in values]))
    return 1 - math.exp(-t_quantile(tail, len(values) - 1) * spread / math.sqrt(len(values)))


def median_margin(values: Sequence[float]) -> float:
    """How far the lower 97.5 % limit of their median lies below it, as a share of the median.

    By the sign test, whatever the values are distributed like: the k-th smallest, where fewer than
    k of n tosses of a coin come up heads in 2.5 % of the cases at most.

    Returns:
        Infinity for fewer than six values, or a median that is not positive.
    """
    n, middle = len(values), median(values) if values else 0.0
    chances = accumulate(math.comb(n, heads) / 2**n for heads in range(n + 1))
    rank = sum(chance <= 0.025 for chance in chances)
    return 1 - sorted(values)[rank - 1] / middle if rank and middle > 0 else math.inf


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
    kept = sorted(alike(values))
    same = kept[0] == kept[-1]
    left_out = len(values) - len(kept)
    without = f", without {words.plural(left_out, 'outlier')}" if left_out else ""
    _, low, high = student_on_logarithms(kept, confidence)
    return Interval(
        low_ops_per_second=low,
        high_ops_per_second=high,
        confidence=confidence,
        repetitions=len(kept),
        method="identical repetitions" if same else f"Student's t on logarithms{without}",
    )


def student_on_logarithms(
    values: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """Give the geometric mean of values with its interval, by Student's t on their logarithms.

    Args:
        values: at least one, all positive; those that are alike have an interval of no width, and
            a single one has none that means anything.
        confidence: 0.95 or 0.90.

    Returns:
        The mean, and the low and the high end of its interval, in the values' unit.
    """
    if min(values) == max(values):
        return values[0], values[0], values[0]
    logs = [math.log(value) for value in values]
    n, middle = len(logs), fmean(logs)
    margin = t_quantile(round((1 - confidence) / 2, 3), n - 1) * deviation(logs) / math.sqrt(n)
    return math.exp(middle), math.exp(middle - margin), math.exp(middle + margin)


# The ratio of two states of one target that took turns. Pure.


PAIRS_MIN = 3  # of two the interval would reach from a third of the ratio to three times it
METHOD = "Student's t on the logarithms of the pairs' ratios"
Measured = TypeVar("Measured")
State = TypeVar("State", bound=str)


def neighbors(
    measured: Sequence[Measured], state: Callable[[Measured], object]
) -> tuple[list[tuple[Measured, Measured]], Measured | None]:
    """Pair what was measured next to each other in different states.

    An audit may dispute a step once its target's metrics are there, when the pairs after it have
    been measured: those stay pairs.

    Args:
        measured: In the order of time.
        state: Gives the state in which each was measured.

    Returns:
        The pairs, in the order of time, and the last one where it waits for its partner.
    """
    pairs: list[tuple[Measured, Measured]] = []
    waiting: Measured | None = None
    for one in measured:
        if waiting is None or state(one) == state(waiting):
            waiting = one
        else:
            pairs.append((waiting, one))
            waiting = None
    return pairs, waiting


def next_state(states: tuple[State, State], pairs: int, waiting: State | None) -> State:
    """Say in which state to measure next: A B, B A, A B ...

    Args:
        states: A and B.
        pairs: How many are whole.
        waiting: The state of what waits for its partner; None: nothing does.
    """
    return states[pairs % 2] if waiting is None else states[1 - states.index(waiting)]


def paired_ratio(pairs: Sequence[tuple[float, float]]) -> PairedRatio:
    """Divide the second of each pair by the first.

    Args:
        pairs: Two measurements each that lie next to each other in time, in one unit.

    Returns:
        Without a ratio where there is no pair, or one holds a value that is not positive and
        finite: leaving such a pair out would favor the other state.
    """
    values = [value for pair in pairs for value in pair]
    if not values or not all(0 < value < math.inf for value in values):
        return PairedRatio(ratio=None, low=None, high=None, pairs=len(pairs))
    middle, low, high = student_on_logarithms([second / first for first, second in pairs])
    if len(pairs) < PAIRS_MIN:
        return PairedRatio(ratio=middle, low=None, high=None, pairs=len(pairs))
    return PairedRatio(ratio=middle, low=low, high=high, pairs=len(pairs))
