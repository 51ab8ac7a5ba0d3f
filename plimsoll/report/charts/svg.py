"""Draws charts as SVG, as wide as their container in a page, `WIDTH_PX` wide in a picture.

Horizontal positions are percentages. Paths cannot have those, so they are drawn `WIDTH_PX` wide and
stretched without changing their strokes. So a page needs no script, and no second drawing, on a
telephone or on paper. Colors are CSS variables.
"""

import math
from collections.abc import Iterable
from typing import assert_never

from markupsafe import Markup, escape

from plimsoll.report.charts import theme
from plimsoll.report.charts.chart import (
    Bars,
    Box,
    Key,
    Label,
    Line,
    Mark,
    Panel,
    Point,
    Rule,
    Shape,
    Tip,
)
from plimsoll.report.charts.scale import Scale

# Marks.


WIDTH_PX = 900  # width of a plot without its axis


def write_element(name: str, *content: str, **attributes: object) -> Markup:
    """Write an element; an attribute that is None is left out, `_` in a name stands for `-`.

    Content that is not `Markup` is escaped as text.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_format_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(content)
    return Markup(f"<{name}{written}>{inner}</{name}>")  # noqa: S704 - all of it is escaped


def _format_attribute(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def x_percent(scale: Scale, value: float) -> str:
    """Return a value's horizontal position as a percentage of the width."""
    return f"{_format_attribute(100 * scale.at(value))}%"


def y_px(scale: Scale, value: float, height: int) -> float:
    """Return a value's vertical position in px from the top."""
    return round((1 - scale.at(value)) * height, 1)


def draw_mark(mark: Mark, x: Scale, y: Scale, height: int) -> Markup:
    """Draw a mark in a plot of the given height in px."""
    match mark:
        case Line():
            return _draw_line(mark, x, y, height)
        case Bars():
            return _draw_bars(mark, x, y, height)
        case Box():
            return _draw_box(mark, x, y, height)
        case Rule():
            return _draw_rule(mark, x, y, height)
        case Point():
            shape = draw_symbol(mark.shape, mark.radius_px, mark.color, hollow=mark.hollow)
            return write_element(
                "svg",
                shape,
                *_write_tooltip(mark.tip),
                x=x_percent(x, mark.x),
                y=y_px(y, mark.y, height),
                overflow="visible",
            )
        case Label():
            return _draw_label(mark, x, y, height)
    assert_never(mark)


def _draw_line(mark: Line, x: Scale, y: Scale, height: int) -> Markup:
    def place(point: tuple[float, float]) -> str:
        return (
            f"{_format_attribute(WIDTH_PX * x.at(point[0]))}"
            f" {_format_attribute(y_px(y, point[1], height))}"
        )

    path = "".join(
        f"M{'L'.join(map(place, stretch))}{'h0' if len(stretch) == 1 else ''}"
        for stretch in mark.stretches
        if stretch
    )
    return _draw_stretches(
        height,
        write_element(
            "path",
            d=path,
            fill="none",
            stroke=mark.color,
            stroke_width=mark.width_px,
            stroke_dasharray=mark.dash or None,
            stroke_linecap=None if mark.dash else "round",
            stroke_linejoin="round",
            opacity=mark.opacity,
            vector_effect="non-scaling-stroke",
        ),
    )


def _draw_bars(mark: Bars, x: Scale, y: Scale, height: int) -> Markup:
    """Draw all bars as one path in tenths of a px, each with coordinates relative to the last."""
    path, at = [], (0, 0)
    for from_x, to_x, from_y, to_y in mark.bars:
        left, right = (round(10 * WIDTH_PX * x.at(value)) for value in (from_x, to_x))
        bottom, top = (round(10 * y_px(y, value, height)) for value in (from_y, to_y))
        start = f"{left - at[0]}{bottom - at[1]:+d}"
        path.append(f"m{start}h{right - left}v{top - bottom}h{left - right}")
        at = left, top
    drawn_bars = write_element(
        "path",
        *_write_tooltip(mark.tip),
        d="".join(path),
        fill=mark.color,
        opacity=mark.opacity,
        shape_rendering="crispEdges",
    )
    return _draw_stretches(height, drawn_bars, scale=10)


def _draw_stretches(height: int, path: Markup, *, scale: int = 1) -> Markup:
    """Wrap paths in a layer, `WIDTH_PX` wide, that stretches to the width of the plot."""
    return write_element(
        "svg",
        path,
        width="100%",
        height=height,
        preserveAspectRatio="none",
        viewBox=f"0 0 {scale * WIDTH_PX} {scale * height}",
    )


def _draw_box(mark: Box, x: Scale, y: Scale, height: int) -> Markup:
    left, right = (100 * x.at(value) for value in mark.x)
    top, bottom = 0.0, float(height)
    if mark.y is not None:
        bottom, top = (y_px(y, value, height) for value in mark.y)
    return write_element(
        "rect",
        *_write_tooltip(mark.tip),
        x=f"{_format_attribute(left)}%",
        width=f"{_format_attribute(right - left)}%",
        y=top,
        height=bottom - top,
        fill=mark.color,
        stroke=mark.edge,
        opacity=mark.opacity,
        pointer_events="all" if mark.tip else None,
    )


