"""What ran beside the measured workload, on the run's one clock: throughput, latency beneath."""

from plimsoll.report import clock as clocks
from plimsoll.report import scale, theme
from plimsoll.report.chart import Key, Rows
from plimsoll.report.panels import LATENCIES, Panels, lines, piled, readout

HEIGHT_PX = 70


def add_background(panels: Panels) -> None:
    """Add a panel of its throughput and one of its latency; none where nothing ran beside."""
    series: Rows = []
    for name, seconds in panels.seconds.background.items():
        rows = clocks.operation_rows(panels.clock, seconds)
        series += [row | {"operation": f"{name}: {row['operation']}"} for row in rows]
    if not series:
        return
    width_s = panels.clock.width_s
    series = clocks.with_segments(series, ("operation",), 1.5 * width_s)
    names = list(dict.fromkeys(row["operation"] for row in series))
    backwards = theme.SERIES[::-1]
    colors = {name: backwards[i % len(backwards)] for i, name in enumerate(names)}
    stacked = clocks.stacked(series, "operation", "rate", names)
    panels.add(
        "background",
        panels.height(stacked, f"background, ops/s, stacked ({panels.per})"),
        piled(stacked, "operation", colors),
        keys=[Key(name, color) for name, color in colors.items()],
        readout=readout(series, "operation", {"rate": "ops/s"}, width_s, digits=1),
        height_px=HEIGHT_PX,
    )
    if known := [row["p99_us"] for row in series if row["p99_us"] is not None]:
        panels.add(
            "background-latency",
            scale.latency(known, "background, p99 (log scale)"),
            lines(series, ("operation",), "p99_us", colors),
            readout=readout(series, "operation", LATENCIES, width_s),
            height_px=HEIGHT_PX,
        )
