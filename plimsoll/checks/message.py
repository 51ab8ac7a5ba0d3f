"""A regression in words, for people."""

from plimsoll import figures
from plimsoll.checks.changes import Regression
from plimsoll.model.check import Change, Segment

SUBJECT_MOST = 99  # characters; SNS takes no more, and ASCII alone
TEST = (
    "(Student's t-test of the runs before against those after; the place of the change was"
    " sought, so it flatters)"
)


def subject(check: str, change: Change) -> str:
    """Write the subject of a message: `Plimsoll: nightly: capacity fell by 15.2 %`."""
    line = f"Plimsoll: {check}: {change.metric} {_moved(change)}"
    return line.encode("ascii", "replace").decode()[:SUBJECT_MOST]


def text(team: str, check: str, found: Regression, results: str | None) -> str:
    """Write a message: before and after, the confidence, whose change it is, and where to look."""
    change = found.change
    lines = [
        f"{check} (team {team}): {change.metric} {_moved(change)}.",
        "",
        f"Before: {_segment(change.before, change.unit)}",
        f"After:  {_segment(change.after, change.unit)}",
        f"Since:  the run scheduled for {change.at:%Y-%m-%d %H:%M} UTC",
        f"Confidence: p = {change.p_value:.1g} {TEST}",
        f"Cause:  {found.cause.words}",
        "",
        f"Report: {results}report.html" if results else "The run left no results.",
        f"History: plimsoll schedule history {check}",
    ]
    return "\n".join(lines)


def _moved(change: Change) -> str:
    way = "fell" if change.change_share < 0 else "rose"
    return f"{way} by {abs(change.change_share) * 100:.1f} %"


def _segment(part: Segment, unit: str) -> str:
    spread = part.standard_deviation
    within = "" if spread is None else f", standard deviation {_value(spread, unit)}"
    count = "1 run" if part.runs == 1 else f"{part.runs} runs"
    return f"{_value(part.mean, unit)} (mean of {count}{within})"


def _value(value: float, unit: str) -> str:
    return figures.latency(value) if unit == "us" else f"{figures.rate(value)} {unit}"
