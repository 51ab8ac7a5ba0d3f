"""Latency over time as a heat map: a panel for each operation."""

import altair as alt

from plimsoll import words
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import clock as clocks
from plimsoll.report import rows, theme
from plimsoll.report.chart import Chart, latency_y
from plimsoll.report.panels import Panels


def heat_map(result: RunResult, seconds: Seconds) -> Chart | None:
    """How many operations took how long, over time: one panel for each operation."""
    clock = clocks.Clock(result, seconds)
    cells = clocks.heat_rows(clock, seconds.operations)
    if not cells:
        return None
    panels = Panels(result, seconds)
    present = {row["operation"] for row in cells}
    present = {row["operation"] for row in cells}
    names = rows.operations_over_time(result.capacity, cells)
    names = [name for name in names if name in present]
    names = [name for name in names if name in present]
    cells, classes = clocks.with_classes(cells)
    scale = alt.Scale(domain=classes, range=list(theme.HEAT[-len(classes) :]))
    for name in names:
        legend = alt.Legend(
            title=f"operations in {words.duration(clock.heat_width_s)}",
            symbolType="square",
            columns=4,
        )
        color = alt.Color("class:O", scale=scale, legend=legend if name == names[0] else None)
        panels.data[f"heat-{name}"] = [row for row in cells if row["operation"] == name]
        spans = [row[edge] for row in cells for edge in ("from_us", "to_us")]
        y = latency_y("from_us:Q", f"latency of {name} (log scale)", spans)
        drawn = (
            alt.Chart(alt.NamedData(f"heat-{name}"))
            .mark_rect()
            .encode(
                x=panels.x(),
                x2=alt.X2("t2:Q"),
                y=y,
                y2=alt.Y2("to_us:Q"),
                color=color,
                tooltip=[
                    alt.Tooltip("t:Q", title="from, s", format=",.0f"),
                    alt.Tooltip("from_us:Q", title="over, µs", format=",.0f"),
                    alt.Tooltip("to_us:Q", title="up to, µs", format=",.0f"),
                    alt.Tooltip("count:Q", title="operations", format=","),
                ],
            )
        )
        panels.add([drawn], height_px=150)
    return Chart(id="heat-map", spec=panels.stacked(), data=panels.data)
