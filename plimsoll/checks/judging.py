"""Judges a check's history, and reports each new finding once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.aws.event_bus import put_event
from plimsoll.aws.run_files import files_of
from plimsoll.checks.schedules import POINTS_MOST
from plimsoll.checks.series import cause, extract_series, silences
from plimsoll.checks.statistics import find_change_points
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

# Changes in a history, and the regressions that were not announced yet.


SAME_RUNS = 2  # two places at most this many runs apart belong to one change
MOVED_RUNS = 8  # a place may move by this many runs, as more runs show where a slow change ends


class Regression(Model):
    """A change for the worse, with its cause."""

    change: Change
    cause: Cause


def find_changes(check: Check, points: Sequence[HistoryPoint]) -> tuple[Change, ...]:
    """Find all changes in a history, for every metric that the check compares, by time.

    Args:
        check: The check.
        points: The settled points, by time.
    """
    all_changes = [
        change
        for compare in check.compare
        for change in find_change_points(
            extract_series(points, compare.metric), compare, check.thresholds
        )
    ]
    return tuple(sorted(all_changes, key=lambda change: change.at))


def find_regressions(
    check: Check, points: Sequence[HistoryPoint], announced: Sequence[Announced]
) -> tuple[Regression, ...]:
    """Find the regressions that were not announced yet.

    Further runs may move the place of a change. A change counts as announced if its place is among
    the runs that were known when a message was sent, or at most `SAME_RUNS` runs after the
    announced place; or at most `MOVED_RUNS` after it, if no other change is left at the announced
    place.
    """
    found = find_changes(check, points)
    return tuple(
        Regression(change=change, cause=_find_cause(check, points, change))
        for change in found
        if change.regression and not _is_announced(change, found, points, announced)
    )


def _is_announced(
    change: Change,
    found: Sequence[Change],
    points: Sequence[HistoryPoint],
    announced: Sequence[Announced],
) -> bool:
    runs = [figure.at for figure in extract_series(points, change.metric)]
    earlier = [one.at for one in found if one.metric == change.metric and one.at < change.at]
    return any(
        change.at <= announcement.through or _is_at(change.at, earlier, runs, announcement.at)
        for announcement in announced
        if announcement.metric == change.metric
    )


def _is_at(
    place: datetime, earlier: Sequence[datetime], runs: Sequence[datetime], announced: datetime
) -> bool:
    """Whether a change is at the announced place, or has moved on from it."""
    runs_after = sum(announced < at <= place for at in runs)
    if runs_after <= SAME_RUNS or announced not in runs:
        return runs_after <= SAME_RUNS
    first = runs[max(0, runs.index(announced) - SAME_RUNS)]
    return runs_after <= MOVED_RUNS and all(at < first for at in earlier)


def _find_cause(check: Check, points: Sequence[HistoryPoint], change: Change) -> Cause:
    target = extract_series(points, change.metric)
    control = extract_series(points, change.metric, control=True) if check.control else None
    return cause(change, target, control)


# The messages of a check: text for people, an event for programs.


SUBJECT_MOST = 99  # in characters, ASCII only: the limit of SNS
TEST = (
    "(the position of the change was chosen by the data, so p is too small; outliers count at a"
    " bound)"
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message in the form in which it is sent."""

    subject: str
    text: str
    event: Event


def compose_regression(
    team: str, check: str, regression: Regression, results: str | None
) -> Message:
    """Compose the message about a regression: before, after, confidence, cause, where to look.

    Args:
        team: The team of the check.
        check: The name of the check.
        regression: The regression.
        results: The address of the files of the first run after it; None if there are none.
    """
    change = regression.change
    headline = f"{change.metric} {_describe_move(change)}"
    text = _write_text(
        team,
        check,
        headline,
        f"Before: {_describe_segment(change.before, change.unit)}",
        f"After:  {_describe_segment(change.after, change.unit)}",
        f"Since:  the run scheduled for {change.at:%Y-%m-%d %H:%M} UTC",
        f"Confidence: p = {change.p_value:.1g} {TEST}",
        f"Cause:  {regression.cause.words}",
        report=f"Report: {results}report.html" if results else "The run left no results.",
    )
    event = RegressionFound(
        team=team, check=check, change=change, cause=regression.cause, results=results, text=text
    )
    return Message(_write_subject(check, headline), text, event)


def compose_silence(team: str, check: str, silences: Sequence[Silence]) -> Message:
    """Compose the message that a check's latest runs have no figure for at least one metric."""
    headline = (
        f"no answer for {words.format_count(max(one.runs for one in silences), 'run')} in a row"
    )
    text = _write_text(team, check, headline, *map(describe_silence, silences))
    event = CheckSilent(team=team, check=check, silences=tuple(silences), text=text)
    return Message(_write_subject(check, headline), text, event)