def _draw_rule(mark: Rule, x: Scale, y: Scale, height: int) -> Markup:
    if mark.x is not None:
        place = x_percent(x, mark.x)
        ends: dict[str, object] = {"x1": place, "x2": place, "y1": 0, "y2": height}
    else:
        level = y_px(y, mark.y or 0, height)
        ends = {"x1": 0, "x2": "100%", "y1": level, "y2": level}
    return write_element(
        "line",
        *_write_tooltip(mark.tip),
        **ends,
        stroke=mark.color,
        stroke_width=mark.width_px,
        stroke_dasharray=mark.dash or None,
        opacity=mark.opacity,
    )


def _draw_label(mark: Label, x: Scale, y: Scale, height: int) -> Markup:
    left = "0" if mark.x is None else x_percent(x, mark.x)
    top = 0.0 if mark.y is None else y_px(y, mark.y, height)
    turned = "rotate(-90)" if mark.upright else None
    text = write_element(
        "text",
        mark.text,
        x=mark.shift_px[0],
        y=mark.shift_px[1],
        transform=turned,
        text_anchor=mark.anchor,
        fill=mark.color,
        font_size=mark.size_px,
        font_weight="bold" if mark.bold else None,
        stroke="var(--surface)",
        stroke_width=3,
        stroke_linejoin="round",
        paint_order="stroke",
        pointer_events="none",
    )
    return write_element("svg", text, x=left, y=top, overflow="visible")


def draw_symbol(shape: Shape, radius: float, color: str, *, hollow: bool = False) -> Markup:
    """Draw a symbol around (0, 0)."""
    r = radius
    paths = {
        "circle": f"M{-r:g} 0a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0z",
        "cross": f"M{-r:g} {-r:g}L{r:g} {r:g}M{-r:g} {r:g}L{r:g} {-r:g}",
        "diamond": f"M0 {-1.3 * r:g}L{r:g} 0L0 {1.3 * r:g}L{-r:g} 0z",
        "triangle": f"M0 {-1.2 * r:g}L{1.1 * r:g} {r:g}H{-1.1 * r:g}z",
        "square": f"M{-r:g} {-r:g}h{2 * r:g}v{2 * r:g}h{-2 * r:g}z",
    }
    open_ = hollow or shape == "cross"
    return write_element(
        "path",
        d=paths[shape],
        fill="none" if open_ else color,
        stroke=color if open_ else None,
        stroke_width=(1.4 if hollow else 2.4) if open_ else None,
    )


def _write_tooltip(tip: Tip) -> list[Markup]:
    """Build the native tooltip, which browsers show without any script."""
    return [write_element("title", "\n".join(f"{n}: {t}" for n, t in tip))] if tip else []


KEY_PX = (26, 12)
TEXT_PX = 14  # height of a line of axis text


def draw_plot(panel: Panel, **attributes: object) -> Markup:
    """Draw a panel's plot, with its grid and the texts of its axes."""
    height = panel.height_px
    return write_element(
        "svg",
        *_draw_grid(panel),
        *(draw_mark(mark, panel.x, panel.y, height) for mark in panel.marks),
        *(_draw_level_axis(panel) if panel.axis else ()),
        width="100%",
        height=height,
        overflow="visible",
        **attributes,
    )


def key(one: Key) -> Markup:
    """Draw the symbol of a legend entry."""
    width, height = KEY_PX
    if one.shape == "line":
        drawn_key = write_element(
            "path",
            d=f"M0 {height // 2}h{width}",
            stroke=one.color,
            stroke_width=2.5,
            stroke_dasharray=one.dash or None,
        )
    else:
        shape = draw_symbol(one.shape, 4.5, one.color)
        drawn_key = write_element("svg", shape, x="50%", y="50%", overflow="visible")
    return write_element("svg", drawn_key, width=width, height=height, aria_hidden="true")


def _draw_grid(panel: Panel) -> Iterable[Markup]:
    """Draw lines and texts of the vertical axis; a tick too close to the last is left out."""
    height = panel.height_px
    before = math.inf
    for value, text in panel.y.ticks:
        y = y_px(panel.y, value, height)
        if abs(before - y) < TEXT_PX:
            continue
        before = y
        yield write_element("line", x2="100%", y1=y, y2=y, stroke=theme.GRID)
        yield write_element(
            "text",
            text,
            x=-8,
            y=y,
            dy=".35em",
            text_anchor="end",
            fill=theme.MUTED,
            font_size=11,
        )
    yield write_element("line", x2="100%", y1=height, y2=height, stroke=theme.RULE)


def _draw_level_axis(panel: Panel) -> Iterable[Markup]:
    """Draw ticks and texts of the horizontal axis; narrow screens hide every other text."""
    height = panel.height_px
    for place, (value, text) in enumerate(panel.x.ticks):
        x = x_percent(panel.x, value)
        yield write_element("line", x1=x, x2=x, y1=height, y2=height + 4, stroke=theme.RULE)
        yield write_element(
            "text",
            text,
            x=x,
            y=height + 17,
            text_anchor="middle",
            fill=theme.MUTED,
            font_size=11,
            class_="odd" if place % 2 else None,
        )
