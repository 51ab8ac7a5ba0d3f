"""What a number of operations shows of a percentile, by order statistics.

How many of n operations lie beyond the true percentile is binomial, whatever the latencies'
distribution (David and Nagaraja 2003, "Order Statistics", section 7.1). If the true p99 lay exactly
at the limit, none of 100 operations would be beyond it in 37 of 100 windows, so such a window shows
neither that the limit is kept nor that it is exceeded.
"""

import math
from collections.abc import Mapping

from plimsoll.model.judging.steps import QUANTILES, Statistic

CONFIDENCE = 0.95
# Operations needed for a statistic. For a percentile: so many that with 95 % confidence one of them
# is beyond it, which is also the fewest that can show that a limit is kept.
OPERATIONS_MIN: Mapping[Statistic, int] = {
    "mean": 10,
    "max": 1,
    **{
        statistic: max(10, math.ceil(math.log(1 - CONFIDENCE) / math.log(quantile)))
        for statistic, quantile in QUANTILES.items()
    },
}


def shows_excess(count: int, beyond: int, quantile: float) -> bool:
    """Return whether so many operations beyond a limit show a percentile beyond it, at 95 %.

    Args:
        count: number of operations.
        beyond: how many of them took longer than the limit, at least.
        quantile: share of the operations that the percentile leaves below it: 0.99 for a p99.
    """
    return math.fsum(_compute_chance(count, k, quantile) for k in range(beyond)) >= CONFIDENCE


def _compute_chance(count: int, beyond: int, quantile: float) -> float:
    """Return the chance that exactly so many operations lie beyond the true percentile."""
    # Logarithms, since the factors of thousands of operations are below what a float can hold.
    ways = math.lgamma(count + 1) - math.lgamma(beyond + 1) - math.lgamma(count - beyond + 1)
    return math.exp(ways + beyond * math.log1p(-quantile) + (count - beyond) * math.log(quantile))
