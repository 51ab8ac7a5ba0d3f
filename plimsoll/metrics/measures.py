"""The measurements of a run or a load as metrics, which are sent once, at its end.

Names and units are OpenTelemetry's (dots, UCUM units); `prometheus.py` converts them. Latencies are
histograms over all clients, so that any sum of them has percentiles.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import plimsoll_engine
from plimsoll.model.engine.answered import LatencySummary, LoadReport
from plimsoll.model.run.results import OperationTotals, RunResult, StepResult

# 10 us to 70 s: six bounds per decade, each at most 1.7 times the one before
BOUNDS_US = tuple(round(m * 10**n) for n in range(1, 8) for m in (1, 1.5, 2, 3, 5, 7))
_ALL_US = 2**62
Labels = Mapping[str, str]


@dataclass(frozen=True)
class Latencies:
    """A histogram of latencies.

    Attributes:
        at_most: The cumulative counts at or below each of `BOUNDS_US`.
        count: The total count.
        sum_us: The sum of all latencies, in microseconds.
        max_us: The longest latency, in microseconds.
    """

    at_most: tuple[int, ...]
    count: int
    sum_us: float
    max_us: float


@dataclass(frozen=True)
class Measure:
    """A figure or a histogram.

    Attributes:
        name: The name in OpenTelemetry's form.
        unit: The UCUM unit: `s`, `{operation}/s`, `By/s`, `1` for a share; `s` for a histogram.
        about: A description in one sentence.
        kind: The kind; a `total` only grows while a step goes on.
        labels: The labels that say what was measured.
        value: The value in its unit.
        since_epoch_ms: The beginning of the counting, for a total or a histogram.
        at_epoch_ms: The time of the measurement.
    """

    name: str
    unit: str
    about: str
    kind: Literal["gauge", "total", "histogram"]
    labels: Labels
    value: float | Latencies
    since_epoch_ms: int
    at_epoch_ms: int


def list_run_measures(result: RunResult) -> Iterator[Measure]:
    """Yield the metrics of a run's answer and of its steps."""
    began = round(result.moments.submitted.timestamp() * 1000)
    ended = round(result.moments.ended.timestamp() * 1000) if result.moments.ended else began
    run = {"name": result.name, "run": result.run_id}

    def answer(
        name: str, unit: str, about: str, value: float | None, **more: str
    ) -> Iterator[Measure]:
        if value is not None:
            yield Measure(name, unit, about, "gauge", {**run, **more}, value, began, ended)

    capacity, limiting = result.capacity, result.limiting
    verdict = capacity.verdict if capacity else "none"
    limit = limiting.resource if limiting and limiting.reached else "unknown"
    told = {"verdict": verdict, "limited_by": limit, "state": result.state.value}
    yield from answer("plimsoll.run", "", "How a run ended: always 1.", 1.0, **told)
    ended_about = "Time at which a run ended, since 1970."
    yield from answer("plimsoll.run.ended", "s", ended_about, ended / 1000)
    if capacity is not None:
        figure, about = capacity.max_sustainable_throughput_ops_per_second, "The load line."
        bound = capacity.bound or ""
        yield from answer("plimsoll.capacity", "{operation}/s", about, figure, bound=bound)
        if capacity.interval is not None:
            low, high = capacity.interval.low_ops_per_second, capacity.interval.high_ops_per_second
            about = "An end of the load line's 95 % interval."
            for end, value in (("low", low), ("high", high)):
                yield from answer(
                    "plimsoll.capacity.interval", "{operation}/s", about, value, end=end
                )
    for step in result.steps:
        yield from _list_step_measures(step, run)


def _list_step_measures(step: StepResult, run: Labels) -> Iterator[Measure]:
    began = step.window_start_epoch_ms or step.plan.window_start_epoch_ms
    ended = step.window_end_epoch_ms or step.plan.window_end_epoch_ms
    labels = {**run, "step": str(step.plan.index)}
    figures = (
        ("throughput", "{operation}/s", "Operations that succeeded in a step's window.",
         step.step.throughput_ops_per_second),
        ("rate", "{operation}/s", "Operations that fell due (open loop).",
         step.plan.rate_ops_per_second),
        ("connections", "{connection}", "Connections of all clients.", step.plan.connections),
    )  # fmt: skip
    for name, unit, about, value in figures:
        if value is not None:
            yield Measure(
                f"plimsoll.step.{name}", unit, about, "gauge", labels, float(value), began, ended
            )
    yield from _list_target_measures(step, labels, began, ended)
    for operation, totals in step.operations.items():
        yield from _list_operation_measures(
            totals, {**labels, "operation": operation}, began, ended
        )


