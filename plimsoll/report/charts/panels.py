"""Panels stacked on one time axis, with the steps' windows shaded behind each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll import words
from plimsoll.report.charts import scale, theme
from plimsoll.report.charts.chart import Bars, Box, Chart, Key, Line, Mark, Panel, Readout, Rows
from plimsoll.report.charts.scale import Scale

PANEL_HEIGHT_PX = 110
LATENCIES = {"p50_us": "p50, µs", "p99_us": "p99, µs", "max_us": "max, µs"}  # names in a tooltip


class Panels:
    """Collects panels on one time axis."""

    def __init__(self, length_s: float, width_s: int, steps: Rows) -> None:
        """Begin with none.

        Args:
            length_s: The length of the axis.
            width_s: The width of a bin.
            steps: A row for each step; see `clock.build_step_rows`.
        """
        self.length_s = length_s
        self.width_s = width_s
        self.steps = steps
        self.panels: list[Panel] = []
        self.per = "per second" if width_s == 1 else f"mean of {words.format_duration(width_s)}"
        unit = "h:min" if scale.is_in_hours(length_s) else "min:s"
        self.x = scale.make_time_scale(length_s, f"time since the run was submitted, {unit}")
        self.windows = [Box((row["window"], row["t2"]), color=theme.BAND) for row in steps]

    def make_chart(self, id_: str) -> Chart:
        """Return the panels as one chart; only the last panel has the time axis's texts."""
        last = len(self.panels) - 1
        panels = [replace(panel, axis=place == last) for place, panel in enumerate(self.panels)]
        steps = [(row["step"], row["t"], row["window"], row["t2"]) for row in self.steps]
        return Chart(id_, panels, self.length_s, steps)

    def add(
        self,
        name: str,
        y: Scale,
        marks: Sequence[Mark],
        *,
        keys: Sequence[Key] = (),
        readout: Readout | None = None,
        latency_rows: int | None = None,
        summary: str = "",
        height_px: int = PANEL_HEIGHT_PX,
    ) -> None:
        """Add a panel, with the steps' windows shaded behind it."""
        panel = Panel(
            id=name,
            x=self.x,
            y=y,
            marks=[*self.windows, *marks],
            height_px=height_px,
            keys=keys,
            summary=summary or (readout.summary if readout else ""),
            readout=readout,
            latency_rows=latency_rows,
        )
        self.panels.append(panel)

    def make_stack_scale(self, rows: Rows, title: str, *, top: float = 0) -> Scale:
        """Return the axis of stacked series: up to `top`, or to the highest stack."""
        return scale.make_linear_scale(
            [top / scale.ROOM, *(row["to"] for row in rows)], title, count=4
        )


def stack_bars(rows: Rows, series: str, colors: Mapping[str, str]) -> list[Bars]:
    """Stack series: a block for each moment, drawn so that even a short one is visible.

    Rows that are `provisional` are drawn paler than the others.
    """
    drawn = []
    for name, color in colors.items():
        own = [row for row in rows if row[series] == name]
        for provisional, opacity in ((False, 0.8), (True, 0.4)):
            bars = [
                (row["t"], row["t2"], row["from"], row["to"])
                for row in own
                if row.get("provisional", False) is provisional
            ]
            if bars or not provisional:
                drawn.append(Bars(bars, color, opacity=opacity))
    return drawn


def draw_lines(rows: Rows, by: Sequence[str], value: str, colors: Mapping[str, str]) -> list[Line]:
    """Draw a line for each series, interrupted at its gaps; an isolated value is a dot.

    Args:
        rows: The rows with their `segment`; rows without a figure are left out.
        by: The fields that separate the rows into series; the first one decides the color.
        value: The field of the figure.
        colors: {series: color}.
    """
    stretches: dict[str, dict[tuple[object, ...], list[tuple[float, float]]]] = {}
    for row in rows:
        if row[value] is not None:
            own = stretches.setdefault(row[by[0]], {})
            key = tuple(row[field] for field in (*by, "segment"))
            own.setdefault(key, []).append((row["middle"], row[value]))
    drawn = []
    for name, own in stretches.items():
        long = [one for one in own.values() if len(one) > 1]
        alone = [one for one in own.values() if len(one) == 1]
        drawn += [Line(long, colors[name], width_px=1.5)] if long else []
        drawn += [Line(alone, colors[name], width_px=4)] if alone else []
    return drawn


def build_readout(
    rows: Rows, key: str, columns: Mapping[str, str], width_s: float, *, digits: int = 0
) -> Readout:
    """Build the tooltip values of each moment.

    Args:
        rows: One row for each moment `t` and series.
        key: The field that names a row's series.
        columns: {field: title}.
        width_s: The length of a moment in seconds.
        digits: The number of decimals shown.
    """
    moments = sorted({row["t"] for row in rows})
    at = {(row["t"], row[key]): row for row in rows}
    names = list(dict.fromkeys(row[key] for row in rows))
    series = {
        f"{name} {title}".strip(): [
            None if (row := at.get((t, name))) is None or row[column] is None
            else round(row[column], digits or None)
            for t in moments
        ]
        for column, title in columns.items()
        for name in names
    }  # fmt: skip
    told = {title: values for title, values in series.items() if any(v is not None for v in values)}
    return Readout(width_s, digits, moments, told)
