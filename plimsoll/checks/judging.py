"""A check's settled history is judged, and what is new in it is told: each thing once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.aws.event_bus import emit
from plimsoll.aws.run_files import files_of
from plimsoll.checks.schedules import POINTS_MOST
from plimsoll.checks.series import cause, series, silences
from plimsoll.checks.statistics import change_points
from plimsoll.checks.store import CheckStore
from plimsoll.errors import PlimsollError
from plimsoll.model.base import Model
from plimsoll.model.deployment.events import CheckAnswered, CheckSilent, Event, RegressionFound
from plimsoll.model.deployment.function_settings import JudgeCheckSettings
from plimsoll.model.request.check import Check
from plimsoll.model.run.check_history import (
    Announced,
    Cause,
    Change,
    HistoryPoint,
    Judgement,
    Segment,
    Silence,
)

# What a check's history says: its changes, and which regressions are not announced yet.


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


# What a check has to tell, in words for people and as an event for programs.


SUBJECT_MOST = 99  # characters; SNS takes no more, and ASCII alone
TEST = "(the place of the change was sought, so it flatters; outliers count at a bound)"


@dataclass(frozen=True, slots=True)
class Message:
    """One message, as it is sent."""

    subject: str
    text: str
    event: Event


def of_regression(team: str, check: str, regression: Regression, results: str | None) -> Message:
    """Tell of a change: before and after, the confidence, whose change it is, where to look.

    Args:
        team: Whose check.
        check: Its name.
        regression: The change.
        results: Address of the files of the first run after it; None: it has none.
    """
    change = regression.change
    headline = f"{change.metric} {_moved(change)}"
    text = "\n".join(
        [
            f"{check} (team {team}): {headline}.",
            "",
            f"Before: {_segment(change.before, change.unit)}",
            f"After:  {_segment(change.after, change.unit)}",
            f"Since:  the run scheduled for {change.at:%Y-%m-%d %H:%M} UTC",
            f"Confidence: p = {change.p_value:.1g} {TEST}",
            f"Cause:  {regression.cause.words}",
            "",
            f"Report: {results}report.html" if results else "The run left no results.",
            _where(check),
        ]
    )
    event = RegressionFound(
        team=team, check=check, change=change, cause=regression.cause, results=results, text=text
    )
    return Message(_subject(check, headline), text, event)


def of_silence(team: str, check: str, silences: Sequence[Silence]) -> Message:
    """Tell that the latest runs of a check have said nothing of some metrics: at least one."""
    headline = f"no answer for {words.plural(max(one.runs for one in silences), 'run')} in a row"
    text = "\n".join(
        [f"{check} (team {team}): {headline}.", "", *map(silence_line, silences), "", _where(check)]
    )
    event = CheckSilent(team=team, check=check, silences=tuple(silences), text=text)
    return Message(_subject(check, headline), text, event)


def of_recovery(team: str, check: str, silences: Sequence[Silence]) -> Message:
    """Tell that a check says something again of metrics that had fallen silent."""
    headline = f"it answers again: {', '.join(one.metric for one in silences)}"
    text = "\n".join(
        [f"{check} (team {team}): {headline}.", "", *map(_gap, silences), "", _where(check)]
    )
    event = CheckAnswered(team=team, check=check, silences=tuple(silences), text=text)
    return Message(_subject(check, headline), text, event)


def _subject(check: str, headline: str) -> str:
    """Write a subject: `Plimsoll: nightly: capacity fell by 15.2 %`."""
    line = f"Plimsoll: {check}: {headline}"
    return line.encode("ascii", "replace").decode()[:SUBJECT_MOST]


def _where(check: str) -> str:
    return f"History: plimsoll schedule history {check}"


def _moved(change: Change) -> str:
    return words.moved(change.change_share) + (" or more" if change.at_least else "")


def _segment(part: Segment, unit: str) -> str:
    spread = part.standard_deviation
    within = "" if spread is None else f", standard deviation {words.metric(spread, unit)}"
    bounds = "" if part.bound == "=" else "; bounds among them count as their limits"
    mean = words.bounded(words.metric(part.mean, unit), part.bound)
    return f"{mean} (mean of {words.plural(part.runs, 'run')}{within}{bounds})"


def silence_line(silence: Silence) -> str:
    """Write since when a metric is missing, and why: one line."""
    return f"{_gap(silence)} Latest: {silence.why}"


def _gap(silence: Silence) -> str:
    runs = words.plural(silence.runs, "run")
    return f"{silence.metric}: {runs} without a figure since {silence.since:%Y-%m-%d %H:%M} UTC."


ATTEMPTS = 5


def judge(settings: JudgeCheckSettings, team: str, check: Check) -> int:
    """Judge a check's settled points; if another call wrote first, judge again from what it wrote.

    Returns:
        How many messages were sent.

    Raises:
        PlimsollError: Others judged it meanwhile, each time.
    """
    store = CheckStore(settings.service_table)
    for _ in range(ATTEMPTS):
        version, before = store.judgement(team, check.name)
        points = store.read_points(team, check.name, most=POINTS_MOST)
        settled = [point for point in points if point.settled]
        found = regressions(check, settled, before.announced)
        now = Judgement(
            changes=changes(check, settled),
            announced=(*before.announced, *(_announcement(one, settled) for one in found)),
            silences=silences(check, settled),
        )
        messages = [
            *(_of_regression(settings, team, check, regression) for regression in found),
            *_of_silences(team, check, before.silences, now.silences),
        ]
        if store.write_judgement(team, check.name, now, version=version):
            _send(settings, store, team, check, messages, taken_back=(version + 1, before))
            return len(messages)
    raise PlimsollError(f"{check.name}: {ATTEMPTS} others judged it meanwhile")


def _announcement(regression: Regression, points: Sequence[HistoryPoint]) -> Announced:
    return Announced(
        metric=regression.change.metric, at=regression.change.at, through=points[-1].scheduled_at
    )


def _of_regression(
    settings: JudgeCheckSettings, team: str, check: Check, regression: Regression
) -> Message:
    run_id = regression.change.run_id
    results = files_of(settings, run_id).address if run_id else None
    return of_regression(team, check.name, regression, results)


def _of_silences(
    team: str, check: Check, before: Sequence[Silence], now: Sequence[Silence]
) -> list[Message]:
    """Tell once of the metrics that have fallen silent, and once of those that have ended it."""
    known, silent = ({one.metric for one in some} for some in (before, now))
    compared = {compare.metric for compare in check.compare}
    fallen = [one for one in now if one.metric not in known]
    ended = [one for one in before if one.metric not in silent and one.metric in compared]
    told = [(of_silence, fallen), (of_recovery, ended)]
    return [tell(team, check.name, some) for tell, some in told if some]


def _send(
    settings: JudgeCheckSettings,
    store: CheckStore,
    team: str,
    check: Check,
    messages: Sequence[Message],
    *,
    taken_back: tuple[int, Judgement],
) -> None:
    """Send the messages. They are recorded as sent first, so that of two calls only one sends.

    If one cannot be sent, the record is taken back and the call fails, to be repeated.
    """
    try:
        for one in messages:
            clients.sns().publish(
                TopicArn=settings.alarm_topic_arn, Subject=one.subject, Message=one.text
            )
            emit(settings.event_bus, one.event)
    except Exception:
        version, before = taken_back
        store.write_judgement(team, check.name, before, version=version)
        raise