def _list_target_measures(
    step: StepResult, labels: Labels, began: int, ended: int
) -> Iterator[Measure]:
    """Yield the figures of the target's volume and CPU in a step: means, and the lowest balance."""
    target = step.target
    if target is None:
        return
    io, moved = "Reads or writes of the target's volume.", "Bytes read from it or written to it."
    share = "Credit balance, as a share of a full one."
    figures: tuple[tuple[str, str, str, float | None, Labels], ...] = (
        ("volume.io", "{operation}/s", io, target.read_iops, {"direction": "read"}),
        ("volume.io", "{operation}/s", io, target.write_iops, {"direction": "write"}),
        ("volume.throughput", "By/s", moved, _to_bytes(target.read_mib_s), {"direction": "read"}),
        ("volume.throughput", "By/s", moved, _to_bytes(target.write_mib_s), {"direction": "write"}),
        ("volume.queue", "{operation}", "I/Os in progress at the volume.", target.queue, {}),
        ("cpu", "1", "Share of the target's processors in use.",
         _to_share(target.cpu_percent), {}),
        ("balance", "1", share, _to_share(target.burst_balance_percent), {"of": "volume"}),
        ("balance", "1", share, _to_share(target.ebs_io_balance_percent), {"of": "instance"}),
    )  # fmt: skip
    for name, unit, about, value, more in figures:
        if value is not None:
            yield Measure(
                f"plimsoll.step.{name}",
                unit,
                about,
                "gauge",
                {**labels, **more},
                value,
                began,
                ended,
            )


def _to_share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _to_bytes(mib: float | None) -> float | None:
    return None if mib is None else mib * 2**20


def list_load_measures(report: LoadReport, workload: str) -> Iterator[Measure]:
    """Yield the metrics of `plimsoll load`; none if it ended during its warm-up."""
    if not report.window_s:
        return
    began, ended = report.window_start_epoch_ms, report.window_end_epoch_ms
    labels = {"workload": workload}
    done = sum(operation.succeeded for operation in report.operations.values())
    figures = (
        ("throughput", "{operation}/s", "Operations that succeeded in the window.",
         done / report.window_s),
        ("rate", "{operation}/s", "Operations that fell due (open loop).",
         report.rate_ops_per_second),
        ("connections", "{connection}", "Connections.", report.connections),
    )  # fmt: skip
    for name, unit, about, value in figures:
        if value is not None:
            yield Measure(
                f"plimsoll.load.{name}", unit, about, "gauge", labels, float(value), began, ended
            )
    for operation, totals in report.operations.items():
        of_one = OperationTotals.model_validate(
            totals.model_dump(include=set(OperationTotals.model_fields))
        )
        yield from _list_operation_measures(
            of_one, {**labels, "operation": operation}, began, ended
        )


def _list_operation_measures(
    totals: OperationTotals, labels: Labels, began: int, ended: int
) -> Iterator[Measure]:
    about = "Operations that succeeded."
    yield Measure(
        "plimsoll.operations", "{operation}", about, "total", labels, totals.succeeded, began, ended
    )
    for code, count in totals.errors.items():
        of_code, about = {**labels, "code": code}, "Operations that failed, by the error's code."
        yield Measure(
            "plimsoll.operation.errors", "{operation}", about, "total", of_code, count, began, ended
        )
    latencies = _make_latencies(totals.histogram, totals.latency_us)
    if latencies is not None:
        about = "Latencies, of successes and of time-outs at their full length."
        yield Measure(
            "plimsoll.operation.duration", "s", about, "histogram", labels, latencies, began, ended
        )


def _make_latencies(histogram: str, summary: LatencySummary) -> Latencies | None:
    if not histogram or summary.mean is None or summary.max is None:
        return None
    *at_most, count = plimsoll_engine.histogram_counts(histogram, [*BOUNDS_US, _ALL_US])
    return Latencies(tuple(at_most), count, summary.mean * count, summary.max)
