"""The time line of a run: phases, throughput and latency, and the target's figures beneath."""

import altair as alt

from plimsoll import words
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import clock as clocks
from plimsoll.report import rows, theme
from plimsoll.report.background_panel import add_background
from plimsoll.report.chart import Chart, Rows, latency_y
from plimsoll.report.panels import Panels
from plimsoll.report.target_panels import add_target


def timeline(result: RunResult, seconds: Seconds) -> Chart | None:
    """The whole run: phases, throughput, latency, errors, and the target's own figures beneath."""
    panels = Panels(result, seconds)
    if not seconds.operations and not seconds.target:
        return None
    _phases(panels)
    series = clocks.operation_rows(panels.clock, seconds.operations)
    gap_s = 1.5 * panels.clock.width_s
    by = ("operation", "step") if panels.clock.width_s == 1 else ("operation",)
    series = clocks.with_segments(series, by, gap_s)
    if series:
        _operations(panels, series)
    add_background(panels)
    if seconds.target:
        add_target(panels)
    return Chart(id="timeline", spec=panels.stacked(), data=panels.data)


def _phases(panels: Panels) -> None:
    phases = alt.Chart(alt.NamedData("phases")).encode(
        x=panels.x(), x2=alt.X2("t2:Q"), tooltip=[alt.Tooltip("phase:N")]
    )
    steps = alt.Chart(alt.NamedData("steps")).encode(
        x=panels.x(),
        x2=alt.X2("t2:Q"),
        tooltip=[
            alt.Tooltip("step:Q", title="step"),
            alt.Tooltip("clients:Q", title="clients"),
        ],
    )
    middle = "(datum.t + datum.t2) / 2"
    wide_s = 0.2 * panels.clock.length_s  # enough for its name, even on a telephone
    panels.add(
        [
            phases.mark_rect(color=theme.GRID, stroke=theme.RULE, strokeWidth=0.5),
            steps.mark_rect(fill=None, stroke=theme.RULE, strokeWidth=0.5),
            alt.Chart(alt.NamedData("steps"))
            .transform_filter("isValid(datum.label)")
            .transform_calculate(middle=middle)
            .mark_text(fontSize=10)
            .encode(x=alt.X("middle:Q"), text=alt.Text("label:N"), color=alt.ColorValue(theme.INK)),
            alt.Chart(alt.NamedData("phases"))
            .transform_calculate(middle=middle)
            .transform_filter(f"datum.t2 - datum.t >= {wide_s}")
            .mark_text(fontSize=10)
            .encode(
                x=alt.X("middle:Q"), text=alt.Text("phase:N"), color=alt.ColorValue(theme.MUTED)
            ),
            alt.Chart(alt.NamedData("phases"))
            .transform_calculate(middle=middle)
            .transform_filter(f"datum.t2 - datum.t < {wide_s}")
            .mark_text(fontSize=9, angle=270, limit=54)
            .encode(
                x=alt.X("middle:Q"), text=alt.Text("phase:N"), color=alt.ColorValue(theme.MUTED)
            ),
        ],
        height_px=56,
    )


def _series_color(names: list[str], *, legend: bool = True) -> alt.Color:
    return alt.Color(
        "operation:N",
        title=None,
        scale=alt.Scale(domain=names, range=theme.series(len(names))),
        legend=alt.Legend() if legend else None,
    )


def _operations(panels: Panels, series: Rows) -> None:
    names = rows.operations_over_time(panels.result.capacity, series)
    color = _series_color(names)
    panels.data["ops"] = clocks.stacked(series, "operation", "rate", names)
    rates = panels.wide("rate", series, "operation", {"rate": "ops/s"}, panels.clock.width_s)
    panels.add(
        [
            panels.piled("ops", color, f"throughput, ops/s, stacked ({panels.per})"),
            panels.crosshair("rate", rates, ",.0f"),
        ]
    )
    _latency(panels, series, _series_color(names, legend=False))
    if any(row["errors"] for row in series):
        _failed(panels, series, names)


def _failed(panels: Panels, series: Rows, names: list[str]) -> None:
    failed = [row for row in series if row["errors"]]
    panels.data["failed"] = clocks.stacked(failed, "operation", "errors", names)
    columns = {"errors": "failed/s"}
    wide = panels.wide("failed", failed, "operation", columns, panels.clock.width_s)
    blocks = panels.piled(
        "failed",
        _series_color(names, legend=False),
        f"failed operations/s, stacked ({panels.per})",
    )
    panels.add([blocks, panels.crosshair("failed", wide, ",.1f")], height_px=70)


def _latency(panels: Panels, series: Rows, color: alt.Color) -> None:
    known = [row for row in series if row["p99_us"] is not None]
    if not known:
        return
    wide = panels.wide(
        "latency",
        series,
        "operation",
        {"p50_us": "p50, µs", "p99_us": "p99, µs", "max_us": "max, µs"},
        panels.clock.width_s,
    )
    title = "p99 latency of every second (log scale)"
    if panels.clock.width_s > 1:
        title = f"p99 latency of every {words.duration(panels.clock.width_s)} (log scale)"
    base = (
        alt.Chart(alt.NamedData("ops"))
        .transform_filter("isValid(datum.p99_us)")
        .encode(
            x=panels.x("middle:Q"),
            y=latency_y("p99_us:Q", title, [row["p99_us"] for row in known]),
            color=color,
        )
    )
    detail = [alt.Detail("step:N"), alt.Detail("segment:N")][panels.clock.width_s > 1 :]
    lines = panels.lines(base, known, detail)
    panels.add([*lines, panels.crosshair("latency", wide, ",.0f")])
