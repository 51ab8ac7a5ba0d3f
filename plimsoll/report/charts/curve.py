"""Charts of one run's loads: the latency-throughput curve, throughput and latency by load."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.judging.capacity import Axis, Capacity
from plimsoll.report.charts import rows, scale, theme
from plimsoll.report.charts.chart import (
    Box,
    Chart,
    Key,
    Label,
    Line,
    Mark,
    Panel,
    Point,
    Rule,
    describe_points,
)
from plimsoll.report.charts.scale import Scale
from plimsoll.report.charts.theme import (
    LIMIT_DASH,
    SHAPES,
    answer_marks,
    draw_line_through,
    list_outcome_keys,
    load_tip,
    make_limit_tip,
    select_drawable,
)

HEIGHT_PX = 340
LABEL_SHARE = 0.05  # height of a line of text, as a share of the axis


def draw_curve(curve: rows.Curve) -> Chart | None:
    """Draw latency (the judged statistic) over throughput; None if nothing was measured."""
    found = select_drawable(curve.points, "throughput", "latency_us")
    if not found:
        return None
    name = words.name_statistic(curve.statistic)
    operations = curve.operations
    colors = dict(zip(operations, theme.choose_series_colors(len(operations)), strict=True))
    limits_us = curve.limits
    repeated = select_drawable(curve.repetitions, "throughput", "latency_us")
    heights = [row["latency_us"] for row in (*found, *repeated)]
    heights += [row["limit_us"] for row in limits_us]
    heights = [height for height in heights if height] or [1.0]
    heights.append(1.4 * max(heights))  # room for the answer's label
    x = scale.make_linear_scale(
        [row["throughput"] for row in (*found, *repeated)], "throughput, ops/s"
    )
    points = [_make_curve_point(row, name, colors[row["operation"]], curve.axis) for row in found]
    marks: list[Mark] = [
        *answer_marks(curve.answer, x.high),
        *(
            Rule(
                colors[row["operation"]],
                y=row["limit_us"],
                dash=LIMIT_DASH,
                tip=make_limit_tip(row),
            )
            for row in limits_us
        ),
        *(
            Label(row["label"], y=row["limit_us"], shift_px=(4, -3))
            for row in label_limits(limits_us, heights)
        ),
    ]
    for operation, color in colors.items():
        of = [row for row in found if row["operation"] == operation]
        dots = [
            [(r["throughput"], r["latency_us"])] for r in repeated if r["operation"] == operation
        ]
        marks += [
            draw_line_through(of, "throughput", "latency_us", color, opacity=0.75),
            Line(dots, color, width_px=4, opacity=0.55),
        ]
    marks += [_make_ring(row) for row in found if row["in_bracket"]]
    marks += points
    marks += [_make_load_label(row) for row in found if row["label"] is not None]
    panel = Panel(
        id="curve",
        x=x,
        y=scale.make_latency_scale(heights, f"{name} latency (log scale)"),
        marks=marks,
        height_px=HEIGHT_PX,
        keys=[*(Key(one, color) for one, color in colors.items()), *list_outcome_keys(found)],
        summary=describe_points(points),
    )
    return Chart("curve", [panel])


def _make_curve_point(row: rows.Row, statistic: str, color: str, axis: Axis) -> Point:
    limit = [("limit, µs", f"{row['limit_us']:,.0f}")] if row["limit_us"] is not None else []
    latency = (f"{statistic} latency, µs", f"{row['latency_us']:,.0f}")
    return Point(
        row["throughput"],
        row["latency_us"],
        color,
        SHAPES[row["outcome"]],
        tip=[("operation", row["operation"]), latency, *limit, *load_tip(row, axis)],
    )


def _make_ring(row: rows.Row) -> Point:
    return Point(row["throughput"], row["latency_us"], theme.INK, radius_px=10, hollow=True)


def _make_load_label(row: rows.Row) -> Label:
    # right of a ring: left of it stands the answer's line, which is the lower end of the interval
    return Label(
        row["label"],
        row["throughput"],
        row["latency_us"],
        shift_px=(13, -7) if row["in_bracket"] else (-7, -13),
        anchor="start" if row["in_bracket"] else "middle",
        color=theme.MUTED,
        size_px=10,
    )


def label_limits(limits_us: Sequence[rows.Row], heights: list[float]) -> list[rows.Row]:
    """Label the limits; if several are too close for a label each, the topmost names all."""
    if not limits_us:
        return []
    apart = (max(heights) / min(heights)) ** LABEL_SHARE
    groups: list[list[rows.Row]] = []
    for row in sorted(limits_us, key=lambda row: row["limit_us"], reverse=True):
        if groups and groups[-1][0]["limit_us"] < row["limit_us"] * apart:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [
        {
            "limit_us": group[0]["limit_us"],
            "label": "limit of "
            + ", of ".join(
                f"{row['operation']}: {words.format_latency(row['limit_us'])}" for row in group
            ),
        }
        for group in groups
    ]


# Charts by load.


BY_LOAD_HEIGHT_PX = 240
DASHES = ("", "6 3", "2 2", "8 2 2 2")  # one for each statistic, from the lowest


def describe_drawn_limit(capacity: Capacity, operation: str) -> str:
    """Describe the drawn limit for the chart's caption; empty if there is none."""
    name = words.name_statistic(capacity.statistic)
    limits_us = [row["limit_us"] for row in rows.make_limit_rows(capacity, operation)]
    return "".join(
        f" Dotted line: the limit of its {name}, {words.format_latency(us)}." for us in limits_us
    )


