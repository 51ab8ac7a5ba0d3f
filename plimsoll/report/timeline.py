"""The charts over time: panels stacked on one time axis, each only where something was measured."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from plimsoll.model.results import RunResult, Seconds
from plimsoll.report import clock as clocks
from plimsoll.report import rows, text, theme
from plimsoll.report.chart import Chart, Rows, latency_y

WIDTH_PX = 900  # of a picture; a page sets its own
PANEL_HEIGHT_PX = 110
CLOCK_LABEL = (
    "floor(datum.value / 60) + ':' + (datum.value % 60 < 10 ? '0' : '') + floor(datum.value % 60)"
)
IOPS = {"read_iops": "reads", "write_iops": "writes"}
MIB_S = {"read_mib_s": "reads", "write_mib_s": "writes"}
BALANCES = {
    "burst_balance_percent": "volume's burst balance",
    "ebs_io_balance_percent": "instance's I/O balance",
    "ebs_byte_balance_percent": "instance's byte balance",
}


class _Panels:
    """Collects panels and their rows."""

    def __init__(self, result: RunResult, seconds: Seconds) -> None:
        self.clock = clocks.Clock(result, seconds)
        self.result = result
        self.seconds = seconds
        self.panels: list[alt.LayerChart] = []
        self.data: dict[str, Rows] = {
            "steps": clocks.step_rows(self.clock, result),
            "phases": clocks.phase_rows(self.clock, result),
        }
        width_s = self.clock.width_s
        self.per = "per second" if width_s == 1 else f"mean of {width_s} s"

    def x(self, field: str = "t:Q") -> alt.X:
        """The time axis, the same for every panel."""
        return alt.X(
            field,
            title=None,
            scale=alt.Scale(domain=[0, self.clock.length_s], nice=False),
            axis=alt.Axis(labels=False, ticks=False, tickCount=8),
        )

    def stacked(self) -> alt.VConcatChart:
        """All panels on one time axis, which the last one labels."""
        for layer in self.panels[-1].layer:
            if layer.encoding.x.to_dict().get("axis"):
                layer.encoding.x.title = "time since the run was submitted, min:s"
                layer.encoding.x.axis = alt.Axis(labelExpr=CLOCK_LABEL, tickCount=8)
        stacked: alt.VConcatChart = alt.vconcat(*self.panels, spacing=22)
        return stacked

    def add(self, layers: list[Any], *, height_px: int = PANEL_HEIGHT_PX) -> None:
        """Add a panel, with the steps' windows shaded behind it."""
        windows = (
            alt.Chart(alt.NamedData("steps"))
            .mark_rect(color=theme.BAND)
            .encode(x=self.x("window:Q"), x2="t2:Q")
        )
        panel = alt.layer(windows, *layers).properties(width=WIDTH_PX, height=height_px)
        self.panels.append(panel.resolve_scale(color="independent", strokeDash="independent"))

    def crosshair(self, name: str, series: Mapping[str, str], fmt: str) -> alt.Chart:
        """What the pointer is told of every series of a panel; `series`: {column: title}."""
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
                x2="t2:Q",
                opacity=alt.condition(hover, alt.value(0.5), alt.value(0)),
                tooltip=[
                    alt.Tooltip("clock:N", title="at, min:s"),
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
        self, name: str, found: Rows, key: str, columns: Mapping[str, str], span_s: float
    ) -> dict[str, str]:
        """Turn rows of a series each into one row a moment of `span_s`; return {column: title}."""
        moments: dict[float, dict[str, Any]] = {}
        titles: dict[str, str] = {}
        names = list(dict.fromkeys(row[key] for row in found))
        for row in found:
            moment = moments.setdefault(row["t"], self._moment(row["t"], span_s))
            for column, title in columns.items():
                if row[column] is not None:
                    flat = f"{column}{names.index(row[key])}"
                    moment[flat] = round(row[column], 3)
                    titles[flat] = f"{row[key]} {title}".strip()
        self.data[f"{name}-wide"] = list(moments.values())
        return dict(sorted(titles.items()))

    def _moment(self, t: float, span_s: float) -> dict[str, Any]:
        return {"t": t, "t2": t + span_s, "clock": _min_s(t), "step": self._step_at(t)}

    def _step_at(self, t: float) -> str:
        for step in self.data["steps"]:
            if step["t"] <= t < step["window"]:
                return f"{step['label']}, warm-up"
            if step["window"] <= t < step["t2"]:
                return str(step["label"])
        return text.NOTHING


def _min_s(t: float) -> str:
    return f"{int(t // 60)}:{int(t % 60):02d}"


