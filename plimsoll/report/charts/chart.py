"""Charts as descriptions: panels, what lies in them, and what the pointer is told. No drawing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll import words
from plimsoll.report.charts.scale import Scale

Rows = list[dict[str, Any]]
Shape = Literal["circle", "cross", "diamond", "triangle", "square", "line"]
Tip = Sequence[tuple[str, str]]  # name and text of each line that the pointer is told


@dataclass(frozen=True)
class Line:
    """A line for each stretch of points; a stretch of one point is a dot."""

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
    """One rectangle; over the whole height where it has no `y`."""

    x: tuple[float, float]
    y: tuple[float, float] | None = None
    color: str = "none"
    edge: str | None = None
    opacity: float | None = None
    tip: Tip = ()


@dataclass(frozen=True)
class Rule:
    """A straight line across the panel: upright at `x`, or level at `y`."""

    color: str
    x: float | None = None
    y: float | None = None
    width_px: float = 1.5
    dash: str = ""
    opacity: float | None = None
    tip: Tip = ()


@dataclass(frozen=True)
class Point:
    """A point that the pointer can ask."""

    x: float
    y: float
    color: str
    shape: Shape = "circle"
    radius_px: float = 5
    hollow: bool = False
    tip: Tip = ()


@dataclass(frozen=True)
class Label:
    """A text beside a point; without `x` at the left edge, without `y` at the top."""

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
    """A line of the legend."""

    label: str
    color: str
    shape: Shape = "circle"
    dash: str = ""


@dataclass(frozen=True)
class Readout:
    """What the pointer is told over a moment of a panel: each series there.

    Attributes:
        width_s: The length of a moment.
        digits: Decimals that are shown.
        moments: When each begins, in seconds of the run.
        series: {title with unit: a value for each moment; None: nothing was measured}.
    """

    width_s: float
    digits: int
    moments: Sequence[float]
    series: Mapping[str, Sequence[float | None]]

    @property
    def summary(self) -> str:
        """Say between which values each series lay, for who does not see it."""
        parts = []
        for title, values in self.series.items():
            known = [value for value in values if value is not None]
            if known:
                low, high = words.rate(min(known)), words.rate(max(known))
                parts.append(f"{title}: from {low} to {high}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Panel:
    """A plot: its two axes, what is drawn from the back to the front, and its legend.

    Attributes:
        id: Unique in a page.
        x: The level axis.
        y: The upright axis; its title stands above the panel.
        marks: From the back to the front.
        height_px: Of the plot alone.
        keys: The legend.
        summary: What it shows, in words, for who does not see it.
        readout: Of a panel over time.
        latency_rows: Of a heat map: its rows in each octave of latency.
        axis: Whether the level axis has its texts: of stacked panels, only the last.
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
        id: Unique in a page.
        panels: From the top.
        length_s: Of the run, where the panels lie over its time.
        steps: Index, start, start of the window and end of each step on that clock.
    """

    id: str
    panels: Sequence[Panel]
    length_s: float | None = None
    steps: Sequence[tuple[int, float, float, float]] = ()


def told(points: Sequence[Point]) -> str:
    """Points in words, each with all that the pointer is told of it."""
    return "; ".join(", ".join(f"{name} {text}" for name, text in point.tip) for point in points)
