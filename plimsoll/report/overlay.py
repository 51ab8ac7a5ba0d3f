"""Charts of several runs over each other: one curve for each run."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from plimsoll.model.results import RunResult
from plimsoll.report import by_load, encodings, rows, text, theme
from plimsoll.report.chart import Chart, latency_y

HEIGHT_PX = 300
DASHES = ([1, 0], [8, 4], [12, 3, 3, 3], [16, 5], [6, 6], [8, 3, 2, 3, 2, 3])
NAMES_MOST = 30  # letters of all names, so that they stand side by side on a telephone


def _runs(names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=theme.series(len(names)))
    return alt.Color("run:N", title=None, scale=scale, legend=_legend(names))


def _dashes(names: Sequence[str]) -> alt.StrokeDash:
    """A run's line is told apart without its color too, and none looks like a limit's dots."""
    found = [DASHES[index % len(DASHES)] for index in range(len(names))]
    scale = alt.Scale(domain=list(names), range=found)
    return alt.StrokeDash("run:N", title=None, scale=scale, legend=_legend(names))


def _legend(names: Sequence[str]) -> alt.Legend:
    """Lines with their names, below one another where they would not fit on a telephone."""
    wide = sum(map(len, names)) > NAMES_MOST
    return alt.Legend(
        symbolType="stroke",
        symbolSize=500,
        symbolStrokeWidth=2,
        labelLimit=320,
        columns=1 if wide else 0,
    )


def _rows(results: Sequence[RunResult], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        row | {"run": name}
        for name, result in zip(names, results, strict=True)
        if result.capacity is not None
        for row in rows.curve_rows(result.capacity)
    ]


def operations(results: Sequence[RunResult]) -> list[str]:
    """Every operation of any run."""
    found = [rows.operations(r.capacity) for r in results if r.capacity is not None]
    return list(dict.fromkeys(name for names in found for name in names))


def curve(
    results: Sequence[RunResult], names: Sequence[str], operation: str, prefix: str = "over"
) -> Chart | None:
    """Latency of one operation over throughput, a line for each run."""
    found = [row for row in _rows(results, names) if row["operation"] == operation]
    statistics = {r.capacity.statistic for r in results if r.capacity is not None}
    if not found or len(statistics) != 1:
        return None
    name = text.STATISTIC_NAMES[statistics.pop()]
    most = max(row["throughput"] for row in found) or 1
    limits = _limits(results, names, operation)
    heights = [row["latency_us"] for row in found] + [row["limit_us"] for row in limits]
    data, color = f"{prefix}-{operation}", _runs(names)
    base = alt.Chart(alt.NamedData(data)).encode(
        x=alt.X(
            "throughput:Q",
            title="throughput, ops/s",
            scale=alt.Scale(domain=[0, 1.08 * most]),
            axis=alt.Axis(tickCount=8),
        ),
        y=latency_y("latency_us:Q", f"{name} latency of {operation} (log scale)", heights),
        color=color,
        detail=alt.Detail("run:N"),
    )
    dash = _dashes(names)
    drawn = alt.layer(
        alt.Chart(alt.NamedData(f"{prefix}-capacities"))
        .mark_rule(strokeWidth=1.5, opacity=0.8)
        .encode(
            x=alt.X("figure:Q"), color=color, tooltip=[alt.Tooltip("run:N"), alt.Tooltip("label:N")]
        ),
        alt.Chart(alt.NamedData(f"{prefix}-limits-{operation}"))
        .mark_rule(strokeDash=[2, 3])
        .encode(
            y=alt.Y("limit_us:Q"),
            color=color,
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("limit_us:Q", title="limit, µs", format=",.0f"),
            ],
        ),
        base.mark_line(strokeWidth=2).encode(order=alt.Order("load:Q"), strokeDash=dash),
        base.mark_point(filled=True, size=70, strokeWidth=2.2, opacity=1).encode(
            stroke=color,
            shape=encodings.outcome_shape(found),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("latency_us:Q", title=f"{name} latency, µs", format=",.0f"),
                *encodings.load_tooltips(),
                *encodings.outcome_tooltips(),
            ],
        ),
    ).properties(width="container", height=HEIGHT_PX)
    return Chart(
        id=data,
        spec=drawn,
        data={
            data: found,
            f"{prefix}-capacities": _capacities(results, names),
            f"{prefix}-limits-{operation}": limits,
        },
    )


def _limits(
    results: Sequence[RunResult], names: Sequence[str], operation: str
) -> list[dict[str, Any]]:
    return [
        {"run": name, "limit_us": row["limit_us"]}
        for name, result in zip(names, results, strict=True)
        if result.capacity is not None
        for row in rows.limit_rows(result.capacity)
        if row["operation"] == operation
    ]


def _capacities(results: Sequence[RunResult], names: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for name, result in zip(names, results, strict=True):
        capacity = result.capacity
        figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
        if capacity is not None and figure is not None:
            sign = {"=": "", ">=": "≥ ", "<": "< "}[capacity.bound or "="]
            label = f"capacity {sign}{text.throughput(figure)} ops/s"
            found.append({"run": name, "figure": figure, "label": label})
    return found


def throughput(
    results: Sequence[RunResult], names: Sequence[str], prefix: str = "over"
) -> Chart | None:
    """Throughput by load, a line for each run; None where the loads are of different kinds."""
    axes = {r.capacity.axis for r in results if r.capacity is not None}
    found = [
        row | {"run": name}
        for name, result in zip(names, results, strict=True)
        if result.capacity is not None
        for row in rows.throughput_rows(result.capacity)
    ]
    if not found or len(axes) != 1:
        return None
    axis = axes.pop()
    title = rows.AXIS_TITLES[axis]
    color = _runs(names)
    dash = _dashes(names)
    most = max(row["load"] for row in found)
    base = alt.Chart(alt.NamedData(f"{prefix}-throughput")).encode(
        x=alt.X(
            "load:Q",
            title=title,
            scale=alt.Scale(domain=[0, 1.04 * most]),
            axis=by_load.load_ticks(axis, most),
        ),
        y=alt.Y("throughput:Q", title="throughput, ops/s"),
        color=color,
    )
    drawn = alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=dash),
        base.mark_point(filled=True, size=70, strokeWidth=2.2, opacity=1).encode(
            stroke=color,
            shape=encodings.outcome_shape(found),
            tooltip=[
                alt.Tooltip("run:N"),
                *encodings.load_tooltips(),
                *encodings.outcome_tooltips(),
            ],
        ),
    ).properties(width="container", height=HEIGHT_PX)
    return Chart(id=f"{prefix}-throughput", spec=drawn, data={f"{prefix}-throughput": found})