def compose_recovery(team: str, check: str, silences: Sequence[Silence]) -> Message:
    """Compose the message that a check has figures again for metrics that lacked them."""
    headline = f"it has a figure again: {', '.join(one.metric for one in silences)}"
    text = _write_text(team, check, headline, *map(_describe_gap, silences))
    event = CheckAnswered(team=team, check=check, silences=tuple(silences), text=text)
    return Message(_write_subject(check, headline), text, event)


def _write_text(
    team: str, check: str, headline: str, *lines: str, report: str | None = None
) -> str:
    """Write a message: its headline, its lines, and where to look further."""
    history = f"History: plimsoll schedule history {check}"
    further = [history] if report is None else [report, history]
    return "\n".join([f"{check} (team {team}): {headline}.", "", *lines, "", *further])


def _write_subject(check: str, headline: str) -> str:
    """Return a subject: `Plimsoll: nightly: capacity fell by 15.2 %`."""
    line = f"Plimsoll: {check}: {headline}"
    return line.encode("ascii", "replace").decode()[:SUBJECT_MOST]


def _describe_move(change: Change) -> str:
    return words.describe_change(change.change_share) + (" or more" if change.at_least else "")


def _describe_segment(part: Segment, unit: str) -> str:
    spread = part.standard_deviation
    within = "" if spread is None else f", standard deviation {words.format_in_unit(spread, unit)}"
    bounds = "" if part.bound == "=" else "; bounds among them count as their limits"
    mean = words.prepend_bound(words.format_in_unit(part.mean, unit), part.bound)
    return f"{mean} (mean of {words.format_count(part.runs, 'run')}{within}{bounds})"


def describe_silence(silence: Silence) -> str:
    """Describe in one line since when a metric is missing, and why."""
    return f"{_describe_gap(silence)} Latest: {silence.why}"


def _describe_gap(silence: Silence) -> str:
    runs = words.format_count(silence.runs, "run")
    return f"{silence.metric}: {runs} without a figure since {silence.since:%Y-%m-%d %H:%M} UTC."


ATTEMPTS = 5


def judge_history(settings: JudgeCheckSettings, team: str, check: Check) -> int:
    """Judge a check's settled points. If another call wrote first, judge again from its result.

    Returns:
        The number of messages sent.

    Raises:
        PlimsollError: Other calls were faster in every attempt.
    """
    store = CheckStore(settings.service_table)
    for _ in range(ATTEMPTS):
        version, before = store.judgement(team, check.name)
        points = store.read_points(team, check.name, most=POINTS_MOST)
        settled = [point for point in points if point.settled]
        found = find_regressions(check, settled, before.announced)
        now = Judgement(
            changes=find_changes(check, settled),
            announced=(*before.announced, *(_make_announcement(one, settled) for one in found)),
            silences=silences(check, settled),
        )
        messages = [
            *(_compose_with_results(settings, team, check, regression) for regression in found),
            *_compose_silences(team, check, before.silences, now.silences),
        ]
        if store.write_judgement(team, check.name, now, version=version):
            _send_messages(settings, store, team, check, messages, taken_back=(version + 1, before))
            return len(messages)
    raise PlimsollError(f"{check.name}: {ATTEMPTS} others judged it meanwhile")


def _make_announcement(regression: Regression, points: Sequence[HistoryPoint]) -> Announced:
    return Announced(
        metric=regression.change.metric, at=regression.change.at, through=points[-1].scheduled_at
    )


def _compose_with_results(
    settings: JudgeCheckSettings, team: str, check: Check, regression: Regression
) -> Message:
    run_id = regression.change.run_id
    results = files_of(settings, run_id).address if run_id else None
    return compose_regression(team, check.name, regression, results)


def _compose_silences(
    team: str, check: Check, before: Sequence[Silence], now: Sequence[Silence]
) -> list[Message]:
    """Compose one message for metrics that fell silent, and one for those that answer again."""
    known, silent = ({one.metric for one in some} for some in (before, now))
    compared = {compare.metric for compare in check.compare}
    fallen = [one for one in now if one.metric not in known]
    ended = [one for one in before if one.metric not in silent and one.metric in compared]
    told = [(compose_silence, fallen), (compose_recovery, ended)]
    return [tell(team, check.name, some) for tell, some in told if some]


def _send_messages(
    settings: JudgeCheckSettings,
    store: CheckStore,
    team: str,
    check: Check,
    messages: Sequence[Message],
    *,
    taken_back: tuple[int, Judgement],
) -> None:
    """Send the messages.

    They are recorded as sent beforehand, so that of two concurrent calls only one sends. If sending
    fails, the record is reverted and the call fails, to be repeated.
    """
    try:
        for one in messages:
            clients.sns().publish(
                TopicArn=settings.alarm_topic_arn, Subject=one.subject, Message=one.text
            )
            put_event(settings.event_bus, one.event)
    except Exception:
        version, before = taken_back
        store.write_judgement(team, check.name, before, version=version)
        raise
