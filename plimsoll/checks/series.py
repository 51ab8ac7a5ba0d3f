"""A check's history as series of figures: comparable runs, censored figures and missing ones.

A bound is a censored figure. It counts as its limit only if that alone shows a change: an upper
bound below the earlier figures, or a lower bound above them. Otherwise it says nothing about a
change.
"""

from collections.abc import Sequence
from statistics import median
from typing import Literal

from plimsoll import words
from plimsoll.capacity.credits import CREDITS
from plimsoll.checks.statistics import RUNS_MIN, Observation, compare_means, summarize_segment
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.request.check import Check, Compare, CompareCapacity, CompareLatency
from plimsoll.model.run.check_history import (
    Cause,
    Change,
    Figure,
    HistoryPoint,
    RunOfCheck,
    Silence,
)
from plimsoll.model.run.results import RunResult

BOUND_RUNS = RUNS_MIN  # number of latest figures whose median a bound is compared with


def extract_series(
    points: Sequence[HistoryPoint], metric: str, *, control: bool = False
) -> tuple[Observation, ...]:
    """Extract one metric of a history; a run without a figure is left out, never 0."""
    observations: list[Observation] = []
    exact: list[float] = []
    for point, run in _filter_comparable(points, control=control):
        figure = run.figures.get(metric)
        if figure is None:
            continue
        if figure.value is not None:
            exact.append(figure.value)
        if (observed := _observe_figure(figure, exact[-BOUND_RUNS:])) is not None:
            value, bound = observed
            observations.append(Observation(point.scheduled_at, run.run_id, value, bound))
    return tuple(observations)


def silences(check: Check, points: Sequence[HistoryPoint]) -> tuple[Silence, ...]:
    """Find the metrics for which at least the latest `missing_runs_max` runs have no figure.

    Args:
        check: The check.
        points: The settled points, by time.
    """
    by_metric = (_find_silence(points, compare.metric) for compare in check.compare)
    most = check.thresholds.missing_runs_max
    return tuple(silence for silence in by_metric if silence is not None and silence.runs >= most)


def _find_silence(points: Sequence[HistoryPoint], metric: str) -> Silence | None:
    answered = {observation.at for observation in extract_series(points, metric)}
    runs = _filter_comparable(points)
    answers = [index for index, (point, _) in enumerate(runs) if point.scheduled_at in answered]
    silent = runs[answers[-1] + 1 :] if answers else runs
    if not silent:
        return None
    (first, _), (_, last) = silent[0], silent[-1]
    return Silence(
        metric=metric,
        since=first.scheduled_at,
        runs=len(silent),
        why=_explain_missing(last, metric),
    )


def _explain_missing(run: RunOfCheck, metric: str) -> str:
    figure = run.figures.get(metric)
    return (figure.why_none if figure else run.problem) or "its result cannot be read"


def _filter_comparable(
    points: Sequence[HistoryPoint], *, control: bool = False
) -> list[tuple[HistoryPoint, RunOfCheck]]:
    """Return the runs that measure the same as the latest one; another request starts anew."""
    sides = [(point, point.control if control else point.target) for point in points]
    runs = [(point, run) for point, run in sides if run is not None]
    return [(point, run) for point, run in runs if run.comparable == runs[-1][1].comparable]


def _observe_figure(figure: Figure, before: Sequence[float]) -> tuple[float, Bound] | None:
    """Return the value and bound that a figure counts as, given the exact ones before it."""
    if figure.value is not None:
        return figure.value, "="
    if not before:
        return None
    level = median(before)
    if figure.below is not None and figure.below < level:
        return figure.below, "<"
    if figure.at_least is not None and figure.at_least > level:
        return figure.at_least, ">="
    return None


# The figures of a finished run for the metrics that a check compares.


RATE_TOLERANCE = 1e-6  # relative: rates pass through JSON as floats


def read_figures(result: RunResult, compare: Sequence[Compare]) -> dict[str, Figure]:
    """Read the figure of every metric; a missing one has a reason, and is never 0."""
    return {metric.metric: _read_figure(result, metric) for metric in compare}


def _read_figure(result: RunResult, compare: CompareCapacity | CompareLatency) -> Figure:
    if result.capacity is None:
        why = result.failure.cause if result.failure else "it drew no verdict"
        return _make_missing(f"the run {result.state}: {why}")
    if isinstance(compare, CompareCapacity):
        return _read_capacity(result)
    return _read_latency(result, compare)


