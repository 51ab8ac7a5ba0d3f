"""What ran beside the measured workload, on the run's one clock: throughput, latency beneath."""

import altair as alt

from plimsoll.report import clock as clocks
from plimsoll.report import theme
from plimsoll.report.chart import Rows, latency_y
from plimsoll.report.panels import Panels


def add_background(panels: Panels) -> None:
    """Add a panel of its throughput and one of its latency; none where nothing ran beside."""
    series: Rows = []
    for name, seconds in panels.seconds.background.items():
        rows = clocks.operation_rows(panels.clock, seconds)
        series += [row | {"operation": f"{name}: {row['operation']}"} for row in rows]
    if not series:
        return
    series = clocks.with_segments(series, ("operation",), 1.5 * panels.clock.width_s)
    names = list(dict.fromkeys(row["operation"] for row in series))
    panels.data["background"] = clocks.stacked(series, "operation", "rate", names)
    width_s = panels.clock.width_s
    rates = panels.wide("background", series, "operation", {"rate": "ops/s"}, width_s)
    title = f"background, ops/s, stacked ({panels.per})"
    panels.add(
        [
            panels.piled("background", _color(names, legend=True), title),
            panels.crosshair("background", rates, ",.1f"),
        ],
        height_px=70,
    )
    if known := [row for row in series if row["p99_us"] is not None]:
        _latency(panels, known, names)


def _latency(panels: Panels, known: Rows, names: list[str]) -> None:
    columns = {"p50_us": "p50, µs", "p99_us": "p99, µs", "max_us": "max, µs"}
    width_s = panels.clock.width_s
    wide = panels.wide("background-latency", known, "operation", columns, width_s)
    title = "background, p99 (log scale)"
    base = (
        alt.Chart(alt.NamedData("background"))
        .transform_filter("isValid(datum.p99_us)")
        .encode(
            x=panels.x("middle:Q"),
            y=latency_y("p99_us:Q", title, [row["p99_us"] for row in known]),
            color=_color(names, legend=False),
        )
    )
    lines = panels.lines(base, known, [alt.Detail("segment:N")])
    panels.add([*lines, panels.crosshair("background-latency", wide, ",.0f")], height_px=70)


def _color(names: list[str], *, legend: bool) -> alt.Color:
    colors = [theme.SERIES[-1 - i % len(theme.SERIES)] for i in range(len(names))]
    return alt.Color(
        "operation:N",
        title=None,
        scale=alt.Scale(domain=names, range=colors),
        legend=alt.Legend() if legend else None,
    )
