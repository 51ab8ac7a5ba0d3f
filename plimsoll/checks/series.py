"""A history as figures in a row: which runs take part, what bounds count for, and what is missing.

A bound is a censored figure. It takes part as its limit where that limit alone tells that something
has changed: an upper bound below the figures before it, a lower bound above them. Elsewhere it says
nothing of a change.
"""

from collections.abc import Sequence
from statistics import median

from plimsoll.checks.change_points import RUNS_MIN, Observation
from plimsoll.model.capacity import Bound
from plimsoll.model.check import Check
from plimsoll.model.check_history import Figure, HistoryPoint, RunOfCheck, Silence

BOUND_RUNS = RUNS_MIN  # the latest figures, with whose median a bound is compared


def series(
    points: Sequence[HistoryPoint], metric: str, *, control: bool = False
) -> tuple[Observation, ...]:
    """Take one metric out of a history; a run without a figure is left out, never 0."""
    observations: list[Observation] = []
    exact: list[float] = []
    for point, run in _comparable(points, control=control):
        figure = run.figures.get(metric)
        if figure is None:
            continue
        if figure.value is not None:
            exact.append(figure.value)
        if (observed := _observed(figure, exact[-BOUND_RUNS:])) is not None:
            value, bound = observed
            observations.append(Observation(point.scheduled_at, run.run_id, value, bound))
    return tuple(observations)


def silences(check: Check, points: Sequence[HistoryPoint]) -> tuple[Silence, ...]:
    """Find the metrics of which the latest `missing_runs_max` runs or more say nothing.

    Args:
        check: The check.
        points: Settled points, by time.
    """
    by_metric = (_silence(points, compare.metric) for compare in check.compare)
    most = check.thresholds.missing_runs_max
    return tuple(silence for silence in by_metric if silence is not None and silence.runs >= most)


def _silence(points: Sequence[HistoryPoint], metric: str) -> Silence | None:
    answered = {observation.at for observation in series(points, metric)}
    runs = _comparable(points)
    answers = [index for index, (point, _) in enumerate(runs) if point.scheduled_at in answered]
    silent = runs[answers[-1] + 1 :] if answers else runs
    if not silent:
        return None
    (first, _), (_, last) = silent[0], silent[-1]
    return Silence(
        metric=metric, since=first.scheduled_at, runs=len(silent), why=_why(last, metric)
    )


def _why(run: RunOfCheck, metric: str) -> str:
    figure = run.figures.get(metric)
    return (figure.why_none if figure else run.problem) or "its result cannot be read"


def _comparable(
    points: Sequence[HistoryPoint], *, control: bool = False
) -> list[tuple[HistoryPoint, RunOfCheck]]:
    """Take the runs that measure what the latest does: of another request, a new history begins."""
    sides = [(point, point.control if control else point.target) for point in points]
    runs = [(point, run) for point, run in sides if run is not None]
    return [(point, run) for point, run in runs if run.comparable == runs[-1][1].comparable]


def _observed(figure: Figure, before: Sequence[float]) -> tuple[float, Bound] | None:
    """Give what a figure counts for, beside the exact ones before it."""
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
