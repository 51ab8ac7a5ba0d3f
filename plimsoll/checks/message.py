"""A regression in words, for people."""

from plimsoll import words
from plimsoll.checks.changes import Regression
from plimsoll.model.check import Change, Segment

SUBJECT_MOST = 99  # characters; SNS takes no more, and ASCII alone
TEST = (
    "(Student's t-test of the runs before against those after; the place of the change was"
    " sought, so it flatters)"
)


def subject(check: str, change: Change) -> str:
    """Write the subject of a message: `Plimsoll: nightly: capacity fell by 15.2 %`."""
    line = f"Plimsoll: {check}: {change.metric} {words.moved(change.change_share)}"
    return line.encode("ascii", "replace").decode()[:SUBJECT_MOST]


def text(team: str, check: str, regression: Regression, results: str | None) -> str:
    """Write a message: before and after, the confidence, whose change it is, and where to look."""
    change = regression.change
    lines = [
        f"{check} (team {team}): {change.metric} {words.moved(change.change_share)}.",
        "",
        f"Before: {_segment(change.before, change.unit)}",
        f"After:  {_segment(change.after, change.unit)}",
        f"Since:  the run scheduled for {change.at:%Y-%m-%d %H:%M} UTC",
        f"Confidence: p = {change.p_value:.1g} {TEST}",
        f"Cause:  {regression.cause.words}",
        "",
        f"Report: {results}report.html" if results else "The run left no results.",
        f"History: plimsoll schedule history {check}",
    ]
    return "\n".join(lines)


def _segment(part: Segment, unit: str) -> str:
    spread = part.standard_deviation
    within = "" if spread is None else f", standard deviation {words.metric(spread, unit)}"
    return f"{words.metric(part.mean, unit)} (mean of {words.plural(part.runs, 'run')}{within})"
