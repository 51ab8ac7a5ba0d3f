"""Charts as SVG: in a page as wide as their place, in a picture as wide as `WIDTH_PX`.

Places along the level axis are percentages. Paths, which know none, are drawn `WIDTH_PX` wide and
stretched, their strokes left as they are. So a page needs no script, and no second drawing, on a
telephone or on paper. Colors are CSS variables.
"""

import math
from collections.abc import Iterable

from markupsafe import Markup

from plimsoll.report import theme
from plimsoll.report.chart import Key, Panel
from plimsoll.report.svg_marks import below, drawn, element, share, symbol

KEY_PX = (26, 12)
TEXT_PX = 14  # a line of an axis's texts


def plot(panel: Panel, **attributes: object) -> Markup:
    """Draw a panel's plot, with its grid and the texts of its axes around it."""
    height = panel.height_px
    return element(
        "svg",
        *_grid(panel),
        *(drawn(mark, panel.x, panel.y, height) for mark in panel.marks),
        *(_level_axis(panel) if panel.axis else ()),
        width="100%",
        height=height,
        overflow="visible",
        **attributes,
    )


def key(one: Key) -> Markup:
    """Draw the symbol of a line of the legend."""
    width, height = KEY_PX
    if one.shape == "line":
        drawn_key = element(
            "path",
            d=f"M0 {height // 2}h{width}",
            stroke=one.color,
            stroke_width=2.5,
            stroke_dasharray=one.dash or None,
        )
    else:
        shape = symbol(one.shape, 4.5, one.color)
        drawn_key = element("svg", shape, x="50%", y="50%", overflow="visible")
    return element("svg", drawn_key, width=width, height=height, aria_hidden="true")


def _grid(panel: Panel) -> Iterable[Markup]:
    """Lines and texts of the upright axis; a tick too near to the one before is left out."""
    height = panel.height_px
    before = math.inf
    for value, text in panel.y.ticks:
        y = below(panel.y, value, height)
        if abs(before - y) < TEXT_PX:
            continue
        before = y
        yield element("line", x2="100%", y1=y, y2=y, stroke=theme.GRID)
        yield element(
            "text",
            text,
            x=-8,
            y=y,
            dy=".35em",
            text_anchor="end",
            fill=theme.MUTED,
            font_size=11,
        )
    yield element("line", x2="100%", y1=height, y2=height, stroke=theme.RULE)


def _level_axis(panel: Panel) -> Iterable[Markup]:
    """Ticks and their texts, of which every other one makes room on a narrow screen."""
    height = panel.height_px
    for place, (value, text) in enumerate(panel.x.ticks):
        x = share(panel.x, value)
        yield element("line", x1=x, x2=x, y1=height, y2=height + 4, stroke=theme.RULE)
        yield element(
            "text",
            text,
            x=x,
            y=height + 17,
            text_anchor="middle",
            fill=theme.MUTED,
            font_size=11,
            class_="odd" if place % 2 else None,
        )
