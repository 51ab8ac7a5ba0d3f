"""The target's own figures over time: volume, queue, credits, CPU."""

from collections.abc import Mapping
from typing import Any

from plimsoll import words
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.run.results import RunResult
from plimsoll.report.charts import clock as clocks
from plimsoll.report.charts import scale, theme
from plimsoll.report.charts.chart import Key, Label, Mark, Rows, Rule
from plimsoll.report.charts.panels import Panels, draw_lines, readout, stack_bars

IOPS = {"read_iops": "reads", "write_iops": "writes"}
MIB_S = {"read_mib_s": "reads", "write_mib_s": "writes"}
BALANCES = {
    "burst_balance_percent": "volume's burst balance",
    "ebs_io_balance_percent": "instance's I/O balance",
    "ebs_byte_balance_percent": "instance's byte balance",
}


def add_target_panels(panels: Panels) -> None:
    """Add a panel for each kind of figure that the target reported.

    For a cluster, figures and limits are the sums over its volumes.
    """
    promised, count = panels.result.volume_limits, _count_volumes(panels.result)
    name = "volume" if count == 1 else f"{count} volumes"
    iops = _iops_limits(promised, count)
    _add_panel(panels, "iops", f"{name}, I/O per second", IOPS, limits=iops)
    mib_s = promised.throughput_mib_s if promised else None
    limits = [] if mib_s is None else [_limit("limit", count * mib_s, "MiB/s")]
    _add_panel(panels, "mib", f"{name}, MiB/s", MIB_S, limits=limits)
    _add_panel(panels, "queue", f"{name}, queue: I/Os in progress", {"queue": "queue"})
    _add_panel(panels, "balance", "credits left, %", BALANCES, percent=True)
    _add_panel(panels, "cpu", "server, CPU, %", {"cpu_percent": "CPU"}, percent=True)


def _count_volumes(result: RunResult) -> int:
    target = result.request.target
    return target.nodes if isinstance(target, CassandraTarget) else 1


def _iops_limits(promised: VolumeLimits | None, count: int) -> Rows:
    if promised is None or promised.baseline_iops is None:
        return []
    baseline, burst = promised.baseline_iops, promised.burst_iops
    if burst is None or burst == baseline:
        return [_limit("limit", count * baseline, "IOPS")]
    rates = {"baseline": baseline, "burst": burst}
    return [_limit(name, count * rate, "IOPS") for name, rate in rates.items()]


def _limit(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "label": f"{name} {words.number(value)} {unit}"}


def _add_panel(
    panels: Panels,
    name: str,
    title: str,
    fields: Mapping[str, str],
    *,
    percent: bool = False,
    limits: Rows | None = None,  # documented limits of the volume; if given, the series are stacked
) -> None:
    samples = panels.seconds.target
    series = clocks.build_target_rows(panels.clock, samples, fields)
    if not series:
        return
    gap_s = clocks.sample_gap_s(samples, panels.clock.width_s)
    span_s = gap_s / 1.5
    series = clocks.number_segments(series, ("series",), gap_s)
    series = [row | {"middle": row["t"] + span_s / 2, "t2": row["t"] + span_s} for row in series]
    names = list(dict.fromkeys(fields.values()))
    present = [title for title in names if any(row["series"] == title for row in series)]
    colors = dict(zip(present, theme.TARGET, strict=False))
    near = _select_near_limits(limits or [], series)
    marks: list[Mark]
    if limits is None:
        y = (
            scale.percent_scale(title)
            if percent
            else scale.linear_scale(_list_values(series), title, count=4)
        )
        marks = [*draw_lines(series, ("series",), "value", colors)]
    else:
        stacked = clocks.stack_rows(series, "series", "value", names)
        far = [row["label"] for row in limits if row not in near]
        top = max((row["value"] * 1.12 for row in near), default=0)
        y = panels.height(stacked, ", ".join([title, "stacked", *far]), top=top)
        marks = [*stack_bars(stacked, "series", colors)]
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


def _list_values(series: Rows) -> list[float]:
    return [row["value"] for row in series]


def _select_near_limits(limits: Rows, series: Rows) -> Rows:
    """Return the limits that can be drawn without flattening the measured series."""
    sums: dict[float, float] = {}
    for row in series:
        sums[row["t"]] = sums.get(row["t"], 0.0) + row["value"]
    most = max(sums.values(), default=0.0)
    return [row for row in limits if row["value"] <= 4 * most]
