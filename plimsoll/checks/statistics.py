"""Change points of a series of figures.

Candidates are found by the first step of Apache Otava, Hunter's method (Fleming et al., ICPE 2023,
https://doi.org/10.1145/3578244.3583719): windows of the series are split where the energy statistic
is largest (Matteson and James, https://doi.org/10.48550/arXiv.1306.4933), as long as Student's
t-test finds both sides different. Then the weakest splits are removed until each remaining one is
significant (`detect_step`) and large enough. docs/evidence/checks.md has the results on synthetic
histories, and how fast changes are found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import sqrt
from statistics import fmean, stdev

import numpy as np

from plimsoll.model.judging.capacity import Bound
from plimsoll.model.request.check import Compare, Thresholds
from plimsoll.model.run.check_history import Change, Segment

# Tests whether two successive groups of figures differ by more than their noise.


NEIGHBORS = 10  # runs on each side that a figure is compared with when candidates are searched
NEIGHBOR_DEVIATIONS = 3.0  # robust standard deviations from their medians at which it is clipped
OUTLIER_DEVIATIONS = 2.5  # ... from the median of its side, in the test of a step
EXACT_RUNS = 8  # the rank test is exact up to this size of the smaller group (SciPy's rule)
CORRELATED_FACTOR = 10  # largest p-value of the t-test, relative to that of the rank test ...
CORRELATED_P_VALUE_MAX = 0.05  # ... but at most this
CORRELATION_MOST = 0.95
FREEDOM_MIN = 3.0  # least degrees of freedom: a large step in few runs leaves no effective runs
# smallest numbers of runs before and after a step so large that it needs no rank test, for which
# fewer runs are never enough
CLEAR_RUNS_MIN = ((8, 2), (4, 4))

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def clip_outliers(figures: Sequence[float]) -> Floats:
    """Clip each figure that is far from the runs before it and also from those after it.

    The first and the last are not clipped: they may end or begin a level of their own.
    """
    runs = np.asarray(figures, dtype=np.float64)
    held = runs.copy()
    for index in range(1, len(runs) - 1):
        near = runs[max(0, index - NEIGHBORS) : index], runs[index + 1 : index + 1 + NEIGHBORS]
        medians = [float(np.median(side)) for side in near]
        residuals = [side - middle for side, middle in zip(near, medians, strict=True)]
        bound = NEIGHBOR_DEVIATIONS * _compute_robust_deviation(np.concatenate(residuals))
        held[index] = _clip_around(runs[index], min(medians), max(medians), bound)
    return held


def split_and_winsorize(figures: Sequence[float], places: Sequence[int]) -> list[Floats]:
    """Split figures at places, and clip the outliers of each part around its median."""
    parts = np.split(np.asarray(figures, dtype=np.float64), places)
    medians = [float(np.median(part)) for part in parts]
    residuals = [part - middle for part, middle in zip(parts, medians, strict=True)]
    bound = OUTLIER_DEVIATIONS * _compute_robust_deviation(np.concatenate(residuals))
    return [
        _clip_around(part, middle, middle, bound)
        for part, middle in zip(parts, medians, strict=True)
    ]


def detect_step(
    before: Sequence[float], after: Sequence[float], held: tuple[Floats, Floats], *, most: float
) -> tuple[float, bool]:
    """Test whether a step is significant.

    Args:
        before: The figures before the step.
        after: The figures after the step.
        held: Both with their outliers clipped (by `split_and_winsorize`).
        most: The largest p-value of the rank test for a significant step.

    Returns:
        The p-value (the rank test's, if that decides), and whether the step is significant.
    """
    correlated = compare_correlated_means(*held)
    if correlated > min(CORRELATED_FACTOR * most, CORRELATED_P_VALUE_MAX):
        return correlated, False
    rank = compare_ranks(before, after)
    if rank > most and is_clear_step(before, after):
        return correlated, True
    return rank, rank <= most


def compare_ranks(before: Sequence[float], after: Sequence[float]) -> float:
    """Test whether one group has larger figures (Mann and Whitney, 1947, two-sided)."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - slow; short histories need none

    exact = min(len(before), len(after)) <= EXACT_RUNS
    return float(mannwhitneyu(before, after, method="exact" if exact else "asymptotic").pvalue)


def is_clear_step(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether every figure after lies beyond those before by more than their whole range.

    Ranks ignore distances: for them two runs at half the capacity are like two slightly lower ones.
    """
    sides = (len(before), len(after))
    if not any(sides[0] >= first and sides[1] >= second for first, second in CLEAR_RUNS_MIN):
        return False
    low, high = min(before), max(before)
    return max(after) < low - (high - low) or min(after) > high + (high - low)


def compare_correlated_means(before: Floats, after: Floats) -> float:
    """Test a step in autocorrelated figures (AR(1) noise) by Student's t.

    The number of effective runs is smaller by the factor (1 - r) / (1 + r) (Bayley and Hammersley,
    J. Royal Statistical Society Supplement 8 (1946) 184). The correlation r is computed from all
    runs around one mean, as if there were no step: a step increases it and makes the test more
    conservative.
    """
    from scipy.stats import t  # noqa: PLC0415 - as above

    runs = len(before) + len(after)
    if runs < 4:  # two means, and as many degrees of freedom
        return 1.0
    worth = _compute_effective_share(np.concatenate([before, after]))
    squares = sum(float(np.sum((part - part.mean()) ** 2)) for part in (before, after))
    variance = squares / (runs - 2) * (1 / len(before) + 1 / len(after)) / worth
    step = abs(float(after.mean() - before.mean()))
    if variance == 0:
        return 1.0 if step == 0 else 0.0
    return float(2 * t.sf(step / sqrt(variance), max(runs * worth - 2, FREEDOM_MIN)))


def _compute_effective_share(figures: Floats) -> float:
    """Return the number of effective runs per run; 1 without positive autocorrelation."""
    residuals = figures - figures.mean()
    power = float(residuals @ residuals)
    sample = float(residuals[1:] @ residuals[:-1]) / power if power else 0.0
    correlation = min(max(sample, 0.0), CORRELATION_MOST)
    return (1 - correlation) / (1 + correlation)


def _compute_robust_deviation(residuals: Floats) -> float:
    """Return the robust standard deviation of residuals.

    It is 1.4826 times their median absolute value (Huber and Ronchetti, Robust Statistics, 2009,
    chapter 5).
    """
    return 1.4826 * float(np.median(np.abs(residuals)))


def _clip_around(figures: Floats, low: float, high: float, bound: float) -> Floats:
    """Clip figures to a range around two levels; not if the bound is 0 (half of them are equal)."""
    return np.clip(figures, low - bound, high + bound) if bound > 0 else figures


# Changes are searched among this many runs at a time. With Otava's own 50, a drop that recovers
# hides both of its ends (docs/decisions/0030-change-points.md).
WINDOW_RUNS = 20
PLACES_P_VALUE_MAX = 0.05  # bound for candidates; those that are no changes are removed
RUNS_MIN = 8  # figures that a history needs before it is judged


@dataclass(frozen=True, slots=True)
class Observation:
    """A figure of a series.

    Attributes:
        at: The scheduled time of its run.
        run_id: The id of the run.
        value: The value in the metric's unit; a run without a figure has no observation.
        bound: The kind of value: "=" exact, ">=" or "<" a bound.
    """

    at: datetime
    run_id: str | None
    value: float
    bound: Bound = "="


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of the mean before the run with an index, with outliers clipped."""

    place: int
    before: Segment
    after: Segment
    p_value: float
    significant: bool

    @property
    def weight(self) -> float:
        """Increase of the sum of squares if the step were removed (Ward, 1963)."""
        runs = self.before.runs * self.after.runs / (self.before.runs + self.after.runs)
        return runs * (self.after.mean - self.before.mean) ** 2

    @property
    def change_share(self) -> float:
        """After / before - 1; 0 if before is 0."""
        return self.after.mean / self.before.mean - 1 if self.before.mean > 0 else 0.0


def find_change_points(
    series: Sequence[Observation], compare: Compare, thresholds: Thresholds
) -> tuple[Change, ...]:
    """Find the change points of a series, earliest first, including improvements.

    Args:
        series: The observations by time, without gaps.
        compare: The comparison, which says which direction is worse.
        thresholds: The thresholds of a change. `runs_after_min` counts up to the next change.
    """
    if len(series) < RUNS_MIN:
        return ()
    figures = [figure.value for figure in series]
    steps = _prune_steps(figures, _find_candidates(figures), thresholds)
    ends = [0, *(step.place for step in steps), len(series)]
    bounds = [_choose_bound(series[start:end]) for start, end in pairwise(ends)]
    changes = [
        Change(
            metric=compare.metric,
            unit=compare.unit,
            at=series[step.place].at,
            run_id=series[step.place].run_id,
            before=step.before.model_copy(update={"bound": before}),
            after=step.after.model_copy(update={"bound": after}),
            change_share=step.change_share,
            p_value=step.p_value,
            regression=(step.change_share < 0) == (compare.worse == "less"),
        )
        for step, (before, after) in zip(steps, pairwise(bounds), strict=True)
    ]
    return tuple(one for one in changes if one.after.runs >= thresholds.runs_after_min)


def _find_candidates(figures: Sequence[float]) -> list[int]:
    """Return candidates for changes: more places than there are changes."""
    # imported late: with SciPy it takes a second, which a short history does not need
    from otava.analysis import split  # noqa: PLC0415

    sought = split(clip_outliers(figures).tolist(), WINDOW_RUNS, PLACES_P_VALUE_MAX)
    return [int(at.index) for at in sought]


def _prune_steps(
    figures: Sequence[float], places: Sequence[int], thresholds: Thresholds
) -> list[_Step]:
    """Remove the lightest insignificant step, else the lightest small one, until none is left."""
    left = list(places)
    while left:
        steps = _test_steps(figures, left, thresholds.p_value_max)
        noise = [step for step in steps if not step.significant]
        small = [step for step in steps if abs(step.change_share) < thresholds.min_change]
        if not noise and not small:
            return steps
        left.remove(min(noise or small, key=lambda step: step.weight).place)
    return []


def _test_steps(figures: Sequence[float], places: Sequence[int], p_value_max: float) -> list[_Step]:
    ends = [0, *places, len(figures)]
    parts = [figures[start:end] for start, end in pairwise(ends)]
    held = split_and_winsorize(figures, places)
    segments = [summarize_segment(part.tolist()) for part in held]
    sides = zip(pairwise(parts), pairwise(held), strict=True)
    tests = [detect_step(*figures, held, most=p_value_max) for figures, held in sides]
    return [
        _Step(place, before, after, p_value, significant)
        for place, (before, after), (p_value, significant) in zip(
            places, pairwise(segments), tests, strict=True
        )
    ]


def _choose_bound(observations: Sequence[Observation]) -> Bound:
    """Return the kind of a mean of figures: a bound if one of them is a bound."""
    return next((one.bound for one in observations if one.bound != "="), "=")


def summarize_segment(values: Sequence[float]) -> Segment:
    """Summarize successive figures, at least one."""
    spread = stdev(values) if len(values) > 1 else None
    return Segment(runs=len(values), mean=fmean(values), standard_deviation=spread)


def compare_means(before: Sequence[float], after: Sequence[float]) -> float:
    """Test whether two groups, split at a place known beforehand, have one mean (Student's t)."""
    from otava.analysis import TTestSignificanceTester  # noqa: PLC0415 - as above

    stats = TTestSignificanceTester(1.0).compare(list(before), list(after))
    return float(stats.pvalue)
