"""Charts of several runs over each other: one curve for each run."""

from collections.abc import Callable, Sequence

import altair as alt

from plimsoll import words
from plimsoll.model.capacity import Capacity
from plimsoll.model.results import RunResult
from plimsoll.report import by_load, encodings, rows, theme
from plimsoll.report.chart import Chart, latency_y

HEIGHT_PX = 300
DASHES = ([1, 0], [8, 4], [12, 3, 3, 3], [16, 5], [6, 6], [8, 3, 2, 3, 2, 3])
NAMES_MOST = 30  # letters of all names together that fit side by side on a telephone


def _runs(names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=theme.series(len(names)))
    return alt.Color("run:N", title=None, scale=scale, legend=_legend(names))


def _dashes(names: Sequence[str]) -> alt.StrokeDash:
    """A dash for each run, to tell lines apart without color; none looks like a limit's dots."""
    dashes = [DASHES[index % len(DASHES)] for index in range(len(names))]
    scale = alt.Scale(domain=list(names), range=dashes)
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


def _rows_of_runs(
    results: Sequence[RunResult],
    names: Sequence[str],
    rows_of: Callable[[Capacity], list[rows.Row]],
) -> list[rows.Row]:
    """The rows of every run that has a capacity, each with the run's name."""
    return [
        row | {"run": name}
        for name, result in zip(names, results, strict=True)
        if result.capacity is not None
        for row in rows_of(result.capacity)
    ]


def operations(results: Sequence[RunResult]) -> list[str]:
    """Every operation of any run."""
    return list(dict.fromkeys(name for r in results for name in rows.operations(r.capacity)))


def curve(
    results: Sequence[RunResult], names: Sequence[str], operation: str, prefix: str = "over"
) -> Chart | None:
    """Latency of one operation over throughput, a line for each run."""
    points = [
        row
        for row in _rows_of_runs(results, names, rows.curve_rows)
        if row["operation"] == operation
    ]
    statistics = {r.capacity.statistic for r in results if r.capacity is not None}
    if not points or len(statistics) != 1:
        return None
    name = words.statistic(statistics.pop())
    most = max(row["throughput"] for row in points) or 1
    limits = _rows_of_runs(results, names, lambda capacity: rows.limit_rows(capacity, operation))
    heights = [row["latency_us"] for row in points] + [row["limit_us"] for row in limits]
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
            x=alt.X("throughput:Q"),
            color=color,
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("label:N", title="capacity")],
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
            shape=encodings.outcome_shape(points),
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
            data: points,
            f"{prefix}-capacities": _rows_of_runs(results, names, encodings.answer_rows),
            f"{prefix}-limits-{operation}": limits,
        },
    )


def throughput(
    results: Sequence[RunResult], names: Sequence[str], prefix: str = "over"
) -> Chart | None:
    """Throughput by load, a line for each run; None where the loads are of different kinds."""
    axes = {r.capacity.axis for r in results if r.capacity is not None}
    points = _rows_of_runs(results, names, rows.throughput_rows)
    if not points or len(axes) != 1:
        return None
    axis = axes.pop()
    title = rows.AXIS_TITLES[axis]
    color = _runs(names)
    dash = _dashes(names)
    most = max(row["load"] for row in points)
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
            shape=encodings.outcome_shape(points),
            tooltip=[
                alt.Tooltip("run:N"),
                *encodings.load_tooltips(),
                *encodings.outcome_tooltips(),
            ],
        ),
    ).properties(width="container", height=HEIGHT_PX)
    return Chart(id=f"{prefix}-throughput", spec=drawn, data={f"{prefix}-throughput": points})
