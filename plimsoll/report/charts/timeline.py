"""Charts over a run's time: the time line with all its panels, and the latency heat map."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.report.charts import clock as clocks
from plimsoll.report.charts import rows, scale, theme
from plimsoll.report.charts.chart import Bars, Box, Chart, Key, Label, Mark, Rows
from plimsoll.report.charts.panels import LATENCIES, Panels, build_readout, draw_lines, stack_bars
from plimsoll.report.charts.scale import Scale
from plimsoll.report.charts.target_panels import add_target_panels

# Background loads: throughput, and latency below it.


BACKGROUND_HEIGHT_PX = 70


def _add_background_panels(panels: Panels, clock: clocks.Clock, seconds: Seconds) -> None:
    """Add panels of the background's throughput and latency; none if no background ran."""
    series: Rows = []
    for name, own in seconds.background.items():
        rows = clocks.build_operation_rows(clock, own)
        series += [row | {"operation": f"{name}: {row['operation']}"} for row in rows]
    if not series:
        return
    width_s = panels.width_s
    series = clocks.number_segments(series, ("operation",), 1.5 * width_s)
    names = list(dict.fromkeys(row["operation"] for row in series))
    backwards = theme.SERIES[::-1]
    colors = {name: backwards[i % len(backwards)] for i, name in enumerate(names)}
    stacked = clocks.stack_rows(series, "operation", "rate", names)
    panels.add(
        "background",
        panels.make_stack_scale(stacked, f"background, ops/s, stacked ({panels.per})"),
        stack_bars(stacked, "operation", colors),
        keys=[Key(name, color) for name, color in colors.items()],
        readout=build_readout(series, "operation", {"rate": "ops/s"}, width_s, digits=1),
        height_px=BACKGROUND_HEIGHT_PX,
    )
    if known := [row["p99_us"] for row in series if row["p99_us"] is not None]:
        panels.add(
            "background-latency",
            scale.make_latency_scale(known, "background, p99 (log scale)"),
            draw_lines(series, ("operation",), "p99_us", colors),
            readout=build_readout(series, "operation", LATENCIES, width_s),
            height_px=BACKGROUND_HEIGHT_PX,
        )


WIDE_SHARE = 0.2  # share of the time line with room for a phase's name, even on a telephone


def draw_timeline(result: RunResult, seconds: Seconds) -> Chart | None:
    """Draw the whole run: phases, throughput, latency, errors, and the target's own figures."""
    if not seconds.operations and not seconds.target:
        return None
    clock = clocks.Clock(result, seconds)
    panels = Panels(clock.length_s, clock.width_s, clocks.build_step_rows(clock, result))
    add_phases(panels, clocks.build_phase_rows(clock, result))
    series = clocks.build_operation_rows(clock, seconds.operations)
    add_operation_panels(panels, series, rows.list_timed_operations(result.capacity, series))
    _add_background_panels(panels, clock, seconds)
    target = result.request.target
    add_target_panels(
        panels,
        lambda fields: clocks.build_target_rows(clock, seconds.target, fields),
        clocks.sample_gap_s(seconds.target, clock.width_s),
        result.volume_limits,
        volumes=target.nodes if isinstance(target, CassandraTarget) else 1,
    )
    return panels.make_chart("timeline")


def add_phases(panels: Panels, found: Rows) -> None:
    """Add a panel of the phases, and of the steps by number.

    Args:
        panels: The panels so far.
        found: A row for each phase; see `clock.build_phase_rows`.
    """
    marks: list[Mark] = [
        Box(
            (row["t"], row["t2"]),
            color=theme.GRID,
            edge=theme.RULE,
            tip=[("phase", row["phase"])],
        )
        for row in found
    ]
    for row in panels.steps:
        tip = [("step", str(row["step"])), ("clients", words.format_number(row["clients"]))]
        marks.append(Box((row["t"], row["t2"]), edge=theme.RULE, tip=tip))
    for row in panels.steps:
        if row["label"] is not None:
            middle = (row["t"] + row["t2"]) / 2
            marks.append(
                Label(row["label"], middle, 0.5, shift_px=(0, 4), anchor="middle", size_px=10)
            )
    for row in found:
        upright = row["t2"] - row["t"] < WIDE_SHARE * panels.length_s
        middle = (row["t"] + row["t2"]) / 2
        label = Label(
            row["phase"],
            middle,
            0.5,
            shift_px=(0, 4),
            anchor="middle",
            color=theme.MUTED,
            size_px=9 if upright else 10,
            upright=upright,
        )
        marks.append(label)
    spans = [(row["phase"], row["t2"] - row["t"]) for row in found]
    told = [f"{name} for {words.format_duration(length_s)}" for name, length_s in spans]
    summary = "; ".join(
        filter(None, (", ".join(told), words.format_count(len(panels.steps), "step")))
    )
    title = "phases and steps" if found else "steps"
    panels.add("phases", Scale(0, 1, title), marks, summary=summary, height_px=56)


