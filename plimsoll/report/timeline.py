"""The time line of a run: phases, throughput and latency, and the target's figures beneath."""

from plimsoll import words
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import clock as clocks
from plimsoll.report import phases, rows, scale, theme
from plimsoll.report.background_panel import add_background
from plimsoll.report.chart import Box, Chart, Key, Label, Mark, Rows
from plimsoll.report.panels import LATENCIES, Panels, lines, piled, readout
from plimsoll.report.scale import Scale
from plimsoll.report.target_panels import add_target

WIDE_SHARE = 0.2  # of the time line: enough for a phase's name, even on a telephone


def timeline(result: RunResult, seconds: Seconds) -> Chart | None:
    """The whole run: phases, throughput, latency, errors, and the target's own figures beneath."""
    if not seconds.operations and not seconds.target:
        return None
    panels = Panels(result, seconds)
    _phases(panels)
    series = clocks.operation_rows(panels.clock, seconds.operations)
    by = ("operation", "step") if panels.clock.width_s == 1 else ("operation",)
    series = clocks.with_segments(series, by, 1.5 * panels.clock.width_s)
    if series:
        _operations(panels, series, by)
    add_background(panels)
    if seconds.target:
        add_target(panels)
    return panels.chart("timeline")


def _phases(panels: Panels) -> None:
    found = phases.phase_rows(panels.clock, panels.result)
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
        tip = [("step", str(row["step"])), ("clients", words.number(row["clients"]))]
        marks.append(Box((row["t"], row["t2"]), edge=theme.RULE, tip=tip))
    for row in panels.steps:
        if row["label"] is not None:
            middle = (row["t"] + row["t2"]) / 2
            marks.append(
                Label(row["label"], middle, 0.5, shift_px=(0, 4), anchor="middle", size_px=10)
            )
    for row in found:
        upright = row["t2"] - row["t"] < WIDE_SHARE * panels.clock.length_s
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
    told = ", ".join(f"{name} for {words.duration(length_s)}" for name, length_s in spans)
    steps = words.plural(len(panels.steps), "step")
    panels.add(
        "phases", Scale(0, 1, "phases and steps"), marks, summary=f"{told}; {steps}", height_px=56
    )


def _operations(panels: Panels, series: Rows, by: tuple[str, ...]) -> None:
    names = rows.operations_over_time(panels.result.capacity, series)
    present = {row["operation"] for row in series}
    colors = dict(zip(names, theme.series(len(names)), strict=True))
    colors = {name: color for name, color in colors.items() if name in present}
    width_s = panels.clock.width_s
    stacked = clocks.stacked(series, "operation", "rate", names)
    panels.add(
        "rate",
        panels.height(stacked, f"throughput, ops/s, stacked ({panels.per})"),
        piled(stacked, "operation", colors),
        keys=[Key(name, color) for name, color in colors.items()],
        readout=readout(series, "operation", {"rate": "ops/s"}, width_s),
    )
    known = [row["p99_us"] for row in series if row["p99_us"] is not None]
    if known:
        every = "second" if width_s == 1 else words.duration(width_s)
        panels.add(
            "latency",
            scale.latency(known, f"p99 latency of every {every} (log scale)"),
            lines(series, by, "p99_us", colors),
            readout=readout(series, "operation", LATENCIES, width_s),
        )
    failed = [row for row in series if row["errors"]]
    if failed:
        stacked = clocks.stacked(failed, "operation", "errors", names)
        panels.add(
            "failed",
            panels.height(stacked, f"failed operations/s, stacked ({panels.per})"),
            piled(stacked, "operation", colors),
            readout=readout(failed, "operation", {"errors": "failed/s"}, width_s, digits=1),
            height_px=70,
        )
