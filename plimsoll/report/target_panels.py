"""The target's own figures over time: volume, queue, credits, CPU."""

from collections.abc import Mapping
from typing import Any

from plimsoll import words
from plimsoll.model.results import RunResult
from plimsoll.report import clock as clocks
from plimsoll.report import scale, theme
from plimsoll.report.chart import Key, Label, Mark, Rows, Rule
from plimsoll.report.panels import Panels, lines, piled, readout

IOPS = {"read_iops": "reads", "write_iops": "writes"}
MIB_S = {"read_mib_s": "reads", "write_mib_s": "writes"}
BALANCES = {
    "burst_balance_percent": "volume's burst balance",
    "ebs_io_balance_percent": "instance's I/O balance",
    "ebs_byte_balance_percent": "instance's byte balance",
}


def add_target(panels: Panels) -> None:
    """Add a panel for each kind of figure that the target gave."""
    _add_panel(panels, "iops", "volume, I/O per second", IOPS, limits=_iops_limits(panels.result))
    promised = panels.result.volume_limits
    mib_s = promised.throughput_mib_s if promised else None
    limits = [] if mib_s is None else [_limit("limit", mib_s, "MiB/s")]
    _add_panel(panels, "mib", "volume, MiB/s", MIB_S, limits=limits)
    _add_panel(panels, "queue", "volume, queue: I/Os under way", {"queue": "queue"})
    _add_panel(panels, "balance", "credits left, %", BALANCES, percent=True)
    _add_panel(panels, "cpu", "server, CPU, %", {"cpu_percent": "CPU"}, percent=True)


def _iops_limits(result: RunResult) -> Rows:
    promised = result.volume_limits
    if promised is None or promised.baseline_iops is None:
        return []
    baseline, burst = promised.baseline_iops, promised.burst_iops
    if burst is None or burst == baseline:
        return [_limit("limit", baseline, "IOPS")]
    return [_limit("baseline", baseline, "IOPS"), _limit("burst", burst, "IOPS")]


def _limit(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "label": f"{name} {words.number(value)} {unit}"}


def _add_panel(
    panels: Panels,
    name: str,
    title: str,
    fields: Mapping[str, str],
    *,
    percent: bool = False,
    limits: Rows | None = None,  # what the volume promises; where given, the series are stacked
) -> None:
    samples = panels.seconds.target
    series = clocks.target_rows(panels.clock, samples, fields)
    if not series:
        return
    gap_s = clocks.sample_gap_s(samples, panels.clock.width_s)
    span_s = gap_s / 1.5
    series = clocks.with_segments(series, ("series",), gap_s)
    series = [row | {"middle": row["t"] + span_s / 2, "t2": row["t"] + span_s} for row in series]
    names = list(dict.fromkeys(fields.values()))
    present = [title for title in names if any(row["series"] == title for row in series)]
    colors = dict(zip(present, theme.TARGET, strict=False))
    near = _near(limits or [], series)
    marks: list[Mark]
    if limits is None:
        y = scale.percents(title) if percent else scale.linear(_values(series), title, count=4)
        marks = [*lines(series, ("series",), "value", colors)]
    else:
        stacked = clocks.stacked(series, "series", "value", names)
        far = [row["label"] for row in limits if row not in near]
        top = max((row["value"] * 1.12 for row in near), default=0)
        y = panels.height(stacked, ", ".join([title, "stacked", *far]), top=top)
        marks = [*piled(stacked, "series", colors)]
    for row in near:
        marks += [
            Rule(theme.INK, y=row["value"], width_px=1, dash="2 3"),
            Label(row["label"], y=row["value"], shift_px=(4, -3), size_px=10),
        ]
    panels.add(
        name,
        y,
        marks,
        keys=[Key(one, color) for one, color in colors.items()] if len(present) > 1 else (),
        readout=readout(series, "series", {"value": ""}, span_s, digits=1),
    )


def _values(series: Rows) -> list[float]:
    return [row["value"] for row in series]


def _near(limits: Rows, series: Rows) -> Rows:
    """The limits that can be drawn without flattening what was measured."""
    sums: dict[float, float] = {}
    for row in series:
        sums[row["t"]] = sums.get(row["t"], 0.0) + row["value"]
    most = max(sums.values(), default=0.0)
    return [row for row in limits if row["value"] <= 4 * most]