def timeline(result: RunResult, seconds: Seconds) -> Chart | None:
    """The whole run: phases, throughput, latency, errors, and the target's own figures beneath."""
    panels = _Panels(result, seconds)
    if not seconds.operations and not seconds.target:
        return None
    _phases(panels)
    found = clocks.operation_rows(panels.clock, seconds.operations)
    gap_s = 1.5 * panels.clock.width_s
    found = clocks.with_segments(found, ("operation", "step"), gap_s)
    if found:
        panels.data["ops"] = found
        _operations(panels, found)
    if seconds.target:
        _target(panels)
    return Chart(id="timeline", spec=panels.stacked(), data=panels.data)


def _phases(panels: _Panels) -> None:
    phases = alt.Chart(alt.NamedData("phases")).encode(x=panels.x(), x2="t2:Q", tooltip=["phase:N"])
    steps = alt.Chart(alt.NamedData("steps")).encode(
        x=panels.x(),
        x2="t2:Q",
        tooltip=[
            alt.Tooltip("step:Q", title="step"),
            alt.Tooltip("clients:Q", title="clients"),
        ],
    )
    middle = "(datum.t + datum.t2) / 2"
    panels.add(
        [
            phases.mark_rect(color=theme.GRID, stroke=theme.RULE, strokeWidth=0.5),
            steps.mark_rect(fill=None, stroke=theme.RULE, strokeWidth=0.5),
            alt.Chart(alt.NamedData("steps"))
            .transform_calculate(middle=middle)
            .mark_text(fontSize=10)
            .encode(x="middle:Q", text="label:N", color=alt.value(theme.INK)),
            alt.Chart(alt.NamedData("phases"))
            .transform_calculate(middle=middle)
            .mark_text(fontSize=9, angle=270, limit=54)
            .encode(x="middle:Q", text="phase:N", color=alt.value(theme.MUTED)),
        ],
        height_px=56,
    )


def _series_color(names: list[str], *, legend: bool = True) -> alt.Color:
    return alt.Color(
        "operation:N",
        title=None,
        scale=alt.Scale(domain=names, range=theme.series(len(names))),
        legend=alt.Legend() if legend else None,
    )


def _operations(panels: _Panels, found: Rows) -> None:
    capacity = panels.result.capacity
    names = rows.operations(capacity) if capacity else []
    names += sorted({row["operation"] for row in found} - set(names))
    color = _series_color(names)
    base = alt.Chart(alt.NamedData("ops")).encode(x=panels.x(), color=color)
    rates = panels.wide("rate", found, "operation", {"rate": "ops/s"}, panels.clock.width_s)
    panels.add(
        [
            base.mark_area(opacity=0.8, line=False).encode(
                y=alt.Y("rate:Q", title=f"throughput, ops/s, stacked ({panels.per})", stack="zero"),
                detail=["step:N", "segment:N"],
            ),
            panels.crosshair("rate", rates, ",.0f"),
        ]
    )
    _latency(panels, found, _series_color(names, legend=False))
    if any(row["errors"] for row in found):
        panels.add(
            [
                base.transform_filter("datum.errors > 0")
                .mark_bar(width=2)
                .encode(
                    y=alt.Y("errors:Q", title=f"failed operations/s ({panels.per})"),
                    tooltip=["operation:N", alt.Tooltip("errors:Q", title="failed/s")],
                )
            ],
            height_px=70,
        )


def _latency(panels: _Panels, found: Rows, color: alt.Color) -> None:
    if all(row["p99_us"] is None for row in found):
        return
    wide = panels.wide(
        "latency",
        found,
        "operation",
        {"p50_us": "p50, µs", "p99_us": "p99, µs", "max_us": "max, µs"},
        panels.clock.width_s,
    )
    title = "p99 latency of every second (log scale)"
    if panels.clock.width_s > 1:
        title = f"p99 latency of every {panels.clock.width_s} s (log scale)"
    line = (
        alt.Chart(alt.NamedData("ops"))
        .transform_filter("isValid(datum.p99_us)")
        .mark_line(strokeWidth=1.5)
        .encode(
            x=panels.x(),
            y=latency_y("p99_us:Q", title, [row["p99_us"] for row in found]),
            color=color,
            detail=["step:N", "segment:N"],
        )
    )
    panels.add([line, panels.crosshair("latency", wide, ",.0f")])


def _target(panels: _Panels) -> None:
    _samples(panels, "iops", "volume, I/O per second", IOPS, limits=_iops_limits(panels.result))
    promised = panels.result.volume_limits
    mib_s = promised.throughput_mib_s if promised else None
    limits = [] if mib_s is None else [{"value": mib_s, "label": f"limit {mib_s:,.0f} MiB/s"}]
    _samples(panels, "mib", "volume, MiB/s", MIB_S, limits=limits)
    _samples(panels, "queue", "volume, queue: I/Os under way", {"queue": "queue"})
    _samples(panels, "balance", "credits left, %", BALANCES, percent=True)
    _samples(panels, "cpu", "server, CPU, %", {"cpu_percent": "CPU"}, percent=True)


