"""What the charts of loads share: colors, shapes, tooltips, and the answer."""

from typing import Any

import altair as alt

from plimsoll import words
from plimsoll.model.capacity import Capacity
from plimsoll.report import rows, theme

SHAPES = {
    "passed": "circle",
    "failed": "M-1,-1L1,1M-1,1L1,-1",
    "client-bound": "diamond",
    "disputed": "triangle-up",
}


def series_color(operations: list[str]) -> alt.Color:
    """A color for each operation."""
    scale = alt.Scale(domain=operations, range=theme.series(len(operations)))
    return alt.Color("operation:N", title=None, scale=scale)


def outcome_shape(points: list[dict[str, Any]]) -> alt.Shape:
    """What became of a load, as a shape."""
    present = [name for name in rows.OUTCOMES if any(row["outcome"] == name for row in points)]
    return alt.Shape(
        "outcome:N",
        title=None,
        scale=alt.Scale(domain=present, range=[SHAPES[name] for name in present]),
        legend=alt.Legend(
            symbolFillColor=theme.INK,
            symbolStrokeColor=theme.INK,
            symbolStrokeWidth=2,
            symbolSize=70,
        ),
    )


def load_tooltips(axis: str = "clients") -> list[alt.Tooltip]:
    """The load and the throughput of a point."""
    offered = axis == "rate_ops_per_second"
    return [
        *([alt.Tooltip("load:Q", title="offered, ops/s", format=",.0f")] if offered else []),
        alt.Tooltip("clients:Q", title="clients", format=","),
        alt.Tooltip("connections:Q", title="connections", format=","),
        alt.Tooltip("throughput:Q", title="throughput, ops/s", format=",.1f"),
    ]


def outcome_tooltips() -> list[alt.Tooltip]:
    """How a point was judged, and why."""
    return [
        alt.Tooltip("repetitions:Q", title="repetitions"),
        alt.Tooltip("outcome:N", title="judged"),
        alt.Tooltip("why:N", title="because"),
    ]


def answer_rows(capacity: Capacity) -> list[dict[str, Any]]:
    """The figure of the verdict, if it has one."""
    figure = capacity.max_sustainable_throughput_ops_per_second
    if figure is None:
        return []
    interval = capacity.interval
    return [
        {
            "throughput": figure,
            "low": interval.low_ops_per_second if interval else None,
            "high": interval.high_ops_per_second if interval else None,
            "label": words.bounded(words.throughput(figure), capacity.bound),
        }
    ]


def answer_layers(capacity: Capacity) -> list[alt.Chart]:
    """The figure as an upright line, with its interval."""
    if capacity.max_sustainable_throughput_ops_per_second is None:
        return []
    base = alt.Chart(alt.NamedData("answer"))
    rule = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("throughput:Q"), color=alt.ColorValue(theme.INK)
    )
    label = base.mark_text(align="right", baseline="top", dx=-6, fontWeight="bold").encode(
        x=alt.X("throughput:Q"),
        y=alt.value(2),
        text=alt.Text("label:N"),
        color=alt.ColorValue(theme.INK),
    )
    if capacity.interval is None:
        return [rule, label]
    band = base.mark_rect(opacity=0.18, clip=True).encode(
        x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=alt.ColorValue(theme.MUTED)
    )
    return [band, rule, label]
