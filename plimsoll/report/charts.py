"""The charts of loads: the latency-throughput curve, throughput and latency by load."""

from typing import Any

import altair as alt

from plimsoll.model.capacity import Capacity
from plimsoll.report import rows, text, theme
from plimsoll.report.chart import Chart, latency_y

HEIGHT_PX = 340
SMALL_HEIGHT_PX = 240
SHAPES = {
    "passed": "circle",
    "failed": "M-1,-1L1,1M-1,1L1,-1",
    "client-bound": "diamond",
    "disputed": "triangle-up",
}


def _series(operations: list[str]) -> alt.Color:
    scale = alt.Scale(domain=operations, range=theme.series(len(operations)))
    return alt.Color("operation:N", title=None, scale=scale)


def _shape(found: list[dict[str, Any]]) -> alt.Shape:
    present = [name for name in rows.OUTCOMES if any(row["outcome"] == name for row in found)]
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


def _load_tooltips(capacity: Capacity) -> list[alt.Tooltip]:
    offered = capacity.axis == "rate_ops_per_second"
    return [
        *([alt.Tooltip("load:Q", title="offered, ops/s", format=",.0f")] if offered else []),
        alt.Tooltip("clients:Q", title="clients", format=","),
        alt.Tooltip("connections:Q", title="connections", format=","),
        alt.Tooltip("throughput:Q", title="throughput, ops/s", format=",.1f"),
    ]


def _outcome_tooltips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("repetitions:Q", title="repetitions"),
        alt.Tooltip("outcome:N", title="judged"),
        alt.Tooltip("why:N", title="because"),
    ]


def curve(capacity: Capacity) -> Chart | None:
    """Latency of the judged statistic over throughput; None where nothing was measured."""
    found = rows.curve_rows(capacity)
    if not found:
        return None
    name = text.STATISTIC_NAMES[capacity.statistic]
    color = _series(rows.operations(capacity))
    limits_us = rows.limit_rows(capacity)
    most = max(row["throughput"] for row in found)
    x = alt.X(
        "throughput:Q", title="throughput, ops/s", scale=alt.Scale(domain=[0, 1.08 * (most or 1)])
    )
    heights = [row["latency_us"] for row in found] + [row["limit_us"] for row in limits_us]
    y = latency_y("latency_us:Q", f"{name} latency (log scale)", heights)
    base = alt.Chart(alt.NamedData("curve")).encode(x=x, y=y, color=color, detail="operation:N")
    limits = alt.Chart(alt.NamedData("limits")).encode(y="limit_us:Q", color=color)
    layers: list[Any] = [
        *_answer_layers(capacity),
        limits.mark_rule(strokeDash=[2, 3], strokeWidth=1.5).encode(
            tooltip=["operation:N", alt.Tooltip("limit_us:Q", title="limit, µs", format=",.0f")]
        ),
        limits.mark_text(align="left", baseline="bottom", dx=4, dy=-3).encode(
            x=alt.value(0),
            text=alt.Text("label:N"),
        ),
        base.mark_line(strokeWidth=2, opacity=0.75).encode(order="load:Q"),
        alt.Chart(alt.NamedData("repetitions"))
        .mark_point(filled=True, size=14, opacity=0.55)
        .encode(x="throughput:Q", y="latency_us:Q", color=color),
        base.transform_filter("datum.in_bracket")
        .mark_point(filled=False, size=330, strokeWidth=1.4, opacity=0.9)
        .encode(color=alt.value(theme.INK)),
        base.mark_point(filled=True, size=85, strokeWidth=2.4, opacity=1).encode(
            shape=_shape(found),
            stroke=color,
            tooltip=[
                alt.Tooltip("operation:N"),
                alt.Tooltip("latency_us:Q", title=f"{name} latency, µs", format=",.0f"),
                alt.Tooltip("limit_us:Q", title="limit, µs", format=",.0f"),
                *_load_tooltips(capacity),
                *_outcome_tooltips(),
            ],
        ),
        base.transform_filter("isValid(datum.label)")
        .mark_text(dy=-13, fontSize=10)
        .encode(text="label:N", color=alt.value(theme.MUTED)),
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
            "answer": _answer_rows(capacity),
        },
    )


def _answer_rows(capacity: Capacity) -> list[dict[str, Any]]:
    figure = capacity.max_sustainable_throughput_ops_per_second
    if figure is None:
        return []
    interval = capacity.interval
    sign = {"=": "", ">=": "≥ ", "<": "< ", None: ""}[capacity.bound]
    return [
        {
            "throughput": figure,
            "low": interval.low_ops_per_second if interval else None,
            "high": interval.high_ops_per_second if interval else None,
            "label": f"{sign}{text.throughput(figure)} ops/s",
        }
    ]


