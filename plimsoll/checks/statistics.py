"""Change points of one series of figures.

Places are sought by Apache Otava's first step, Hunter's (Fleming et al., ICPE 2023,
https://doi.org/10.1145/3578244.3583719): windows of the series are split where the energy statistic
is largest (Matteson and James, https://doi.org/10.48550/arXiv.1306.4933), as long as Student's
t-test finds both sides different. Then the weakest splits are taken back until each one left is
significant (`significance`) and large enough. docs/checks.md has what is found on synthetic
histories, and how fast.
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

# Whether two groups of figures, one after the other, differ by more than their noise.


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


# a change is sought among so many runs at a time: in Otava's own 50, a drop that is made good again
# hides both its ends (docs/decisions/0030-change-points.md)
WINDOW_RUNS = 20
PLACES_P_VALUE_MAX = 0.05  # of the places sought; those that are no changes are taken back
RUNS_MIN = 8  # figures in a history before anything is said of it


@dataclass(frozen=True, slots=True)
class Observation:
    """One figure of a series.

    Attributes:
        at: The scheduled time of its run.
        run_id: The run.
        value: In the metric's unit; a run without a figure has no observation.
        bound: What the value is: "=" the figure, ">=" or "<" a bound of it.
    """

    at: datetime
    run_id: str | None
    value: float
    bound: Bound = "="


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of the mean, outliers held: before the run of an index, and from it on."""

    place: int
    before: Segment
    after: Segment
    p_value: float
    significant: bool

    @property
    def weight(self) -> float:
        """By how much the squares around the means would grow without it (Ward, 1963)."""
        runs = self.before.runs * self.after.runs / (self.before.runs + self.after.runs)
        return runs * (self.after.mean - self.before.mean) ** 2

    @property
    def change_share(self) -> float:
        """After / before - 1; from nothing there is no share."""
        return self.after.mean / self.before.mean - 1 if self.before.mean > 0 else 0.0


def change_points(
    series: Sequence[Observation], compare: Compare, thresholds: Thresholds
) -> tuple[Change, ...]:
    """Find the change points of a series, earliest first, improvements too.

    Args:
        series: By time; gaps left out.
        compare: What is compared: which way is worse.
        thresholds: What counts as a change. `runs_after_min` is counted to the next change.
    """
    if len(series) < RUNS_MIN:
        return ()
    figures = [figure.value for figure in series]
    steps = _changes(figures, _places(figures), thresholds)
    ends = [0, *(step.place for step in steps), len(series)]
    bounds = [_bound(series[start:end]) for start, end in pairwise(ends)]
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


def _places(figures: Sequence[float]) -> list[int]:
    """Seek where changes may lie: more places than there are changes."""
    # imported here: with SciPy it takes a second, which a short history does not need
    from otava.analysis import split  # noqa: PLC0415

    sought = split(clipped(figures).tolist(), WINDOW_RUNS, PLACES_P_VALUE_MAX)
    return [int(at.index) for at in sought]


def _changes(
    figures: Sequence[float], places: Sequence[int], thresholds: Thresholds
) -> list[_Step]:
    """Take back the lightest step that is not significant, or else too small, until none is."""
    left = list(places)
    while left:
        steps = _steps(figures, left, thresholds.p_value_max)
        noise = [step for step in steps if not step.significant]
        small = [step for step in steps if abs(step.change_share) < thresholds.min_change]
        if not noise and not small:
            return steps
        left.remove(min(noise or small, key=lambda step: step.weight).place)
    return []


def _steps(figures: Sequence[float], places: Sequence[int], p_value_max: float) -> list[_Step]:
    ends = [0, *places, len(figures)]
    parts = [figures[start:end] for start, end in pairwise(ends)]
    held = winsorized(figures, places)
    segments = [segment(part.tolist()) for part in held]
    sides = zip(pairwise(parts), pairwise(held), strict=True)
    tests = [step_test(*figures, held, most=p_value_max) for figures, held in sides]
    return [
        _Step(place, before, after, p_value, significant)
        for place, (before, after), (p_value, significant) in zip(
            places, pairwise(segments), tests, strict=True
        )
    ]


def _bound(observations: Sequence[Observation]) -> Bound:
    """Give what the mean of some figures in a row is: where bounds are among them, a bound."""
    return next((one.bound for one in observations if one.bound != "="), "=")


def segment(values: Sequence[float]) -> Segment:
    """Summarize some figures in a row: at least one."""
    spread = stdev(values) if len(values) > 1 else None
    return Segment(runs=len(values), mean=fmean(values), standard_deviation=spread)


def p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """Test two groups of figures, split at a place known beforehand, for one mean (Student's t)."""
    from otava.analysis import TTestSignificanceTester  # noqa: PLC0415 - as above

    stats = TTestSignificanceTester(1.0).compare(list(before), list(after))
    return float(stats.pvalue)