def add_operation_panels(panels: Panels, series: Rows, names: Sequence[str]) -> None:
    """Add panels of throughput, latency, and failures if there are any; none without series.

    Args:
        panels: The panels so far.
        series: A row for each bin and operation; see `clock.build_operation_rows`.
        names: The operations in the order of their colors.
    """
    if not series:
        return
    width_s = panels.width_s
    by = ("operation", "step") if width_s == 1 else ("operation",)
    series = clocks.number_segments(series, by, 1.5 * width_s)
    present = {row["operation"] for row in series}
    colors = dict(zip(names, theme.choose_series_colors(len(names)), strict=True))
    colors = {name: color for name, color in colors.items() if name in present}
    stacked = clocks.stack_rows(series, "operation", "rate", names)
    panels.add(
        "rate",
        panels.make_stack_scale(stacked, f"throughput, ops/s, stacked ({panels.per})"),
        stack_bars(stacked, "operation", colors),
        keys=[Key(name, color) for name, color in colors.items()],
        readout=build_readout(series, "operation", {"rate": "ops/s"}, width_s),
    )
    known = [row["p99_us"] for row in series if row["p99_us"] is not None]
    if known:
        every = "second" if width_s == 1 else words.format_duration(width_s)
        panels.add(
            "latency",
            scale.make_latency_scale(known, f"p99 latency of every {every} (log scale)"),
            draw_lines(series, by, "p99_us", colors),
            readout=build_readout(series, "operation", LATENCIES, width_s),
        )
    failed = [row for row in series if row["errors"]]
    if failed:
        stacked = clocks.stack_rows(failed, "operation", "errors", names)
        panels.add(
            "failed",
            panels.make_stack_scale(stacked, f"failed operations/s, stacked ({panels.per})"),
            stack_bars(stacked, "operation", colors),
            readout=build_readout(failed, "operation", {"errors": "failed/s"}, width_s, digits=1),
            height_px=70,
        )


# The heat map.


HEAT_MAP_HEIGHT_PX = 150


def draw_heat_map(result: RunResult, seconds: Seconds) -> Chart | None:
    """Draw the number of operations by latency over time, with a panel for each operation."""
    clock = clocks.Clock(result, seconds)
    panels = Panels(clock.length_s, clock.width_s, clocks.build_step_rows(clock, result))
    cells, classes = clocks.classify_cells(clocks.build_heat_rows(clock, seconds.operations))
    if not cells:
        return None
    colors = dict(zip(classes, theme.HEAT[-len(classes) :], strict=True))
    span = words.format_duration(clock.heat_width_s)
    present = {row["operation"] for row in cells}
    names = rows.list_timed_operations(result.capacity, cells)
    names = [name for name in names if name in present]
    for name in names:
        of = [row for row in cells if row["operation"] == name]
        edges = [row[edge] for row in of for edge in ("from_us", "to_us")]
        panels.add(
            f"heat-{name}",
            scale.make_latency_scale(edges, f"latency of {name} (log scale), operations in {span}"),
            [
                Bars(strips, color, tip=[(f"operations in {span}", one)])
                for one, color in colors.items()
                if (strips := _merge_strips(of, one))
            ],
            keys=[Key(one, color, "square") for one, color in colors.items() if name == names[0]],
            latency_rows=clocks.HEAT_ROWS_PER_OCTAVE,
            summary=f"from {words.format_latency(min(edges))} to"
            f" {words.format_latency(max(edges))}",
            height_px=HEAT_MAP_HEIGHT_PX,
        )
    return panels.make_chart("heat-map")


def _merge_strips(cells: Rows, one: str) -> list[tuple[float, float, float, float]]:
    """Merge neighboring cells of a class into strips."""
    strips: list[tuple[float, float, float, float]] = []
    for cell in sorted(
        (cell for cell in cells if cell["class"] == one),
        key=lambda cell: (cell["from_us"], cell["t"]),
    ):
        t, t2, low, high = cell["t"], cell["t2"], cell["from_us"], cell["to_us"]
        if strips and strips[-1][2] == low and abs(strips[-1][1] - t) < 1e-6:
            strips[-1] = (strips[-1][0], t2, low, high)
        else:
            strips.append((t, t2, low, high))
    return strips
