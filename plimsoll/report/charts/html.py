"""A chart as HTML, with what its script (`assets/charts.js`) shows for a moment."""

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from plimsoll.report.charts.chart import Chart, Panel
from plimsoll.report.charts.scale import is_in_hours
from plimsoll.report.charts.svg import draw_plot, key, write_element


def draw_chart(chart: Chart) -> Markup:
    """Draw a chart's panels, each with the titles of its axes and its legend."""
    panels = (_draw_panel(panel) for panel in chart.panels)
    return write_element("div", *panels, class_="chart", data_chart=chart.id)


def _draw_panel(panel: Panel) -> Markup:
    keys = (write_element("li", key(one), f" {one.label}") for one in panel.keys)
    told = f"{panel.y.title}: {panel.summary}" if panel.summary else panel.y.title
    plot = draw_plot(panel, role="img", aria_label=told, data_panel=panel.id)
    return write_element(
        "div",
        write_element("p", panel.y.title, class_="axis"),
        *([write_element("ul", *keys, class_="keys")] if panel.keys else []),
        write_element("div", plot, class_="plot"),
        *([write_element("p", panel.x.title, class_="axis level")] if panel.axis else []),
        class_="panel",
    )


def format_moment_data(drawn: Iterable[Chart]) -> dict[str, Any]:
    """Return what the script shows for a moment: the panels' series of charts over time."""
    return {
        chart.id: {
            "length_s": chart.length_s,
            "hours": is_in_hours(chart.length_s),
            "steps": chart.steps,
            "panels": {panel.id: _list_series(panel) for panel in chart.panels},
        }
        for chart in drawn
        if chart.length_s is not None
    }


def _list_series(panel: Panel) -> dict[str, Any]:
    """Return the series of a panel, or how a heat map's rows divide its latency axis."""
    if panel.readout is not None:
        return vars(panel.readout)
    return {"rows": panel.latency_rows, "low_us": panel.y.low, "high_us": panel.y.high}
