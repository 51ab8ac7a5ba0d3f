"""What the charts of loads share: shapes, tooltips, legends, and the answer."""

from collections.abc import Iterable, Sequence

from plimsoll import words
from plimsoll.model.capacity import Axis, Capacity
from plimsoll.report import rows, theme
from plimsoll.report.chart import Box, Key, Label, Line, Mark, Rule, Shape, Tip

SHAPES: dict[rows.Outcome, Shape] = {
    "passed": "circle",
    "failed": "cross",
    "client-bound": "diamond",
    "disputed": "triangle",
}
LIMIT_DASH = "2 3"


def drawable(points: Iterable[rows.Row], *fields: str) -> list[rows.Row]:
    """The rows that have all of these figures, by their load."""
    known = (row for row in points if all(row[field] is not None for field in fields))
    return sorted(known, key=lambda row: row["load"])


def outcome_keys(points: Sequence[rows.Row]) -> list[Key]:
    """The legend of what became of a load, as shapes."""
    present = {row["outcome"] for row in points}
    return [Key(name, theme.INK, SHAPES[name]) for name in rows.OUTCOMES if name in present]


def line_of(
    points: Sequence[rows.Row],
    x: str,
    y: str,
    color: str,
    *,
    dash: str = "",
    opacity: float | None = None,
) -> Line:
    """A line through all points in turn."""
    return Line([[(row[x], row[y]) for row in points]], color, dash=dash, opacity=opacity)


def load_tip(row: rows.Row, axis: Axis = "clients") -> Tip:
    """The load and the throughput of a point, how it was judged, and why."""
    offered = axis == "rate_ops_per_second"
    return [
        *([("offered, ops/s", f"{row['load']:,.0f}")] if offered else []),
        ("clients", words.number(row["clients"])),
        ("connections", words.number(row["connections"])),
        ("throughput, ops/s", f"{row['throughput']:,.1f}"),
        ("repetitions", str(row["repetitions"])),
        ("judged", row["outcome"]),
        ("because", row["why"]),
    ]


def limit_tip(row: rows.Row) -> Tip:
    """The limit of an operation's latency."""
    return [("operation", row["operation"]), ("limit, µs", f"{row['limit_us']:,.0f}")]


def answer_marks(capacity: Capacity, most: float) -> list[Mark]:
    """The figure as an upright line, with its interval.

    Args:
        capacity: The verdict.
        most: The end of the axis of throughput.
    """
    figure = capacity.max_sustainable_throughput_ops_per_second
    if figure is None:
        return []
    left = figure < most / 2  # its text stands on the side that has room
    label = Label(
        words.bounded(words.throughput(figure), capacity.bound),
        x=figure,
        shift_px=(6 if left else -6, 11),
        anchor="start" if left else "end",
        bold=True,
    )
    marks: list[Mark] = [Rule(theme.INK, x=figure, width_px=2), label]
    if (interval := capacity.interval) is not None:
        ends = (interval.low_ops_per_second, interval.high_ops_per_second)
        marks.insert(0, Box(ends, color=theme.MUTED, opacity=0.18))
    return marks
