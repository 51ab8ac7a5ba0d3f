"""Charts of several runs, one curve for each."""

from collections.abc import Callable, Mapping, Sequence

from plimsoll import words
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.run.results import RunResult
from plimsoll.report.charts import rows, scale, theme
from plimsoll.report.charts.chart import Chart, Key, Mark, Panel, Point, Rule, Tip, describe_points
from plimsoll.report.charts.curve import scale_loads
from plimsoll.report.charts.theme import (
    LIMIT_DASH,
    SHAPES,
    draw_line_through,
    list_outcome_keys,
    load_tip,
    make_limit_tip,
    select_drawable,
)

HEIGHT_PX = 300
# Dashes tell runs apart without color; none looks like the dots of a limit.
DASHES = ("", "8 4", "12 3 3 3", "16 5", "6 6", "8 3 2 3 2 3")


def _run_looks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the color and dash of each run."""
    colors = theme.choose_series_colors(len(names))
    return {name: (colors[i], DASHES[i % len(DASHES)]) for i, name in enumerate(names)}


def _make_keys(names: Sequence[str], points: Sequence[rows.Row]) -> list[Key]:
    lines = [Key(name, color, "line", dash) for name, (color, dash) in _run_looks(names).items()]
    return [*lines, *list_outcome_keys(points)]


def _list_rows_of_runs(
    results: Sequence[RunResult],
    names: Sequence[str],
    rows_of: Callable[[Capacity], list[rows.Row]],
) -> list[rows.Row]:
    """Return the rows of every run with a capacity, each with the run's name."""
    return [
        row | {"run": name}
        for name, result in zip(names, results, strict=True)
        if result.capacity is not None
        for row in rows_of(result.capacity)
    ]


def _draw_curves(
    names: Sequence[str], found: Sequence[rows.Row], x: str, y: str, tip: Callable[[rows.Row], Tip]
) -> tuple[list[Mark], list[Point]]:
    """Draw a line and its points for each run."""
    looks = _run_looks(names)
    marks: list[Mark] = [
        draw_line_through([row for row in found if row["run"] == name], x, y, color, dash=dash)
        for name, (color, dash) in looks.items()
    ]
    points = [
        Point(row[x], row[y], looks[row["run"]][0], SHAPES[row["outcome"]], tip=tip(row))
        for row in found
    ]
    return marks, points


def list_all_operations(results: Sequence[RunResult]) -> list[str]:
    """List the operations of all runs."""
    return list(dict.fromkeys(name for r in results for name in rows.list_operations(r.capacity)))


def draw_curves(
    curves: Mapping[str, rows.Curve | None], operation: str, prefix: str = "over"
) -> Chart | None:
    """Draw latency of one operation over throughput, with a line for each run.

    Args:
        curves: The curve of each run, by its name; None if nothing of it was judged.
        operation: The operation.
        prefix: What the chart's id begins with.
    """
    judged = {name: curve for name, curve in curves.items() if curve is not None}
    points_of_runs = [row | {"run": name} for name, curve in judged.items() for row in curve.points]
    everything = select_drawable(points_of_runs, "throughput", "latency_us")
    found = [row for row in everything if row["operation"] == operation]
    statistics = {curve.statistic for curve in judged.values()}
    if not found or len(statistics) != 1:
        return None
    name = words.name_statistic(statistics.pop())
    limits = [
        row | {"run": run}
        for run, curve in judged.items()
        for row in curve.limits
        if row["operation"] == operation
    ]
    names = list(curves)
    looks = _run_looks(names)

    def tip(row: rows.Row) -> Tip:
        latency = (f"{name} latency, µs", f"{row['latency_us']:,.0f}")
        return [("run", row["run"]), latency, *load_tip(row)]

    lines, points = _draw_curves(names, found, "throughput", "latency_us", tip)
    marks: list[Mark] = [
        *_answer_rules(curves),
        *(
            Rule(
                looks[row["run"]][0],
                y=row["limit_us"],
                dash=LIMIT_DASH,
                tip=[("run", row["run"]), *make_limit_tip(row)],
            )
            for row in limits
        ),
        *lines,
        *points,
    ]
    panel = Panel(
        id=f"{prefix}-{operation}",
        x=scale.make_linear_scale([row["throughput"] for row in found], "throughput, ops/s"),
        y=scale.make_latency_scale(
            [row["latency_us"] for row in found] + [row["limit_us"] for row in limits],
            f"{name} latency of {operation} (log scale)",
        ),
        marks=marks,
        height_px=HEIGHT_PX,
        keys=_make_keys(names, found),
        summary=describe_points(points),
    )
    return Chart(panel.id, [panel])


def _answer_rules(curves: Mapping[str, rows.Curve | None]) -> list[Rule]:
    """Draw a vertical line at the figure of each run's verdict."""
    rules = []
    for name, (color, _) in _run_looks(list(curves)).items():
        curve = curves[name]
        if curve is not None and (answer := curve.answer) is not None:
            shown = words.prepend_bound(
                words.format_throughput(answer.ops_per_second), answer.bound
            )
            tip = [("run", name), ("capacity", shown)]
            rules.append(Rule(color, x=answer.ops_per_second, opacity=0.8, tip=tip))
    return rules


def draw_throughputs(
    results: Sequence[RunResult], names: Sequence[str], prefix: str = "over"
) -> Chart | None:
    """Draw throughput by load, a line for each run; None if the loads are of different kinds."""
    axes = {r.capacity.axis for r in results if r.capacity is not None}
    found = select_drawable(
        _list_rows_of_runs(results, names, rows.list_throughput_rows), "throughput"
    )
    if not found or len(axes) != 1:
        return None
    lines, points = _draw_curves(
        names, found, "load", "throughput", lambda row: [("run", row["run"]), *load_tip(row)]
    )
    panel = Panel(
        id=f"{prefix}-throughput",
        x=scale_loads(axes.pop(), max(row["load"] for row in found)),
        y=scale.make_linear_scale([row["throughput"] for row in found], "throughput, ops/s"),
        marks=[*lines, *points],
        height_px=HEIGHT_PX,
        keys=_make_keys(names, found),
        summary=describe_points(points),
    )
    return Chart(panel.id, [panel])
