"""Whether counts of two states differ: Student's t for each count, Holm for all together.

The states are measured in pairs, each on a fresh copy, with the same operations in the same order
of blocks. What depends on that order is alike within a pair, and cancels in its difference: the
order alone makes a count take one of a few values, which would be no noise that a t-test allows. A
count is compared by the t-test for paired means (Student 1908). The smallest p-values are then
accepted one by one (Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure",
Scandinavian Journal of Statistics 6): the probability of any false alarm is at most `most`, however
the counts depend on one another.

Counts of a deterministic load can agree exactly in all repetitions. The noise therefore has a
floor: repetitions that agree by chance would make any difference significant.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import TypeVar

from plimsoll.capacity.statistics.intervals import compute_standard_deviation

Key = TypeVar("Key")
NOISE_LEAST_SHARE = 0.002  # smallest deviation of a value that is believed, as a share of the mean
NOISE_LEAST_EVENTS = 3.0  # the same as a number of events in a block


def compute_t_tail(t: float, degrees: int) -> float:
    """Return the probability that |Student's t| exceeds `t` >= 0, by its finite series.

    Abramowitz and Stegun 1964, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4. Where the
    series cancels (below 1e-10), a bound that is a little too high is returned.

    Args:
        t: the statistic.
        degrees: degrees of freedom, a whole number of at least 1.
    """
    if t == 0:
        return 1.0
    if math.isinf(t):
        return 0.0
    angle = math.atan(t / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    term, total = 1.0, 1.0
    odd = degrees % 2
    for k in range(1, (degrees - 1) // 2 if odd else degrees // 2):
        term *= square * (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k))
        total += term
    if odd:
        inner = total * math.sin(angle) * math.cos(angle) if degrees > 1 else 0.0
        inside = 2 / math.pi * (angle + inner)
    else:
        inside = math.sin(angle) * total
    tail = 1 - inside
    # The density's tail, integrated without its factor below 1: an upper bound.
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)
    bound = 2 * scale * (t * t / degrees) ** (-(degrees + 1) / 2) * t / degrees
    return min(1.0, bound) if tail < 1e-10 else tail


def estimate_count_noise(
    before: Sequence[float], after: Sequence[float], events_of_block: int
) -> float:
    """Return the standard deviation of the pairs' differences, at least the floor.

    Args:
        before: the first state's value of each pair, per operation; at least two.
        after: the second state's value of each pair.
        events_of_block: operations of a block; one event is 1 / this.
    """
    spread = compute_standard_deviation([new - old for old, new in zip(before, after, strict=True)])
    least = max(NOISE_LEAST_SHARE * abs(fmean(before)), NOISE_LEAST_EVENTS / events_of_block)
    return max(spread, math.sqrt(2) * least)


def compute_p_value(before: Sequence[float], after: Sequence[float], events_of_block: int) -> float:
    """Return the two-sided p-value of "both states have one mean"; as in `estimate_count_noise`."""
    difference = abs(fmean(after) - fmean(before))
    return compute_t_tail(
        difference / _compute_standard_error(before, after, events_of_block), len(before) - 1
    )


def _compute_standard_error(before: Sequence[float], after: Sequence[float], events: int) -> float:
    return estimate_count_noise(before, after, events) / math.sqrt(len(before))


def select_changed(p_values: Mapping[Key, float], most: float) -> set[Key]:
    """Return the keys whose hypothesis is rejected by Holm's procedure.

    Args:
        p_values: the p-value of each count.
        most: probability of any false rejection.
    """
    changed: set[Key] = set()
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p > most / (len(p_values) - rank):
            break
        changed.add(key)
    return changed


def compute_detectable_difference(
    before: Sequence[float], after: Sequence[float], events_of_block: int, *, most: float
) -> float:
    """Return the difference of means that would be found in 95 of 100 comparisons.

    Args:
        before: the first state's value of each pair.
        after: the second state's value of each pair.
        events_of_block: operations of a block.
        most: p-value below which a count counts as changed.
    """
    degrees = len(before) - 1
    error = _compute_standard_error(before, after, events_of_block)
    return (find_critical_t(most, degrees) + find_critical_t(0.10, degrees)) * error


@cache
def find_critical_t(tail: float, degrees: int) -> float:
    """Return the t that |Student's t| exceeds with probability `tail`, by bisection."""
    low, high = 0.0, 1.0
    while compute_t_tail(high, degrees) > tail:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if compute_t_tail(middle, degrees) > tail else (low, middle)
    return high
