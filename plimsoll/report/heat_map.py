"""Latency over time as a heat map: a panel for each operation."""

from plimsoll import words
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import clock as clocks
from plimsoll.report import rows, scale, theme
from plimsoll.report.chart import Bars, Chart, Key, Rows
from plimsoll.report.panels import Panels

HEIGHT_PX = 150


def heat_map(result: RunResult, seconds: Seconds) -> Chart | None:
    """How many operations took how long, over time: one panel for each operation."""
    panels = Panels(result, seconds)
    cells, classes = clocks.with_classes(clocks.heat_rows(panels.clock, seconds.operations))
    if not cells:
        return None
    colors = dict(zip(classes, theme.HEAT[-len(classes) :], strict=True))
    span = words.duration(panels.clock.heat_width_s)
    present = {row["operation"] for row in cells}
    names = rows.operations_over_time(result.capacity, cells)
    names = [name for name in names if name in present]
    for name in names:
        of = [row for row in cells if row["operation"] == name]
        edges = [row[edge] for row in of for edge in ("from_us", "to_us")]
        panels.add(
            f"heat-{name}",
            scale.latency(edges, f"latency of {name} (log scale), operations in {span}"),
            [
                Bars(strips, color, tip=[(f"operations in {span}", one)])
                for one, color in colors.items()
                if (strips := _strips(of, one))
            ],
            keys=[Key(one, color, "square") for one, color in colors.items() if name == names[0]],
            latency_rows=clocks.HEAT_ROWS_PER_OCTAVE,
            summary=f"from {words.latency(min(edges))} to {words.latency(max(edges))}",
            height_px=HEIGHT_PX,
        )
    return panels.chart("heat-map")


def _strips(cells: Rows, one: str) -> list[tuple[float, float, float, float]]:
    """The cells of a class; those side by side are one strip."""
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