def scale_loads(axis: Axis, most: float) -> Scale:
    """Return the axis of loads; its ticks are whole numbers if loads are counted."""
    title = rows.AXIS_TITLES[axis]
    if axis == "rate_ops_per_second":
        return scale.make_linear_scale([most], title, room=1.04)
    return scale.count_scale(most, title)


def _scale_judged_loads(capacity: Capacity) -> Scale:
    return scale_loads(capacity.axis, max(judged.load for judged in capacity.steps))


def _list_bracket_marks(capacity: Capacity) -> list[Mark]:
    low, high = capacity.bracket or (None, None)
    return [] if low is None or high is None else [Box((low, high), color=theme.BAND)]


def draw_throughput(capacity: Capacity) -> Chart | None:
    """Draw throughput by load, with the bracket, the answer, and the fitted law if it fits."""
    found = select_drawable(rows.list_throughput_rows(capacity), "throughput")
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
    usl = rows.list_usl_rows(capacity)
    marks: list[Mark] = [
        *_list_bracket_marks(capacity),
        *([Rule(theme.INK, y=figure)] if figure is not None else []),
        *([draw_line_through(usl, "load", "throughput", theme.MUTED, dash="2 3")] if usl else []),
        draw_line_through(found, "load", "throughput", color, opacity=0.75),
        *points,
    ]
    panel = Panel(
        id="throughput",
        x=_scale_judged_loads(capacity),
        y=scale.make_linear_scale(
            [row["throughput"] for row in (*found, *usl)], "throughput, ops/s"
        ),
        marks=marks,
        height_px=BY_LOAD_HEIGHT_PX,
        keys=list_outcome_keys(found),
        summary=describe_points(points),
    )
    return Chart("throughput", [panel])


def draw_latency(capacity: Capacity, operation: str) -> Chart | None:
    """Draw the latency percentiles of one operation by load."""
    found = [
        row | {"statistic": words.name_statistic(row["statistic"])}
        for row in select_drawable(rows.list_latency_rows(capacity), "latency_us")
        if row["operation"] == operation
    ]
    if not found:
        return None
    operations = rows.list_operations(capacity)
    color = theme.choose_series_colors(len(operations))[operations.index(operation)]
    names = [words.name_statistic(one) for one in rows.list_shown_statistics(capacity)]
    dashes = dict(zip(names, DASHES, strict=False))
    limits_us = [row["limit_us"] for row in rows.make_limit_rows(capacity, operation)]
    points = [_make_latency_point(row, color, capacity.axis) for row in found]
    lines: dict[str, list[rows.Row]] = {}
    for row in found:
        lines.setdefault(row["statistic"], []).append(row)
    marks: list[Mark] = [
        *_list_bracket_marks(capacity),
        *(Rule(theme.INK, y=limit_us, dash=LIMIT_DASH) for limit_us in limits_us),
        *(
            draw_line_through(of, "load", "latency_us", color, dash=dashes[one])
            for one, of in lines.items()
        ),
        *points,
    ]
    panel = Panel(
        id=f"latency-{operation}",
        x=_scale_judged_loads(capacity),
        y=scale.make_latency_scale(
            [*(row["latency_us"] for row in found), *limits_us],
            f"latency of {operation} (log scale)",
        ),
        marks=marks,
        height_px=BY_LOAD_HEIGHT_PX,
        keys=[Key(one, color, "line", dashes[one]) for one in names if one in lines],
        summary=describe_points(points),
    )
    return Chart(panel.id, [panel])


def _make_latency_point(row: rows.Row, color: str, axis: Axis) -> Point:
    tip = [
        ("operation", row["operation"]),
        ("statistic", row["statistic"]),
        ("latency, µs", f"{row['latency_us']:,.0f}"),
        *load_tip(row, axis),
    ]
    return Point(row["load"], row["latency_us"], color, radius_px=4, tip=tip)
