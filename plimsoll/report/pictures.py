"""A run as a picture: the answer, the curve and the time line, as PNG, SVG or PDF.

Drawn by vl-convert, which carries Vega: the same charts as on the page, without a browser.
"""

import textwrap
from typing import Any, Literal

from plimsoll.errors import MissingToolError
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import curve, theme, timeline
from plimsoll.report.headline import headline
from plimsoll.report.panels import WIDTH_PX
from plimsoll.report.theme import Theme

PictureFormat = Literal["png", "svg", "pdf"]
VEGA_LITE = "6.4"
CURVE_HEIGHT_PX = 320


def picture(
    result: RunResult,
    seconds: Seconds,
    file_format: PictureFormat,
    *,
    look: Theme = "light",
    usd_per_hour: float | None = None,
) -> bytes:
    """Draw a run.

    Raises:
        MissingToolError: vl-convert is not installed.
    """
    try:
        import vl_convert  # noqa: PLC0415 - 84 MB, an extra
    except ImportError:
        raise MissingToolError(
            "pictures need vl-convert: pip install 'plimsoll-db[pictures]'"
        ) from None
    spec = specification(result, seconds, look=look, usd_per_hour=usd_per_hour)
    match file_format:
        case "svg":
            return str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)).encode()
        case "png":
            return bytes(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2))
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE))


def specification(
    result: RunResult, seconds: Seconds, *, look: Theme = "light", usd_per_hour: float | None = None
) -> dict[str, Any]:
    """Write the whole picture as one Vega-Lite chart, in the colors of a theme."""
    answer = headline(result, usd_per_hour)
    loads = curve.curve(result.capacity) if result.capacity else None
    drawn = [chart for chart in (loads, timeline.timeline(result, seconds)) if chart is not None]
    specs = [_stacked(chart.vega_lite()) for chart in drawn]
    panels = [panel for spec in specs for panel in spec["vconcat"]]
    title = f"{result.name}: {answer.figure} ops/s" if answer.figure else result.name
    whole = {
        "title": {
            "text": f"{title} ({answer.tag})",
            "subtitle": textwrap.wrap(answer.sentence, 130),
            "fontSize": 20,
            "subtitleFontSize": 13,
            "subtitlePadding": 6,
            "offset": 24,
            "frame": "bounds",
        },
        "vconcat": panels or [_empty()],
        "params": [param for spec in specs for param in spec.get("params", [])],
        "spacing": 26,
        "padding": 24,
        "background": "var(--surface)",
        "datasets": {name: rows for chart in drawn for name, rows in chart.data.items()},
        "config": {**theme.CONFIG, "background": "var(--surface)"},
    }
    return theme.resolved(whole, look)


def _stacked(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart as a stack of panels of the picture's width."""
    if "vconcat" in spec:
        return spec
    return {"vconcat": [spec | {"width": WIDTH_PX, "height": CURVE_HEIGHT_PX}]}


def _empty() -> dict[str, Any]:
    return {
        "data": {"values": [{}]},
        "mark": {"type": "text", "text": "Nothing was measured.", "fontSize": 13},
        "width": WIDTH_PX,
        "height": 60,
    }