def _answer_layers(capacity: Capacity) -> list[alt.Chart]:
    if capacity.max_sustainable_throughput_ops_per_second is None:
        return []
    base = alt.Chart(alt.NamedData("answer"))
    rule = base.mark_rule(strokeWidth=2).encode(x="throughput:Q", color=alt.value(theme.INK))
    label = base.mark_text(align="right", baseline="top", dx=-6, fontWeight="bold").encode(
        x="throughput:Q", y=alt.value(2), text="label:N", color=alt.value(theme.INK)
    )
    if capacity.interval is None:
        return [rule, label]
    band = base.mark_rect(opacity=0.25).encode(x="low:Q", x2="high:Q", color=alt.value(theme.MUTED))
    return [band, rule, label]


def _limit_label(capacity: Capacity, row: dict[str, Any]) -> str:
    name = text.STATISTIC_NAMES[capacity.statistic]
    return f"limit of {name}: {text.latency(row['limit_us'])}"


def _load_axis(capacity: Capacity) -> alt.X:
    title = rows.AXIS_TITLES[capacity.axis]
    most = max(judged.load for judged in capacity.steps)
    whole = alt.Axis(format=",.0f", tickMinStep=1)
    return alt.X("load:Q", title=title, scale=alt.Scale(domain=[0, 1.04 * most]), axis=whole)


def _bracket_layers(capacity: Capacity) -> list[alt.Chart]:
    low, high = capacity.bracket or (None, None)
    if low is None or high is None:
        return []
    return [
        alt.Chart(alt.NamedData("bracket"))
        .mark_rect(opacity=1)
        .encode(x="low:Q", x2="high:Q", color=alt.value(theme.BAND))
    ]


def _bracket_rows(capacity: Capacity) -> list[dict[str, Any]]:
    low, high = capacity.bracket or (None, None)
    return [] if low is None or high is None else [{"low": low, "high": high}]


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
    answer = alt.Chart(alt.NamedData("answer")).encode(y="throughput:Q")
    usl = rows.usl_rows(capacity)
    layers: list[Any] = [
        *_bracket_layers(capacity),
        answer.mark_rule(strokeWidth=1.5).encode(color=alt.value(theme.INK)),
        *_usl_layers(usl),
        base.mark_line(strokeWidth=2, opacity=0.75, color=theme.SERIES[0]),
        base.mark_point(
            filled=True,
            size=75,
            strokeWidth=2.2,
            opacity=1,
            color=theme.SERIES[0],
            stroke=theme.SERIES[0],
        ).encode(
            shape=_shape(found),
            tooltip=[*_load_tooltips(capacity), *_outcome_tooltips()],
        ),
    ]
    return Chart(
        id="throughput",
        spec=alt.layer(*layers).properties(width="container", height=SMALL_HEIGHT_PX),
        data={
            "throughput": found,
            "answer": _answer_rows(capacity),
            "bracket": _bracket_rows(capacity),
            "usl": usl,
        },
    )


def _usl_layers(usl: list[dict[str, Any]]) -> list[alt.Chart]:
    if not usl:
        return []
    line = alt.Chart(alt.NamedData("usl")).mark_line(strokeDash=[2, 3], color=theme.MUTED)
    return [line.encode(x="load:Q", y="throughput:Q")]


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
        .encode(y="limit_us:Q"),
        alt.Chart(alt.NamedData(limit))
        .mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=theme.INK)
        .encode(x=alt.value(0), y="limit_us:Q", text="label:N"),
        base.mark_line(strokeWidth=2, color=color).encode(strokeDash=dash),
        base.mark_point(filled=True, size=50, opacity=1, color=color).encode(
            tooltip=[
                "operation:N",
                alt.Tooltip("statistic:N", title="statistic"),
                alt.Tooltip("latency_us:Q", title="latency, µs", format=",.0f"),
                *_load_tooltips(capacity),
                *_outcome_tooltips(),
            ]
        ),
    ]
    return Chart(
        id=f"latency-{operation}",
        spec=alt.layer(*layers).properties(width="container", height=SMALL_HEIGHT_PX),
        data={
            f"latency-{operation}": rows_named,
            limit: [row | {"label": _limit_label(capacity, row)} for row in limits_us],
            "bracket": _bracket_rows(capacity),
        },
    )
