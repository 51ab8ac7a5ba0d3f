"""The latency-throughput curve of a run."""

from typing import Any

import altair as alt

from plimsoll import words
from plimsoll.model.capacity import Capacity
from plimsoll.report import rows, theme
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
LABEL_SHARE = 0.05  # of the axis's height: what a line of text takes


def curve(capacity: Capacity) -> Chart | None:
    """Latency of the judged statistic over throughput; None where nothing was measured."""
    points = rows.curve_rows(capacity)
    if not points:
        return None
    name = words.statistic(capacity.statistic)
    color = series_color(rows.operations(capacity))
    limits_us = rows.limit_rows(capacity)
    repeated = rows.repetition_rows(capacity)
    most = max(row["throughput"] for row in (*points, *repeated))
    x = alt.X(
        "throughput:Q",
        title="throughput, ops/s",
        scale=alt.Scale(domain=[0, 1.08 * (most or 1)]),
        axis=alt.Axis(tickCount=8),
    )
    heights = [row["latency_us"] for row in (*points, *repeated)]
    heights += [row["limit_us"] for row in limits_us]
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
        alt.Chart(alt.NamedData("limit-labels"))
        .mark_text(align="left", baseline="bottom", dx=4, dy=-3)
        .encode(
            x=alt.value(0),
            y=alt.Y("limit_us:Q"),
            text=alt.Text("label:N"),
            color=alt.ColorValue(theme.INK),
        ),
        base.mark_line(strokeWidth=2, opacity=0.75).encode(order=alt.Order("load:Q")),
        alt.Chart(alt.NamedData("repetitions"))
        .mark_point(filled=True, size=14, opacity=0.55)
        .encode(x=alt.X("throughput:Q"), y=alt.Y("latency_us:Q"), color=color),
        base.transform_filter("datum.in_bracket")
        .mark_point(filled=False, size=330, strokeWidth=1.4, opacity=0.9)
        .encode(color=alt.ColorValue(theme.INK)),
        base.mark_point(filled=True, size=85, strokeWidth=2.4, opacity=1).encode(
            shape=outcome_shape(points),
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
        .mark_text(dx=-7, dy=-16, fontSize=10)
        .encode(text=alt.Text("label:N"), color=alt.ColorValue(theme.MUTED)),
    ]
    drawn = alt.layer(*layers).properties(width="container", height=HEIGHT_PX)
    return Chart(
        id="curve",
        spec=drawn,
        data={
            "curve": points,
            "limits": limits_us,
            "limit-labels": limit_labels(limits_us, [*heights, room]),
            "repetitions": repeated,
            "answer": answer_rows(capacity),
        },
    )


def limit_labels(limits_us: list[rows.Row], heights: list[float | None]) -> list[rows.Row]:
    """Name the limits; where several are too close for a label each, the uppermost names all."""
    known = [height for height in heights if height]
    if not limits_us or not known:
        return []
    apart = (max(known) / min(known)) ** LABEL_SHARE
    groups: list[list[rows.Row]] = []
    for row in sorted(limits_us, key=lambda row: row["limit_us"], reverse=True):
        if groups and groups[-1][0]["limit_us"] < row["limit_us"] * apart:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [
        {
            "limit_us": group[0]["limit_us"],
            "label": "limit of "
            + ", of ".join(
                f"{row['operation']}: {words.latency(row['limit_us'])}" for row in group
            ),
        }
        for group in groups
    ]
