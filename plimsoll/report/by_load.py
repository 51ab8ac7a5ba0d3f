"""Charts by load: throughput, and the latency percentiles of one operation."""

from plimsoll import words
from plimsoll.model.capacity import Axis, Capacity
from plimsoll.report import rows, scale, theme
from plimsoll.report.chart import Box, Chart, Key, Mark, Panel, Point, Rule, told
from plimsoll.report.encodings import LIMIT_DASH, SHAPES, drawable, line_of, load_tip, outcome_keys
from plimsoll.report.scale import Scale

HEIGHT_PX = 240
DASHES = ("", "6 3", "2 2", "8 2 2 2")  # of statistics, from the lowest


def limit_words(capacity: Capacity, operation: str) -> str:
    """The limit that is drawn, for the caption of the chart; empty where there is none."""
    name = words.statistic(capacity.statistic)
    limits_us = [row["limit_us"] for row in rows.limit_rows(capacity, operation)]
    return "".join(
        f" Level dotted line: the limit of its {name}, {words.latency(us)}." for us in limits_us
    )


def load_scale(axis: Axis, most: float) -> Scale:
    """The axis of loads: whole numbers where loads are counted."""
    title = rows.AXIS_TITLES[axis]
    if axis == "rate_ops_per_second":
        return scale.linear([most], title, room=1.04)
    return scale.counted(most, title)


def _load_scale(capacity: Capacity) -> Scale:
    return load_scale(capacity.axis, max(judged.load for judged in capacity.steps))


def _bracket(capacity: Capacity) -> list[Mark]:
    low, high = capacity.bracket or (None, None)
    return [] if low is None or high is None else [Box((low, high), color=theme.BAND)]


def throughput(capacity: Capacity) -> Chart | None:
    """Throughput by load, with the bracket, the answer, and the fitted law where it fits."""
    found = drawable(rows.throughput_rows(capacity), "throughput")
    if not found:
        return None
    color = theme.SERIES[0]
    figure = capacity.max_sustainable_throughput_ops_per_second
    points = [
        Point(
            row["load"],
            row["throughput"],
            color,
            SHAPES[row["outcome"]],
            tip=load_tip(row, capacity.axis),
        )
        for row in found
    ]
    usl = rows.usl_rows(capacity)
    marks: list[Mark] = [
        *_bracket(capacity),
        *([Rule(theme.INK, y=figure)] if figure is not None else []),
        *([line_of(usl, "load", "throughput", theme.MUTED, dash="2 3")] if usl else []),
        line_of(found, "load", "throughput", color, opacity=0.75),
        *points,
    ]
    panel = Panel(
        id="throughput",
        x=_load_scale(capacity),
        y=scale.linear([row["throughput"] for row in (*found, *usl)], "throughput, ops/s"),
        marks=marks,
        height_px=HEIGHT_PX,
        keys=outcome_keys(found),
        summary=told(points),
    )
    return Chart("throughput", [panel])


def latency(capacity: Capacity, operation: str) -> Chart | None:
    """Latency percentiles of one operation by load."""
    found = [
        row | {"statistic": words.statistic(row["statistic"])}
        for row in drawable(rows.latency_rows(capacity), "latency_us")
        if row["operation"] == operation
    ]
    if not found:
        return None
    operations = rows.operations(capacity)
    color = theme.series(len(operations))[operations.index(operation)]
    names = [words.statistic(one) for one in rows.shown_statistics(capacity)]
    dashes = dict(zip(names, DASHES, strict=False))
    limits_us = [row["limit_us"] for row in rows.limit_rows(capacity, operation)]
    points = [_latency_point(row, color, capacity.axis) for row in found]
    lines: dict[str, list[rows.Row]] = {}
    for row in found:
        lines.setdefault(row["statistic"], []).append(row)
    marks: list[Mark] = [
        *_bracket(capacity),
        *(Rule(theme.INK, y=limit_us, dash=LIMIT_DASH) for limit_us in limits_us),
        *(line_of(of, "load", "latency_us", color, dash=dashes[one]) for one, of in lines.items()),
        *points,
    ]
    panel = Panel(
        id=f"latency-{operation}",
        x=_load_scale(capacity),
        y=scale.latency(
            [*(row["latency_us"] for row in found), *limits_us],
            f"latency of {operation} (log scale)",
        ),
        marks=marks,
        height_px=HEIGHT_PX,
        keys=[Key(one, color, "line", dashes[one]) for one in names if one in lines],
        summary=told(points),
    )
    return Chart(panel.id, [panel])


def _latency_point(row: rows.Row, color: str, axis: Axis) -> Point:
    tip = [
        ("operation", row["operation"]),
        ("statistic", row["statistic"]),
        ("latency, µs", f"{row['latency_us']:,.0f}"),
        *load_tip(row, axis),
    ]
    return Point(row["load"], row["latency_us"], color, radius_px=4, tip=tip)
