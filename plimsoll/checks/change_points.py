"""Change points of one series of figures, by Apache Otava's analysis.

Hunter's algorithm (Fleming et al., ICPE 2023, https://doi.org/10.1145/3578244.3583719): windows of
the series are split where the energy statistic is largest (Matteson and James,
https://doi.org/10.48550/arXiv.1306.4933), as long as Student's t-test finds both sides different;
then the weakest splits are taken back until each one left is significant and large enough.
docs/checks.md has what it finds on synthetic histories, and how fast.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import fmean, stdev

from plimsoll.model.capacity import Bound
from plimsoll.model.check import Change, Compare, Segment, Thresholds

# a change is sought among so many runs at a time: in Otava's own 50, a drop that is made good again
# hides both its ends (docs/decisions/0030-change-points.md)
WINDOW_RUNS = 20
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
    # imported here: with SciPy it takes a second, which a short history does not need
    from otava.analysis import compute_change_points  # noqa: PLC0415

    values = [figure.value for figure in series]
    change_points, _ = compute_change_points(
        values,
        window_len=WINDOW_RUNS,
        max_pvalue=thresholds.p_value_max,
        min_magnitude=thresholds.min_change,
    )
    ends = [0, *(point.index for point in change_points), len(series)]
    segments = [_segment(series[start:end]) for start, end in pairwise(ends)]
    changes = [
        Change(
            metric=compare.metric,
            unit=compare.unit,
            at=series[point.index].at,
            run_id=series[point.index].run_id,
            before=before,
            after=after,
            change_share=after.mean / before.mean - 1,
            p_value=float(point.stats.pvalue),
            regression=(after.mean < before.mean) == (compare.worse == "less"),
        )
        for point, (before, after) in zip(change_points, pairwise(segments), strict=True)
        if before.mean > 0
    ]
    return tuple(change for change in changes if _large_enough(change, thresholds))


def _large_enough(change: Change, thresholds: Thresholds) -> bool:
    """Otava's own rule takes the larger of after / before and before / after; this one does not."""
    lasting = change.after.runs >= thresholds.runs_after_min
    return lasting and abs(change.change_share) >= thresholds.min_change


def _segment(observations: Sequence[Observation]) -> Segment:
    """Summarize some observations in a row; where bounds are among them, their mean is one."""
    bounds = [observation.bound for observation in observations if observation.bound != "="]
    values = segment([observation.value for observation in observations])
    return values.model_copy(update={"bound": bounds[0]}) if bounds else values


def segment(values: Sequence[float]) -> Segment:
    """Summarize some figures in a row: at least one."""
    spread = stdev(values) if len(values) > 1 else None
    return Segment(runs=len(values), mean=fmean(values), standard_deviation=spread)


def p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """Test two groups of figures, split at a place known beforehand, for one mean (Student's t)."""
    from otava.analysis import TTestSignificanceTester  # noqa: PLC0415 - as above

    stats = TTestSignificanceTester(1.0).compare(list(before), list(after))
    return float(stats.pvalue)
