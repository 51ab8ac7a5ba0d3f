"""What a check has to tell, in words for people and as an event for programs."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.checks.changes import Regression
from plimsoll.model.check_history import Change, Segment, Silence
from plimsoll.model.events import CheckAnswered, CheckSilent, Event, RegressionFound

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
