"""The latency-throughput curve of a run."""

from typing import Any

import altair as alt

from plimsoll.model.capacity import Capacity
from plimsoll.report import rows, text, theme
from plimsoll.report.chart import Chart, latency_y
from plimsoll.report.encodings import (
    answer_layers,
    answer_rows,
    load_tooltips,
    outcome_shape,
    outcome_tooltips,
    series_color,
)

HEIGHT_PX = 340


def curve(capacity: Capacity) -> Chart | None:
    """Latency of the judged statistic over throughput; None where nothing was measured."""
    found = rows.curve_rows(capacity)
    if not found:
        return None
    name = text.STATISTIC_NAMES[capacity.statistic]
    color = series_color(rows.operations(capacity))
    limits_us = rows.limit_rows(capacity)
    most = max(row["throughput"] for row in found)
    x = alt.X(
        "throughput:Q",
        title="throughput, ops/s",
        scale=alt.Scale(domain=[0, 1.08 * (most or 1)]),
        axis=alt.Axis(tickCount=8),
    )
    heights = [row["latency_us"] for row in found] + [row["limit_us"] for row in limits_us]
    room = 1.4 * max(height for height in heights if height)  # for the label of the answer
    y = latency_y("latency_us:Q", f"{name} latency (log scale)", [*heights, room])
    base = alt.Chart(alt.NamedData("curve")).encode(
        x=x, y=y, color=color, detail=alt.Detail("operation:N")
    )
    limits = alt.Chart(alt.NamedData("limits")).encode(y=alt.Y("limit_us:Q"), color=color)
    layers: list[Any] = [
        *answer_layers(capacity),
        limits.mark_rule(strokeDash=[2, 3], strokeWidth=1.5).encode(
            tooltip=[
                alt.Tooltip("operation:N"),
                alt.Tooltip("limit_us:Q", title="limit, µs", format=",.0f"),
            ]
        ),
        limits.mark_text(align="left", baseline="bottom", dx=4, dy=-3).encode(
            x=alt.value(0),
            text=alt.Text("label:N"),
        ),
        base.mark_line(strokeWidth=2, opacity=0.75).encode(order=alt.Order("load:Q")),
        alt.Chart(alt.NamedData("repetitions"))
        .mark_point(filled=True, size=14, opacity=0.55)
        .encode(x=alt.X("throughput:Q"), y=alt.Y("latency_us:Q"), color=color),
        base.transform_filter("datum.in_bracket")
        .mark_point(filled=False, size=330, strokeWidth=1.4, opacity=0.9)
        .encode(color=alt.ColorValue(theme.INK)),
        base.mark_point(filled=True, size=85, strokeWidth=2.4, opacity=1).encode(
            shape=outcome_shape(found),
            stroke=color,
            tooltip=[
                alt.Tooltip("operation:N"),
                alt.Tooltip("latency_us:Q", title=f"{name} latency, µs", format=",.0f"),
                alt.Tooltip("limit_us:Q", title="limit, µs", format=",.0f"),
                *load_tooltips(capacity.axis),
                *outcome_tooltips(),
            ],
        ),
        base.transform_filter("isValid(datum.label)")
        .mark_text(dy=-13, fontSize=10)
        .encode(text=alt.Text("label:N"), color=alt.ColorValue(theme.MUTED)),
    ]
    drawn = alt.layer(*layers).properties(width="container", height=HEIGHT_PX)
    return Chart(
        id="curve",
        spec=drawn,
        data={
            "curve": found,
            "limits": [
                row | {"label": f"limit of {row['operation']}: {text.latency(row['limit_us'])}"}
                for row in limits_us
            ],
            "repetitions": rows.repetition_rows(capacity),
            "answer": answer_rows(capacity),
        },
    )
