"""Throughput and latency by load: clients, connections, or the offered rate."""

from typing import Any

import altair as alt

from plimsoll.model.capacity import Axis, Capacity
from plimsoll.report import rows, text, theme, ticks
from plimsoll.report.chart import Chart, latency_y
from plimsoll.report.encodings import (
    answer_rows,
    load_tooltips,
    outcome_shape,
    outcome_tooltips,
)

HEIGHT_PX = 240


def limit_words(capacity: Capacity, operation: str) -> str:
    """The limit that is drawn, for the words under the chart; empty where there is none."""
    name = text.STATISTIC_NAMES[capacity.statistic]
    limits_us = [r["limit_us"] for r in rows.limit_rows(capacity) if r["operation"] == operation]
    return "".join(
        f" Level dotted line: the limit of its {name}, {text.latency(us)}." for us in limits_us
    )


def load_ticks(axis: Axis, most: float) -> alt.Axis:
    """Ticks up to the largest load: whole numbers where loads are counted."""
    if axis == "rate_ops_per_second":
        return alt.Axis()
    return alt.Axis(format=",.0f", values=ticks.whole_ticks(most))


def _load_axis(capacity: Capacity) -> alt.X:
    most = max(judged.load for judged in capacity.steps)
    return alt.X(
        "load:Q",
        title=rows.AXIS_TITLES[capacity.axis],
        scale=alt.Scale(domain=[0, 1.04 * most]),
        axis=load_ticks(capacity.axis, most),
    )


def _bracket_layers(capacity: Capacity) -> list[alt.Chart]:
    low, high = capacity.bracket or (None, None)
    if low is None or high is None:
        return []
    return [
        alt.Chart(alt.NamedData("bracket"))
        .mark_rect(opacity=1)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=alt.ColorValue(theme.BAND))
    ]


def _bracket_rows(capacity: Capacity) -> list[dict[str, Any]]:
    low, high = capacity.bracket or (None, None)
    return [] if low is None or high is None else [{"low": low, "high": high}]


# one color as an encoding: as a property of the mark, the legend of shapes would lack its strokes
_ONE = alt.Color("unit:N", legend=None, scale=alt.Scale(range=[theme.SERIES[0]]))


def throughput(capacity: Capacity) -> Chart | None:
    """Throughput by load, with the bracket, the answer, and the fitted law where it fits."""
    found = rows.throughput_rows(capacity)
    if not found:
        return None
    most = max(row["throughput"] for row in found) or 1
    base = alt.Chart(alt.NamedData("throughput")).encode(
        x=_load_axis(capacity),
        y=alt.Y(
            "throughput:Q", title="throughput, ops/s", scale=alt.Scale(domain=[0, 1.08 * most])
        ),
    )
    answer = alt.Chart(alt.NamedData("answer")).encode(y=alt.Y("throughput:Q"))
    usl = rows.usl_rows(capacity)
    layers: list[Any] = [
        *_bracket_layers(capacity),
        answer.mark_rule(strokeWidth=1.5).encode(color=alt.ColorValue(theme.INK)),
        *_usl_layers(usl),
        base.mark_line(strokeWidth=2, opacity=0.75, color=theme.SERIES[0]),
        base.mark_point(filled=True, size=75, strokeWidth=2.2, opacity=1).encode(
            color=_ONE,
            stroke=_ONE,
            shape=outcome_shape(found),
            tooltip=[*load_tooltips(capacity.axis), *outcome_tooltips()],
        ),
    ]
    return Chart(
        id="throughput",
        spec=alt.layer(*layers).properties(width="container", height=HEIGHT_PX),
        data={
            "throughput": found,
            "answer": answer_rows(capacity),
            "bracket": _bracket_rows(capacity),
            "usl": usl,
        },
    )


def _usl_layers(usl: list[dict[str, Any]]) -> list[alt.Chart]:
    if not usl:
        return []
    line = alt.Chart(alt.NamedData("usl")).mark_line(strokeDash=[2, 3], color=theme.MUTED)
    return [line.encode(x=alt.X("load:Q"), y=alt.Y("throughput:Q"))]


def latency(capacity: Capacity, operation: str) -> Chart | None:
    """Latency percentiles of one operation by load."""
    found = [row for row in rows.latency_rows(capacity) if row["operation"] == operation]
    if not found:
        return None
    present = list(dict.fromkeys(row["statistic"] for row in found))
    names = [text.STATISTIC_NAMES[statistic] for statistic in present]
    dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]][: len(present)]
    rows_named = [row | {"statistic": text.STATISTIC_NAMES[row["statistic"]]} for row in found]
    operations = rows.operations(capacity)
    color = theme.series(len(operations))[operations.index(operation)]
    dash = alt.StrokeDash(
        "statistic:N",
        title=None,
        scale=alt.Scale(domain=names, range=dashes),
        legend=alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2),
    )
    limits_us = [row for row in rows.limit_rows(capacity) if row["operation"] == operation]
    heights = [row["latency_us"] for row in found] + [row["limit_us"] for row in limits_us]
    base = alt.Chart(alt.NamedData(f"latency-{operation}")).encode(
        x=_load_axis(capacity),
        y=latency_y("latency_us:Q", f"latency of {operation} (log scale)", heights),
    )
    limit = f"limit-{operation}"
    layers: list[Any] = [
        *_bracket_layers(capacity),
        alt.Chart(alt.NamedData(limit))
        .mark_rule(strokeDash=[2, 3], color=theme.INK)
        .encode(y=alt.Y("limit_us:Q")),
        base.mark_line(strokeWidth=2, color=color).encode(strokeDash=dash),
        base.mark_point(filled=True, size=50, opacity=1, color=color).encode(
            tooltip=[
                alt.Tooltip("operation:N"),
                alt.Tooltip("statistic:N", title="statistic"),
                alt.Tooltip("latency_us:Q", title="latency, µs", format=",.0f"),
                *load_tooltips(capacity.axis),
                *outcome_tooltips(),
            ]
        ),
    ]
    return Chart(
        id=f"latency-{operation}",
        spec=alt.layer(*layers).properties(width="container", height=HEIGHT_PX),
        data={
            f"latency-{operation}": rows_named,
            limit: limits_us,
            "bracket": _bracket_rows(capacity),
        },
    )
