"""A confidence sequence for a mean: an interval that stays valid however often one looks at it.

An ordinary interval holds for one number of repetitions that was fixed before. Who looks again and
again, and stops when it excludes a value, is wrong far more often. Here the intervals of all
numbers of repetitions together contain the mean with the stated probability.

It inverts the t-test of Gaussian values with unknown variance against a normal prior of the
standardized mean (Gönen, Johnson, Lu and Westfall 2005, "The Bayesian Two-Sample t Test", American
Statistician 59). Its Bayes factor is a nonnegative martingale under the null hypothesis (Lai 1976,
"On Confidence Sequences", Annals of Statistics 4; Pérez-Ortiz, Lardy, de Heide and Grünwald 2024,
"E-statistics, group invariance and anytime-valid testing", Annals of Statistics 52), and so exceeds
1 / error with a probability of at most `error`, ever (Ville's inequality).
"""

import math
from collections.abc import Sequence
from statistics import fmean

from plimsoll.capacity.statistics.intervals import compute_standard_deviation

# Prior variance of (mean / standard deviation): differences of about one standard deviation of a
# pair are found soonest. Any value is valid.
PRIOR = 1.0


def compute_sequence_interval(values: Sequence[float], error: float) -> tuple[float, float]:
    """Return the interval of the mean after the values so far, in their unit.

    Args:
        values: the values in the order in which they were measured.
        error: probability that any of all intervals lacks the mean.

    Returns:
        The lower and the upper end; infinite as long as there are too few values.
    """
    n = len(values)
    if n < 2:
        return -math.inf, math.inf
    grown = 1 + n * PRIOR
    level = (math.sqrt(grown) / error) ** (2 / n)
    if level >= grown:
        return -math.inf, math.inf
    ratio = (level - 1) / (1 - level / grown)  # t squared / (n - 1), at the ends
    middle = fmean(values)
    margin = compute_standard_deviation(values) * math.sqrt(ratio * (n - 1) / n)
    return middle - margin, middle + margin
