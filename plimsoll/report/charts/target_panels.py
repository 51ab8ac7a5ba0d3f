"""The target's own figures over time: volume, queue, credits, CPU."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll import words
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.service.live import VolumeCaps
from plimsoll.report.charts import clock as clocks
from plimsoll.report.charts import scale, theme
from plimsoll.report.charts.chart import Key, Label, Mark, Rows, Rule
from plimsoll.report.charts.panels import Panels, build_readout, draw_lines, stack_bars

IOPS = {"read_iops": "reads", "write_iops": "writes"}
MIB_S = {"read_mib_s": "reads", "write_mib_s": "writes"}
LATENCIES = {"read_latency_us": "reads", "write_latency_us": "writes"}
BALANCES = {
    "burst_balance_percent": "volume's burst balance",
    "ebs_io_balance_percent": "instance's I/O balance",
    "ebs_byte_balance_percent": "instance's byte balance",
}
RowsOf = Callable[[Mapping[str, str]], Rows]


def add_target_panels(
    panels: Panels,
    rows_of: RowsOf,
    gap_s: float,
    promised: VolumeLimits | VolumeCaps | None,
    *,
    volumes: int = 1,
) -> None:
    """Add a panel for each kind of figure that the target reported.

    Args:
        panels: The panels so far.
        rows_of: Returns a row for each bin and series, given {field of a sample: its series}; see
            `clock.build_target_rows`.
        gap_s: The distance of two rows across which no line is drawn.
        promised: The limits of each volume; None if unknown.
        volumes: The number of the target's volumes, whose figures and limits are added up.
    """
    name = "volume" if volumes == 1 else f"{volumes} volumes"
    iops = _iops_limits(promised, volumes)
    mib_s = promised.throughput_mib_s if promised else None
    limits = [] if mib_s is None else [_limit("limit", volumes * mib_s, "MiB/s")]

    def add(id_: str, title: str, fields: Mapping[str, str], **given: Any) -> None:
        series = rows_of(fields)
        _add_panel(panels, id_, title, list(fields.values()), series, gap_s=gap_s, **given)

    add("iops", f"{name}, I/O per second", IOPS, limits=iops)
    add("mib", f"{name}, MiB/s", MIB_S, limits=limits)
    add("io-latency", f"{name}, mean latency of an I/O (log scale)", LATENCIES, log=True)
    add("queue", f"{name}, queue: I/Os in progress", {"queue": "queue"})
    add("balance", "credits left, %", BALANCES, percent=True)
    add("cpu-credits", "CPU credits left", {"cpu_credits": "credits"})
    add("cpu", "server, CPU, %", {"cpu_percent": "CPU"}, percent=True)


def _iops_limits(promised: VolumeLimits | VolumeCaps | None, count: int) -> Rows:
    if promised is None or promised.baseline_iops is None:
        return []
    baseline, burst = promised.baseline_iops, promised.burst_iops
    if burst is None or burst == baseline:
        return [_limit("limit", count * baseline, "IOPS")]
    rates = {"baseline": baseline, "burst": burst}
    return [_limit(name, count * rate, "IOPS") for name, rate in rates.items()]


def _limit(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "label": f"{name} {words.format_number(value)} {unit}"}


def _add_panel(
    panels: Panels,
    name: str,
    title: str,
    names: Sequence[str],
    series: Rows,
    *,
    gap_s: float,
    percent: bool = False,
    log: bool = False,
    limits: Rows | None = None,  # documented limits of the volume; if given, the series are stacked
) -> None:
    if log:
        series = [row for row in series if row["value"]]  # no I/O in that time, no latency
    if not series:
        return
    span_s = gap_s / 1.5
    series = clocks.number_segments(series, ("series",), gap_s)
    series = [row | {"middle": row["t"] + span_s / 2, "t2": row["t"] + span_s} for row in series]
    present = [title for title in names if any(row["series"] == title for row in series)]
    colors = dict(zip(present, theme.TARGET, strict=False))
    near = _select_near_limits(limits or [], series)
    marks: list[Mark]
    if limits is None:
        values = [row["value"] for row in series]
        if percent:
            y = scale.make_percent_scale(title)
        elif log:
            y = scale.make_latency_scale(values, title)
        else:
            y = scale.make_linear_scale(values, title, count=4)
        marks = [*draw_lines(series, ("series",), "value", colors)]
    else:
        stacked = clocks.stack_rows(series, "series", "value", names)
        far = [row["label"] for row in limits if row not in near]
        top = max((row["value"] * 1.12 for row in near), default=0)
        y = panels.make_stack_scale(stacked, ", ".join([title, "stacked", *far]), top=top)
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
        readout=build_readout(series, "series", {"value": ""}, span_s, digits=1),
    )


def _select_near_limits(limits: Rows, series: Rows) -> Rows:
    """Return the limits that can be drawn without flattening the measured series."""
    sums: dict[float, float] = {}
    for row in series:
        sums[row["t"]] = sums.get(row["t"], 0.0) + row["value"]
    most = max(sums.values(), default=0.0)
    return [row for row in limits if row["value"] <= 4 * most]
