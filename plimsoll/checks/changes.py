"""What a check's history says: its changes, and which regressions are not announced yet."""

from collections.abc import Sequence
from datetime import datetime

from plimsoll.checks.change_points import change_points
from plimsoll.checks.control import cause
from plimsoll.checks.series import series
from plimsoll.model.base import Model
from plimsoll.model.check import Check
from plimsoll.model.check_history import Announced, Cause, Change, HistoryPoint

SAME_RUNS = 2  # so many runs apart, two places are of one change
MOVED_RUNS = 8  # so far a place may move on, as more runs tell where a slow change ends


class Regression(Model):
    """A change for the worse, and its cause."""

    change: Change
    cause: Cause


def changes(check: Check, points: Sequence[HistoryPoint]) -> tuple[Change, ...]:
    """Find every change in a history, of every metric that the check compares, by time.

    Args:
        check: The check.
        points: Settled points, by time.
    """
    all_changes = [
        change
        for compare in check.compare
        for change in change_points(series(points, compare.metric), compare, check.thresholds)
    ]
    return tuple(sorted(all_changes, key=lambda change: change.at))


def regressions(
    check: Check, points: Sequence[HistoryPoint], announced: Sequence[Announced]
) -> tuple[Regression, ...]:
    """Find the regressions that have not been announced.

    More runs may move the place of a change. A change counts as announced if its place is among the
    runs that were known when a message was sent, or at most `SAME_RUNS` runs after the announced
    place; and at most `MOVED_RUNS` after it, if no other change is left where it was announced.
    """
    found = changes(check, points)
    return tuple(
        Regression(change=change, cause=_cause(check, points, change))
        for change in found
        if change.regression and not _is_announced(change, found, points, announced)
    )


def _is_announced(
    change: Change,
    found: Sequence[Change],
    points: Sequence[HistoryPoint],
    announced: Sequence[Announced],
) -> bool:
    runs = [figure.at for figure in series(points, change.metric)]
    earlier = [one.at for one in found if one.metric == change.metric and one.at < change.at]
    return any(
        change.at <= announcement.through or _is_at(change.at, earlier, runs, announcement.at)
        for announcement in announced
        if announcement.metric == change.metric
    )


def _is_at(
    place: datetime, earlier: Sequence[datetime], runs: Sequence[datetime], announced: datetime
) -> bool:
    """Whether a change lies at the announced place, or has moved on from it."""
    runs_after = sum(announced < at <= place for at in runs)
    if runs_after <= SAME_RUNS or announced not in runs:
        return runs_after <= SAME_RUNS
    first = runs[max(0, runs.index(announced) - SAME_RUNS)]
    return runs_after <= MOVED_RUNS and all(at < first for at in earlier)


def _cause(check: Check, points: Sequence[HistoryPoint], change: Change) -> Cause:
    target = series(points, change.metric)
    control = series(points, change.metric, control=True) if check.control else None
    return cause(change, target, control)
