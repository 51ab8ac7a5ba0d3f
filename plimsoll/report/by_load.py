"""Throughput and latency by load: clients, connections, or the offered rate."""

from typing import Any

import altair as alt

from plimsoll import words
from plimsoll.model.capacity import Axis, Capacity
from plimsoll.report import rows, theme, ticks
from plimsoll.report.chart import Chart, latency_y
from plimsoll.report.encodings import (
    answer_rows,
    load_tooltips,
    outcome_shape,
    outcome_tooltips,
)

HEIGHT_PX = 240


def limit_words(capacity: Capacity, operation: str) -> str:
    """The limit that is drawn, for the caption of the chart; empty where there is none."""
    name = words.statistic(capacity.statistic)
    limits_us = [row["limit_us"] for row in rows.limit_rows(capacity, operation)]
    return "".join(
        f" Level dotted line: the limit of its {name}, {words.latency(us)}." for us in limits_us
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


# The one color is an encoding. As a property of the mark it would leave the legend's shapes bare.
_ONE_COLOR = alt.Color("unit:N", legend=None, scale=alt.Scale(range=[theme.SERIES[0]]))


def throughput(capacity: Capacity) -> Chart | None:
    """Throughput by load, with the bracket, the answer, and the fitted law where it fits."""
    points = rows.throughput_rows(capacity)
    if not points:
        return None
    most = max(row["throughput"] for row in points) or 1
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
            color=_ONE_COLOR,
            stroke=_ONE_COLOR,
            shape=outcome_shape(points),
            tooltip=[*load_tooltips(capacity.axis), *outcome_tooltips()],
        ),
    ]
    return Chart(
        id="throughput",
        spec=alt.layer(*layers).properties(width="container", height=HEIGHT_PX),
        data={
            "throughput": points,
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
    points = [
        row | {"statistic": words.statistic(row["statistic"])}
        for row in rows.latency_rows(capacity)
        if row["operation"] == operation
    ]
    if not points:
        return None
    names = list(dict.fromkeys(row["statistic"] for row in points))
    dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]][: len(names)]
    operations = rows.operations(capacity)
    color = theme.series(len(operations))[operations.index(operation)]
    dash = alt.StrokeDash(
        "statistic:N",
        title=None,
        scale=alt.Scale(domain=names, range=dashes),
        legend=alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2),
    )
    limits_us = rows.limit_rows(capacity, operation)
    heights = [row["latency_us"] for row in points] + [row["limit_us"] for row in limits_us]
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
            f"latency-{operation}": points,
            limit: limits_us,
            "bracket": _bracket_rows(capacity),
        },
    )
