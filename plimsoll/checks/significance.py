"""Whether two groups of figures, one after the other, differ by more than their noise.

The noise of a database is not normal: one run in twenty is far out, and a good night follows a good
night. So a step is significant only if two tests say so, one that outliers cannot move and one that
knows of correlation. docs/checks.md has what both together find, and how often they err.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

OUTLIER_DEVIATIONS = 2.5  # beyond so many robust standard deviations a figure counts at that bound
EXACT_RUNS = 8  # the rank test is exact up to so many runs in the smaller group (SciPy's own rule)
CORRELATION_MOST = 0.95
BIAS_RUNS_MIN = 8  # of fewer runs the bias is not known either
BOUND_DEVIATIONS = 2.0  # standard deviations above the estimate: its 97.5 % bound
CLEAR_RUNS_MIN = (8, 2)  # before and after a step so large that it needs no rank test

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def normal_scores(figures: Sequence[float]) -> Floats:
    """Replace figures by the normal quantiles of their ranks, so that no outlier has weight.

    Van der Waerden, Indagationes Mathematicae 14 (1952) 453.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - takes long; a short history needs none
    from scipy.stats import rankdata  # noqa: PLC0415

    scores: Floats = ndtri(rankdata(figures) / (len(figures) + 1))
    return scores


def winsorized(figures: Sequence[float], places: Sequence[int]) -> list[Floats]:
    """Split figures at places; hold each part's outliers at a bound around its median.

    The bound is in robust standard deviations: 1.4826 times the median absolute deviation from the
    parts' medians (Huber and Ronchetti, Robust Statistics, 2009, chapter 5).
    """
    parts = np.split(np.asarray(figures, dtype=np.float64), places)
    medians = [float(np.median(part)) for part in parts]
    residuals = [part - middle for part, middle in zip(parts, medians, strict=True)]
    bound = OUTLIER_DEVIATIONS * 1.4826 * float(np.median(np.abs(np.concatenate(residuals))))
    return [
        np.clip(part, middle - bound, middle + bound)
        for part, middle in zip(parts, medians, strict=True)
    ]


def p_value_of_step(
    before: Sequence[float], after: Sequence[float], held: tuple[Floats, Floats], *, most: float
) -> float:
    """Test a step; its p-value is that of the test which believes in it least.

    Args:
        before: Figures before it.
        after: Figures after it.
        held: Both with their outliers held (`winsorized`).
        most: Above it, a p-value is not significant, and the other test is not made.
    """
    correlated = correlated_p_value(*held)
    if correlated > most or clear(before, after):
        return correlated
    return max(correlated, rank_p_value(before, after))


def rank_p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """Test whether one group has the larger figures (Mann and Whitney, 1947, two-sided)."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - as above

    exact = min(len(before), len(after)) <= EXACT_RUNS
    return float(mannwhitneyu(before, after, method="exact" if exact else "asymptotic").pvalue)


def clear(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether every figure after lies farther out than all before have ever ranged.

    Ranks know no distances: two runs at half the capacity are to them as two a bit low.
    """
    if len(before) < CLEAR_RUNS_MIN[0] or len(after) < CLEAR_RUNS_MIN[1]:
        return False
    low, high = min(before), max(before)
    return max(after) < low - (high - low) or min(after) > high + (high - low)


def correlated_p_value(before: Floats, after: Floats) -> float:
    """Test a step in figures of which each resembles the one before it (AR(1) noise).

    Generalized least squares of a mean and a step by Prais and Winsten's transformation (Trabajos
    de Estadistica, 1954), with Student's t. Few runs say little of their correlation: it is taken
    to be as large as it may be.
    """
    from scipy.stats import t  # noqa: PLC0415 - as above

    figures = np.concatenate([before, after])
    runs = len(figures)
    if runs < 4:  # two parameters, and as many degrees of freedom
        return 1.0
    correlation = correlation_at_most(before, after)
    step = np.repeat([0.0, 1.0], [len(before), len(after)])
    design = np.column_stack([_whitened(np.ones(runs), correlation), _whitened(step, correlation)])
    whitened = _whitened(figures, correlation)
    covariance = np.linalg.inv(design.T @ design)
    fitted = covariance @ design.T @ whitened
    residuals = whitened - design @ fitted
    error = sqrt(float(residuals @ residuals) / (runs - 2) * float(covariance[1, 1]))
    if error == 0:
        return 1.0 if fitted[1] == 0 else 0.0
    return float(2 * t.sf(abs(float(fitted[1])) / error, runs - 2))


def correlation_at_most(before: Floats, after: Floats) -> float:
    """Give the upper bound of how much a figure resembles the one before it, each group by itself.

    The sample's correlation r is too low by about (1 + 3 r) / n for each mean that it is taken
    around (Marriott and Pope, Biometrika 41 (1954) 390), here two; its variance is (1 - r^2) / n
    (Bartlett, J. Royal Statistical Society Supplement 8 (1946) 27).
    """
    groups = [group - group.mean() for group in (before, after)]
    runs = len(before) + len(after)
    power = sum(float(group @ group) for group in groups)
    sample = sum(float(group[1:] @ group[:-1]) for group in groups) / power if power else 0.0
    unbiased = (runs * sample + 2) / (runs - 6) if runs > BIAS_RUNS_MIN else sample
    estimate = min(max(unbiased, 0.0), CORRELATION_MOST)
    return min(estimate + BOUND_DEVIATIONS * sqrt((1 - estimate**2) / runs), CORRELATION_MOST)


def _whitened(figures: Floats, correlation: float) -> Floats:
    """Take from each figure what the one before it foretells."""
    first = sqrt(1 - correlation**2) * figures[:1]
    return np.concatenate([first, figures[1:] - correlation * figures[:-1]])
