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
from statistics import fmean, stdev

from plimsoll.checks.significance import clipped, step_test, winsorized
from plimsoll.model.capacity import Bound
from plimsoll.model.check import Compare, Thresholds
from plimsoll.model.check_history import Change, Segment

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