def _read_capacity(result: RunResult) -> Figure:
    """Return the capacity of a knee or a plateau; a bound is returned as a bound."""
    capacity = result.capacity
    assert capacity is not None  # noqa: S101 - see above
    value = capacity.max_sustainable_throughput_ops_per_second
    if value is None or capacity.bound != "=":
        return Figure(
            value=None,
            at_least=value if capacity.bound == ">=" else None,
            below=value if capacity.bound == "<" else None,
            why_none=capacity.sentence,
        )
    interval = capacity.interval
    return Figure(
        value=value,
        low=interval.low_ops_per_second if interval else None,
        high=interval.high_ops_per_second if interval else None,
        bracket=capacity.bracket,
    )


def _read_latency(result: RunResult, compare: CompareLatency) -> Figure:
    capacity = result.capacity
    assert capacity is not None  # noqa: S101 - see above
    rate = compare.rate_ops_per_second
    offered = words.format_load(rate, "rate_ops_per_second")
    at_rate = [
        step for step in capacity.steps if abs(step.load - rate) <= RATE_TOLERANCE * rate
    ]  # the axis is the rate, because the check's request searches rates
    if not at_rate:
        return _make_missing(f"no step at {offered}")
    if len(at_rate) > 1 or CREDITS in at_rate[0].reasons:
        return _make_missing(f"burst credits were spent at {offered}")
    (step,) = at_rate
    if step.client_bound:
        return _make_missing(f"the clients were the limit at {offered}")
    if not step.consistent:
        return _make_missing(f"an audit disputes the step at {offered}")
    if compare.operation not in step.latency_us:
        return _make_missing(f"no {compare.operation} succeeded at {offered}")
    return Figure(value=step.latency_us[compare.operation])


def _make_missing(why: str) -> Figure:
    return Figure(value=None, why_none=why)


# The cause of a change, cloud or database: did the control change as well?


# minimum number of runs with figures of both, on each side of the change
PAIRS_MIN = 3
P_VALUE_MAX = 0.01
PART_MIN = 0.2  # the control counts as moved only if it moved at least this share of the change
NO_CONTROL = Cause(
    kind="unknown",
    words="The check names no control, so it is not known whether the cloud or the database"
    " changed.",
)

Kind = Literal["database", "cloud", "partly cloud", "unknown"]


def cause(
    change: Change, target: Sequence[Observation], control: Sequence[Observation] | None
) -> Cause:
    """Decide whether a change of the target is due to the database or the cloud.

    Args:
        change: The change of the target.
        target: The series of the target.
        control: The series of the control for the same metric; None if the check has no control.
    """
    if control is None:
        return NO_CONTROL
    of_control = {figure.at: figure.value for figure in control if figure.value > 0}
    places = [index for index, figure in enumerate(target) if figure.at == change.at]
    place = places[0]
    sides = (
        target[place - change.before.runs : place],
        target[place : place + change.after.runs],
    )
    before, after = ([figure for figure in side if figure.at in of_control] for side in sides)
    if min(len(before), len(after)) < PAIRS_MIN:
        return Cause(
            kind="unknown",
            words=f"The control has {len(before)} figures before the change and {len(after)} after"
            f" it; {PAIRS_MIN} of each show whether the cloud or the database changed.",
        )
    control_sides = [[of_control[figure.at] for figure in side] for side in (before, after)]
    ratios = [[figure.value / of_control[figure.at] for figure in side] for side in (before, after)]
    first, second = (summarize_segment(side) for side in control_sides)
    moved_share = second.mean / first.mean - 1
    together = _has_moved(control_sides, change)
    kind = _choose_cause_kind(together=together, apart=_has_moved(ratios, change))
    return Cause(
        kind=kind,
        words=_describe_cause(kind, moved_share),
        before=first,
        after=second,
        change_share=moved_share,
        p_value=compare_means(*control_sides),
    )


def _has_moved(sides: Sequence[Sequence[float]], change: Change) -> bool:
    """Whether figures moved in the target's direction, significantly and far enough."""
    before, after = sides
    part = (
        summarize_segment(after).mean / summarize_segment(before).mean - 1
    ) / change.change_share
    return part >= PART_MIN and compare_means(before, after) <= P_VALUE_MAX


def _choose_cause_kind(*, together: bool, apart: bool) -> Kind:
    if together:
        return "partly cloud" if apart else "cloud"
    return "database" if apart else "unknown"


def _describe_cause(kind: Kind, moved_share: float) -> str:
    moved = f"it {words.describe_change(moved_share)}"
    return {
        "database": f"The control did not follow ({moved}): the database changed, not the cloud.",
        "cloud": f"The control moved with it ({moved}): the cloud changed, not the database.",
        "partly cloud": f"The control moved the same way ({moved}), but not as far: both changed.",
        "unknown": f"The control ({moved}) varies too much to show whether the cloud or the"
        " database changed.",
    }[kind]
