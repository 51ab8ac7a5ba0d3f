"""Panels stacked on one time axis, the steps' windows shaded behind each."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from plimsoll import words
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import clock as clocks
from plimsoll.report import phases, theme, ticks
from plimsoll.report.chart import Rows

WIDTH_PX = 900  # of a picture; a page sets its own
PANEL_HEIGHT_PX = 110
TWO_DIGITS = "(floor({0}) < 10 ? '0' : '') + floor({0})"
MINUTES = "floor(datum.value / 60) + ':' + " + TWO_DIGITS.format("(datum.value % 60)")
HOURS = "floor(datum.value / 3600) + ':' + " + TWO_DIGITS.format("(datum.value % 3600 / 60)")


class Panels:
    """Collects panels and their rows."""

    def __init__(self, result: RunResult, seconds: Seconds) -> None:
        self.clock = clocks.Clock(result, seconds)
        self.result = result
        self.seconds = seconds
        self.panels: list[alt.LayerChart] = []
        self.data: dict[str, Rows] = {
            "steps": phases.step_rows(self.clock, result),
            "phases": phases.phase_rows(self.clock, result),
        }
        width_s = self.clock.width_s
        self.clock_unit = "h:min:s" if ticks.in_hours(self.clock.length_s) else "min:s"
        self.per = "per second" if width_s == 1 else f"mean of {words.duration(width_s)}"

    def x(self, field: str = "t:Q") -> alt.X:
        """The time axis, the same for every panel."""
        return alt.X(
            field,
            title=None,
            scale=alt.Scale(domain=[0, self.clock.length_s], nice=False),
            axis=alt.Axis(labels=False, ticks=False, values=ticks.time_ticks(self.clock.length_s)),
        )

    def stacked(self) -> alt.VConcatChart:
        """All panels on one time axis, which the last one labels."""
        length_s = self.clock.length_s
        hours = ticks.in_hours(length_s)
        for layer in self.panels[-1].layer:
            if layer.encoding.x.to_dict().get("axis"):
                unit = "h:min" if hours else "min:s"
                layer.encoding.x.title = f"time since the run was submitted, {unit}"
                layer.encoding.x.axis = alt.Axis(
                    labelExpr=HOURS if hours else MINUTES, values=ticks.time_ticks(length_s)
                )
        stacked: alt.VConcatChart = alt.vconcat(*self.panels, spacing=22)
        return stacked

    def add(self, layers: list[Any], *, height_px: int = PANEL_HEIGHT_PX) -> None:
        """Add a panel, with the steps' windows shaded behind it."""
        windows = (
            alt.Chart(alt.NamedData("steps"))
            .mark_rect(color=theme.BAND)
            .encode(x=self.x("window:Q"), x2=alt.X2("t2:Q"))
        )
        panel = alt.layer(windows, *layers).properties(width=WIDTH_PX, height=height_px)
        self.panels.append(panel.resolve_scale(color="independent", strokeDash="independent"))

    def lines(self, base: alt.Chart, series: Rows, detail: list[alt.Detail]) -> list[alt.Chart]:
        """A line for each series, and a point for each row that has no neighbor to make a line."""
        line = base.mark_line(strokeWidth=1.5).encode(detail=detail)
        if not any(row["alone"] for row in series):
            return [line]
        alone = base.transform_filter("datum.alone")
        return [line, alone.mark_point(filled=True, size=14, opacity=1)]

    def piled(self, name: str, color: alt.Color, y_title: str, top: float | None = None) -> Any:
        """Series on top of one another: a block for each moment, which shows even a short one."""
        scale = alt.Scale(zero=True, domainMax=alt.Undefined if top is None else top)
        return (
            alt.Chart(alt.NamedData(name))
            .mark_rect(opacity=0.8)
            .encode(
                x=self.x(),
                x2=alt.X2("t2:Q"),
                y=alt.Y("from:Q", title=y_title, scale=scale),
                y2=alt.Y2("to:Q"),
                color=color,
            )
        )

    def crosshair(self, name: str, series: Mapping[str, str], fmt: str) -> alt.Chart:
        """The tooltip with every series of a panel; `series`: {column: title}."""
        hover = alt.selection_point(
            name=f"hover_{name.replace('-', '_')}",
            on="pointerover",
            clear="pointerout",
            encodings=["x"],
            empty=False,
        )
        moments: alt.Chart = (
            alt.Chart(alt.NamedData(f"{name}-wide"))
            .mark_rect(color=theme.RULE)
            .encode(
                x=self.x(),
                x2=alt.X2("t2:Q"),
                opacity=alt.condition(hover, alt.value(0.5), alt.value(0)),
                tooltip=[
                    alt.Tooltip("clock:N", title=f"at, {self.clock_unit}"),
                    alt.Tooltip("step:N", title="step"),
                    *(
                        alt.Tooltip(f"{key}:Q", title=title, format=fmt)
                        for key, title in series.items()
                    ),
                ],
            )
            .add_params(hover)
        )
        return moments

    def wide(
        self, name: str, series: Rows, key: str, columns: Mapping[str, str], span_s: float
    ) -> dict[str, str]:
        """Make one row for each moment out of one row for each moment and series.

        Args:
            name: The panel's; the rows become its data `{name}-wide`.
            series: The rows.
            key: The field that names a row's series.
            columns: {field: its title}.
            span_s: The length of a moment in seconds.

        Returns:
            {column: title}, for `crosshair`.
        """
        moments: dict[float, dict[str, Any]] = {}
        titles: dict[str, str] = {}
        names = list(dict.fromkeys(row[key] for row in series))
        for row in series:
            moment = moments.setdefault(row["t"], self._moment(row["t"], span_s))
            for column, title in columns.items():
                if row[column] is not None:
                    flat = f"{column}{names.index(row[key])}"
                    moment[flat] = round(row[column], 3)
                    titles[flat] = f"{row[key]} {title}".strip()
        self.data[f"{name}-wide"] = list(moments.values())
        return dict(sorted(titles.items()))

    def _moment(self, t: float, span_s: float) -> dict[str, Any]:
        at = ticks.clock_text(t, self.clock.length_s)
        return {"t": t, "t2": t + span_s, "clock": at, "step": self._step_at(t)}

    def _step_at(self, t: float) -> str:
        for step in self.data["steps"]:
            if step["t"] <= t < step["window"]:
                return f"{step['step']}, warm-up"
            if step["window"] <= t < step["t2"]:
                return str(step["step"])
        return words.NOTHING
