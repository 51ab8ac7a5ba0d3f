"""A run as a picture: the answer, the curve and the time line, as SVG.

The charts are those of the page; this module does the layout that the page leaves to CSS.
"""

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.report.charts import curve, theme, timeline
from plimsoll.report.charts.chart import Chart, Key, Panel
from plimsoll.report.charts.rows import collect_curve
from plimsoll.report.charts.svg import KEY_PX, WIDTH_PX, draw_plot, key, write_element
from plimsoll.report.charts.theme import Theme
from plimsoll.report.headline import build_headline

MARGIN_PX = 24
AXIS_PX = 58
LETTER_PX = 6.2  # generous mean width of a letter in a legend
ROW_PX = 20
SUBTITLE_LETTERS = 130


@dataclass(frozen=True)
class Picture:
    """An SVG, and its size."""

    svg: str
    width_px: int
    height_px: int


def draw_run(
    result: RunResult,
    seconds: Seconds,
    *,
    look: Theme = "light",
    usd_per_hour: float | None = None,
) -> Picture:
    """Draw a run in the colors of a theme."""
    answer = build_headline(result, usd_per_hour)
    title = f"{result.name}: {answer.figure} ops/s" if answer.figure else result.name
    loads = curve.draw_curve(collect_curve(result.capacity)) if result.capacity else None
    drawn = [
        chart for chart in (loads, timeline.draw_timeline(result, seconds)) if chart is not None
    ]
    return draw_sheet(f"{title} ({answer.tag})", answer.sentence, drawn, look=look)


def draw_sheet(
    title: str, sentence: str, charts: Sequence[Chart], *, look: Theme = "light"
) -> Picture:
    """Draw charts one below the other, under a title."""
    lines = textwrap.wrap(sentence, SUBTITLE_LETTERS)
    parts = [_draw_text(title, MARGIN_PX, 40, font_size=20, font_weight="bold", fill=theme.INK)]
    parts += [
        _draw_text(line, MARGIN_PX, 64 + 18 * place, font_size=13, fill=theme.MUTED)
        for place, line in enumerate(lines)
    ]
    top = 64.0 + 18 * len(lines)
    for panel in (panel for chart in charts for panel in chart.panels):
        drawn, height = _draw_panel(panel, top)
        parts += drawn
        top += height
    if not charts:
        parts.append(_draw_text("Nothing was measured.", MARGIN_PX, top + 10, fill=theme.INK))
        top += 40
    width = AXIS_PX + WIDTH_PX + 2 * MARGIN_PX
    whole = write_element(
        "svg",
        write_element("rect", width="100%", height="100%", fill="var(--surface)"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=math.ceil(top),
        font_family=theme.FONT,
        font_size=13,
    )
    return Picture(theme.insert_colors(whole, look), width, math.ceil(top))


def _draw_panel(panel: Panel, top: float) -> tuple[list[Markup], float]:
    """Draw a panel with its title and legend from `top` down; return it and its height."""
    left = MARGIN_PX + AXIS_PX
    keys, rows = _draw_legend(panel.keys, top + ROW_PX)
    above = ROW_PX * (1 + rows) + 14
    below = 44 if panel.axis else 8
    drawn = [
        _draw_text(panel.y.title, MARGIN_PX, top + ROW_PX, font_size=11, fill=theme.MUTED),
        *keys,
        write_element(
            "svg", draw_plot(panel), x=left, y=top + above, width=WIDTH_PX, overflow="visible"
        ),
    ]
    if panel.axis:
        middle, under = left + WIDTH_PX / 2, top + above + panel.height_px + 34
        drawn.append(
            _draw_text(
                panel.x.title, middle, under, font_size=11, fill=theme.MUTED, text_anchor="middle"
            )
        )
    return drawn, above + panel.height_px + below


def _draw_legend(keys: Iterable[Key], top: float) -> tuple[list[Markup], int]:
    """Draw a legend's entries side by side; return them and the number of rows."""
    drawn: list[Markup] = []
    x, rows = float(MARGIN_PX), 0
    for one in keys:
        wide = KEY_PX[0] + 6 + LETTER_PX * len(one.label) + 18
        if rows == 0 or x + wide > MARGIN_PX + AXIS_PX + WIDTH_PX:
            x, rows = float(MARGIN_PX), rows + 1
        y = top + ROW_PX * rows
        drawn.append(write_element("svg", key(one), x=x, y=y - KEY_PX[1] + 2, overflow="visible"))
        drawn.append(_draw_text(one.label, x + KEY_PX[0] + 6, y, font_size=11, fill=theme.INK))
        x += wide
    return drawn, rows


def _draw_text(text: str, x: float, y: float, **attributes: object) -> Markup:
    return write_element("text", text, x=x, y=y, **attributes)
