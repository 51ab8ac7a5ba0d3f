"""Colors, and the look that all charts share.

Charts name colors as CSS variables, so that the page turns dark, or black on white in print,
without a new drawing; `resolved` inserts the colors for pictures. The series colors follow Okabe
and Ito's palette, which can be told apart with any color vision, adjusted to at least 3:1 contrast
on their background. Whatever a color shows is also shown by a shape, a dash, a label or an order.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from plimsoll import words
from plimsoll.model.judging.capacity import Axis, LoadOutcome
from plimsoll.report.charts import rows
from plimsoll.report.charts.chart import Box, Key, Label, Line, Mark, Rule, Shape, Tip

Theme = Literal["light", "dark"]

LIGHT = {
    "page": "#f4f6f8",
    "surface": "#ffffff",
    "ink": "#14202b",
    "muted": "#566472",
    "grid": "#e2e7ec",
    "rule": "#9aa7b4",
    "band": "#eef2f6",
    "pass": "#00704f",
    "fail": "#b3261e",
    "warn": "#8a5a00",
    "series-1": "#0069b0",
    "series-2": "#c44e00",
    "series-3": "#007f5c",
    "series-4": "#a8327f",
    "series-5": "#806600",
    "series-6": "#475569",
    "heat-1": "#deebf7",
    "heat-2": "#b5d3ea",
    "heat-3": "#7fb3d9",
    "heat-4": "#4690c4",
    "heat-5": "#1d6aa8",
    "heat-6": "#08417f",
    "heat-7": "#041f4a",
}
DARK = {
    "page": "#0e141a",
    "surface": "#172029",
    "ink": "#e9eff5",
    "muted": "#a3b2c0",
    "grid": "#2a3642",
    "rule": "#6b7b8a",
    "band": "#1e2933",
    "pass": "#46d3a3",
    "fail": "#ff8f85",
    "warn": "#f0c05a",
    "series-1": "#5ab4f2",
    "series-2": "#f79a4b",
    "series-3": "#43cfa0",
    "series-4": "#e58ac0",
    "series-5": "#e0c24f",
    "series-6": "#a9b6c4",
    "heat-1": "#20374c",
    "heat-2": "#23507a",
    "heat-3": "#2a6ea9",
    "heat-4": "#3f91cf",
    "heat-5": "#74b7e4",
    "heat-6": "#b0d8f0",
    "heat-7": "#e8f5fc",
}
COLORS: dict[Theme, dict[str, str]] = {"light": LIGHT, "dark": DARK}

SERIES = tuple(f"var(--series-{n})" for n in range(1, 7))
TARGET = (SERIES[2], SERIES[4], SERIES[3])  # the target's own figures; the first ones differ most
HEAT = tuple(f"var(--heat-{n})" for n in range(1, 8))
INK, MUTED, GRID, RULE, BAND = (
    f"var(--{name})" for name in ("ink", "muted", "grid", "rule", "band")
)
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def choose_series_colors(count: int) -> list[str]:
    """Return the colors of so many series; they repeat after six."""
    return [SERIES[i % len(SERIES)] for i in range(count)]


def insert_colors(drawn: str, theme: Theme) -> str:
    """Insert a theme's colors into a drawing that names CSS variables."""
    for name, color in COLORS[theme].items():
        drawn = drawn.replace(f"var(--{name})", color)
    return drawn


def write_theme_css(theme: Theme) -> str:
    """Return a theme's colors as CSS declarations."""
    return " ".join(f"--{name}: {color};" for name, color in COLORS[theme].items())


# Shared by the charts by load: shapes, tooltips, legends, and the answer.


SHAPES: dict[LoadOutcome, Shape] = {
    "passed": "circle",
    "failed": "cross",
    "undecided": "square",
    "client-bound": "diamond",
    "disputed": "triangle",
}
LIMIT_DASH = "2 3"


def select_drawable(points: Iterable[rows.Row], *fields: str) -> list[rows.Row]:
    """Return the rows that have all of these figures, by load."""
    known = (row for row in points if all(row[field] is not None for field in fields))
    return sorted(known, key=lambda row: row["load"])


def list_outcome_keys(points: Sequence[rows.Row]) -> list[Key]:
    """Build the legend of outcomes, which are shown as shapes."""
    present = {row["outcome"] for row in points}
    return [Key(name, INK, SHAPES[name]) for name in rows.OUTCOMES if name in present]


def draw_line_through(
    points: Sequence[rows.Row],
    x: str,
    y: str,
    color: str,
    *,
    dash: str = "",
    opacity: float | None = None,
) -> Line:
    """Draw a line through all points in order."""
    return Line([[(row[x], row[y]) for row in points]], color, dash=dash, opacity=opacity)


def load_tip(row: rows.Row, axis: Axis = "clients") -> Tip:
    """Build a point's tooltip: load, throughput, judgement and reasons."""
    offered = axis == "rate_ops_per_second"
    counts = [name for name in ("clients", "connections") if row[name] is not None]
    return [
        *([("offered, ops/s", f"{row['load']:,.0f}")] if offered else []),
        *((name, words.format_number(row[name])) for name in counts),
        ("throughput, ops/s", f"{row['throughput']:,.1f}"),
        ("repetitions", str(row["repetitions"])),
        ("judged", row["outcome"]),
        ("because", row["why"]),
    ]


def make_limit_tip(row: rows.Row) -> Tip:
    """Build the tooltip of a latency limit."""
    return [("operation", row["operation"]), ("limit, µs", f"{row['limit_us']:,.0f}")]


def answer_marks(answer: rows.AnswerLine | None, most: float) -> list[Mark]:
    """Draw the figure as a vertical line, with its interval.

    Args:
        answer: The figure; None draws nothing.
        most: The end of the throughput axis.
    """
    if answer is None:
        return []
    figure = answer.ops_per_second
    left = figure < most / 2  # the text stands on the side with room
    told = words.prepend_bound(words.format_throughput(figure), answer.bound)
    label = Label(
        f"{told}, the lower end of the interval" if answer.is_lower_end else told,
        x=figure,
        shift_px=(6 if left else -6, 11),
        anchor="start" if left else "end",
        bold=True,
    )
    marks: list[Mark] = [Rule(INK, x=figure, width_px=2), label]
    if answer.interval is not None:
        marks.insert(0, Box(answer.interval, color=MUTED, opacity=0.18))
    return marks
