"""Charts as data: panels, their marks, and the texts of their tooltips. Nothing is drawn here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll import words
from plimsoll.report.charts.scale import Scale

Rows = list[dict[str, Any]]
Shape = Literal["circle", "cross", "diamond", "triangle", "square", "line"]
Tip = Sequence[tuple[str, str]]  # name and text of each tooltip line


@dataclass(frozen=True)
class Line:
    """A line through each stretch of points; a stretch of one point is a dot."""

    stretches: Sequence[Sequence[tuple[float, float]]]
    color: str
    width_px: float = 2
    dash: str = ""
    opacity: float | None = None


@dataclass(frozen=True)
class Bars:
    """Rectangles of one color: from x to x2, from y to y2."""

    bars: Sequence[tuple[float, float, float, float]]
    color: str
    opacity: float | None = None
    tip: Tip = ()


@dataclass(frozen=True)
class Box:
    """One rectangle; as high as the panel if it has no `y`."""

    x: tuple[float, float]
    y: tuple[float, float] | None = None
    color: str = "none"
    edge: str | None = None
    opacity: float | None = None
    tip: Tip = ()


@dataclass(frozen=True)
class Rule:
    """A straight line across the panel: vertical at `x`, or horizontal at `y`."""

    color: str
    x: float | None = None
    y: float | None = None
    width_px: float = 1.5
    dash: str = ""
    opacity: float | None = None
    tip: Tip = ()


@dataclass(frozen=True)
class Point:
    """A point with a tooltip."""

    x: float
    y: float
    color: str
    shape: Shape = "circle"
    radius_px: float = 5
    hollow: bool = False
    tip: Tip = ()


@dataclass(frozen=True)
class Label:
    """A text beside a point; at the left edge without `x`, at the top without `y`."""

    text: str
    x: float | None = None
    y: float | None = None
    shift_px: tuple[float, float] = (0, 0)
    anchor: Literal["start", "middle", "end"] = "start"
    color: str = "var(--ink)"
    size_px: int = 11
    bold: bool = False
    upright: bool = False


Mark = Line | Bars | Box | Rule | Point | Label


@dataclass(frozen=True)
class Key:
    """An entry of the legend."""

    label: str
    color: str
    shape: Shape = "circle"
    dash: str = ""


@dataclass(frozen=True)
class Readout:
    """The values that a tooltip shows at each moment of a panel.

    Attributes:
        width_s: The length of a moment in seconds.
        digits: The number of decimals shown.
        moments: The start of each moment, in seconds of the run.
        series: {title with unit: a value for each moment; None if nothing was measured}.
    """

    width_s: float
    digits: int
    moments: Sequence[float]
    series: Mapping[str, Sequence[float | None]]

    @property
    def summary(self) -> str:
        """Describe the range of each series, as a text alternative."""
        parts = []
        for title, values in self.series.items():
            known = [value for value in values if value is not None]
            if known:
                low, high = words.format_rate(min(known)), words.format_rate(max(known))
                parts.append(f"{title}: from {low} to {high}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Panel:
    """A plot: two axes, marks, and a legend.

    Attributes:
        id: The id, unique in a page.
        x: The horizontal axis.
        y: The vertical axis; its title stands above the panel.
        marks: The marks, from back to front.
        height_px: The height of the plot alone.
        keys: The legend.
        summary: The text alternative.
        readout: The tooltip values of a panel over time.
        latency_rows: The rows of a heat map in each octave of latency.
        axis: Whether the horizontal axis has texts; of stacked panels, only the last has.
    """

    id: str
    x: Scale
    y: Scale
    marks: Sequence[Mark]
    height_px: int
    keys: Sequence[Key] = ()
    summary: str = ""
    readout: Readout | None = None
    latency_rows: int | None = None
    axis: bool = True


@dataclass(frozen=True)
class Chart:
    """Panels, one below the other.

    Attributes:
        id: The id, unique in a page.
        panels: The panels, from the top.
        length_s: The length of the run, if the panels are over its time.
        steps: The index, start, start of the window and end of each step on that clock.
    """

    id: str
    panels: Sequence[Panel]
    length_s: float | None = None
    steps: Sequence[tuple[int, float, float, float]] = ()


def describe_points(points: Sequence[Point]) -> str:
    """Return the tooltips of points as text."""
    return "; ".join(", ".join(f"{name} {text}" for name, text in point.tip) for point in points)