def _iops_limits(result: RunResult) -> Rows:
    promised = result.volume_limits
    if promised is None or promised.baseline_iops is None:
        return []
    baseline, burst = promised.baseline_iops, promised.burst_iops
    if burst is None or burst == baseline:
        return [{"value": baseline, "label": f"limit {baseline:,.0f} IOPS"}]
    return [
        {"value": baseline, "label": f"baseline {baseline:,.0f} IOPS"},
        {"value": burst, "label": f"burst {burst:,.0f} IOPS"},
    ]


def _samples(
    panels: _Panels,
    name: str,
    title: str,
    fields: Mapping[str, str],
    *,
    percent: bool = False,
    limits: Rows | None = None,  # what the volume promises; with them, the series are stacked
) -> None:
    samples = panels.seconds.target
    found = clocks.target_rows(panels.clock, samples, fields)
    if not found:
        return
    gap_s = clocks.sample_gap_s(samples, panels.clock.width_s)
    found = clocks.with_segments(found, ("series",), gap_s)
    panels.data[name] = found
    names = list(dict.fromkeys(fields.values()))
    present = [title for title in names if any(row["series"] == title for row in found)]
    colors = [theme.SERIES[i] for i in (2, 3, 4)][: len(present)]
    legend = alt.Legend() if len(present) > 1 else None
    color = alt.Color(
        "series:N", title=None, legend=legend, scale=alt.Scale(domain=present, range=colors)
    )
    base = alt.Chart(alt.NamedData(name)).encode(x=panels.x(), color=color, detail="segment:N")
    near = _near(limits or [], found)
    top = max([row["value"] * 1.12 for row in near], default=None)
    scale = (
        alt.Scale(domain=[0, 100])
        if percent
        else alt.Scale(zero=True, domainMax=top or alt.Undefined)
    )
    if limits is not None:
        far = [row["label"] for row in limits if row not in near]
        title = ", ".join([title, "stacked", *far])
    y = alt.Y("value:Q", title=title, scale=scale, stack=None if limits is None else "zero")
    mark = base.mark_line(strokeWidth=1.5) if limits is None else base.mark_area(opacity=0.8)
    wide = panels.wide(name, found, "series", {"value": ""}, gap_s / 1.5)
    panels.data[f"{name}-limit"] = near
    limit = alt.Chart(alt.NamedData(f"{name}-limit")).encode(y="value:Q")
    rules = [
        limit.mark_rule(strokeDash=[2, 3], color=theme.INK),
        limit.mark_text(align="left", baseline="bottom", dx=4, dy=-2, fontSize=10).encode(
            x=alt.value(0), text="label:N", color=alt.value(theme.INK)
        ),
    ]
    panels.add([mark.encode(y=y), panels.crosshair(name, wide, ",.1f"), *(rules if near else [])])


def _near(limits: Rows, found: Rows) -> Rows:
    """The limits that can be drawn without flattening what was measured."""
    sums: dict[float, float] = {}
    for row in found:
        sums[row["t"]] = sums.get(row["t"], 0.0) + row["value"]
    most = max(sums.values(), default=0.0)
    return [row for row in limits if row["value"] <= 4 * most]


def heat_map(result: RunResult, seconds: Seconds) -> Chart | None:
    """How many operations took how long, over time: one panel for each operation."""
    clock = clocks.Clock(result, seconds)
    found = clocks.heat_rows(clock, seconds.operations)
    if not found:
        return None
    panels = _Panels(result, seconds)
    capacity = result.capacity
    present = {row["operation"] for row in found}
    names = [name for name in (rows.operations(capacity) if capacity else ()) if name in present]
    names += sorted(present - set(names))
    found, classes = clocks.with_classes(found)
    scale = alt.Scale(domain=classes, range=list(theme.HEAT[-len(classes) :]))
    for name in names:
        legend = alt.Legend(
            title=f"operations in {clock.heat_width_s} s", symbolType="square", columns=4
        )
        color = alt.Color("class:O", scale=scale, legend=legend if name == names[0] else None)
        panels.data[f"heat-{name}"] = [row for row in found if row["operation"] == name]
        spans = [row[edge] for row in found for edge in ("from_us", "to_us")]
        y = latency_y("from_us:Q", f"latency of {name} (log scale)", spans)
        cells = (
            alt.Chart(alt.NamedData(f"heat-{name}"))
            .mark_rect()
            .encode(
                x=panels.x(),
                x2="t2:Q",
                y=y,
                y2="to_us:Q",
                color=color,
                tooltip=[
                    alt.Tooltip("t:Q", title="from, s", format=",.0f"),
                    alt.Tooltip("from_us:Q", title="over, µs", format=",.0f"),
                    alt.Tooltip("to_us:Q", title="up to, µs", format=",.0f"),
                    alt.Tooltip("count:Q", title="operations", format=","),
                ],
            )
        )
        panels.add([cells], height_px=150)
    return Chart(id="heat-map", spec=panels.stacked(), data=panels.data)
