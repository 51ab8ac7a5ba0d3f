"""The data of charts by load, as rows from judged steps. What was not measured has no row."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, get_args

from plimsoll import words
from plimsoll.model.judging.capacity import Axis, Bound, Capacity, JudgedStep, LoadOutcome
from plimsoll.model.judging.steps import Statistic, Step
from plimsoll.report.charts import scale

Row = dict[str, Any]
OUTCOMES: tuple[LoadOutcome, ...] = get_args(LoadOutcome)
SHOWN: tuple[Statistic, ...] = ("p50", "p99", "p999")

AXIS_TITLES = {
    "clients": "clients",
    "connections": "connections, all clients together",
    "rate_ops_per_second": "offered rate, ops/s",
}


def find_capacity_load(capacity: Capacity) -> JudgedStep | None:
    """Return the load of the capacity's figure; None if there is none."""
    return None if capacity.at is None else index_by_load(capacity).get(capacity.at)


def index_by_load(capacity: Capacity) -> dict[float, JudgedStep]:
    """Return each load's judgement; what it sustains, rather than what burst credits paid for."""
    return {judged.load: judged for judged in reversed(capacity.steps)}


def list_shown_statistics(capacity: Capacity | None) -> tuple[Statistic, ...]:
    """List the statistics to show; the judged one is always among them."""
    if capacity is None or capacity.statistic in SHOWN:
        return SHOWN
    return (capacity.statistic, *SHOWN)


def list_operations(capacity: Capacity | None) -> list[str]:
    """List the measured operations in the order of their names.

    Their colors follow this order. In the order of frequency, reads and updates of an even mix
    would swap colors between runs.
    """
    steps = [step for judged in capacity.steps for step in judged.steps] if capacity else []
    return sorted({name for step in steps for name in step.latency_us})


def list_timed_operations(capacity: Capacity | None, series: list[Row]) -> list[str]:
    """List the steps' operations, then those only in `series`, so that charts agree in colors."""
    known = list_operations(capacity)
    return known + sorted({row["operation"] for row in series} - set(known))


@dataclass(frozen=True)
class AnswerLine:
    """A run's figure, with its bound and the ends of its interval."""

    ops_per_second: float
    bound: Bound | None
    interval: tuple[float, float] | None

    @property
    def is_lower_end(self) -> bool:
        """Return whether the figure is the lower end of its interval."""
        return self.interval is not None and math.isclose(
            self.ops_per_second, self.interval[0], rel_tol=1e-6
        )


@dataclass(frozen=True)
class Load:
    """A judged load as the curve shows it.

    Attributes:
        row: What its points' tooltips say.
        latency_us: The judged statistic of each operation.
        limit_us: The limit of each operation that has one.
    """

    row: Row
    latency_us: Mapping[str, float]
    limit_us: Mapping[str, float]


@dataclass(frozen=True)
class Curve:
    """One run's latency over throughput.

    Attributes:
        statistic: The judged statistic of latency.
        axis: What a load counts.
        points: A row for each load and operation.
        repetitions: A row for each step and operation of loads that were repeated.
        limits: A row for the limit of each operation.
        answer: The run's figure; None if there is none yet.
    """

    statistic: Statistic
    axis: Axis
    points: Sequence[Row]
    repetitions: Sequence[Row]
    limits: Sequence[Row]
    answer: AnswerLine | None

    @property
    def operations(self) -> list[str]:
        """The operations in the order of their names, which their colors follow."""
        return sorted({row["operation"] for row in self.points})


def collect_curve(capacity: Capacity) -> Curve:
    """Collect what the curve of a verdict shows."""
    figure, interval = capacity.max_sustainable_throughput_ops_per_second, capacity.interval
    ends = None
    if interval is not None:
        ends = interval.low_ops_per_second, interval.high_ops_per_second
    return Curve(
        statistic=capacity.statistic,
        axis=capacity.axis,
        points=list_curve_rows(capacity),
        repetitions=list_repetition_rows(capacity),
        limits=make_limit_rows(capacity),
        answer=None if figure is None else AnswerLine(figure, capacity.bound, ends),
    )


def list_curve_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each load and operation: medians of its repetitions, as they were judged."""
    loads = [
        Load(_load_row(judged), judged.latency_us, judged.limit_us) for judged in capacity.steps
    ]
    return build_curve_rows(loads, capacity.bracket)


def build_curve_rows(
    loads: Sequence[Load], bracket: tuple[float | None, float | None] | None
) -> list[Row]:
    """Build a row for each load and operation.

    Args:
        loads: The loads, from the lightest.
        bracket: The heaviest load that passes and the lightest that fails, which are always
            labeled.
    """
    ends = bracket or (None, None)
    order = [load.row["load"] for load in loads]
    shown = scale.choose_labels(len(order), [order.index(end) for end in ends if end in order])
    return [
        {
            **load.row,
            "operation": operation,
            "latency_us": latency_us,
            "limit_us": load.limit_us.get(operation),
            "in_bracket": load.row["load"] in ends,
            "label": words.format_number(load.row["load"])
            if place in shown and latency_us == max(load.latency_us.values())
            else None,
        }
        for place, load in enumerate(loads)
        for operation, latency_us in load.latency_us.items()
    ]


def list_repetition_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each step and operation of loads that were repeated."""
    return [
        {
            "load": judged.load,
            "throughput": step.throughput_ops_per_second,
            "operation": operation,
            "latency_us": latency_us[capacity.statistic],
            "step": step.index,
        }
        for judged in capacity.steps
        if judged.repetitions > 1
        for step in judged.steps
        if step.throughput_ops_per_second is not None
        for operation, latency_us in step.latency_us.items()
        if capacity.statistic in latency_us
    ]


def list_throughput_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each load."""
    return [_load_row(judged) | {"unit": "ops/s"} for judged in capacity.steps]


def list_latency_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each load, operation and statistic: medians of its repetitions."""
    shown = list_shown_statistics(capacity)
    rows = []
    for judged in capacity.steps:
        for operation in judged.latency_us:
            for statistic in shown:
                if (value := _compute_median(judged.steps, operation, statistic)) is not None:
                    row = {"operation": operation, "statistic": statistic, "latency_us": value}
                    rows.append(_load_row(judged) | row)
    return rows


def make_limit_rows(capacity: Capacity, operation: str | None = None) -> list[Row]:
    """Build a row for the limit of each measured operation, or of one of them."""
    limits = {name: us for judged in capacity.steps for name, us in judged.limit_us.items()}
    return [
        {"operation": name, "limit_us": limits[name]}
        for name in limits
        if name in list_operations(capacity) and operation in {name, None}
    ]


USL_POINTS = 60  # parts of the curve


def list_usl_rows(capacity: Capacity) -> list[Row]:
    """Build rows of the fitted Universal Scalability Law over the measured loads, if it fits."""
    usl = capacity.usl
    if usl is None or not usl.converged or len(capacity.steps) < 3:
        return []
    if usl.ideal_ops_per_second is None or usl.contention is None or usl.coherency is None:
        return []
    first, last = capacity.steps[0].load, capacity.steps[-1].load
    rows = []
    for i in range(USL_POINTS + 1):
        n = first + (last - first) * i / USL_POINTS
        slowed = 1 + usl.contention * (n - 1) + usl.coherency * n * (n - 1)
        rows.append({"load": n, "throughput": usl.ideal_ops_per_second * n / slowed})
    return rows


def _load_row(judged: JudgedStep) -> Row:
    first = judged.steps[0]
    return {
        "load": judged.load,
        "clients": first.clients,
        "connections": first.connections,
        "throughput": judged.throughput_ops_per_second,
        "repetitions": judged.repetitions,
        "outcome": judged.outcome,
        "why": "; ".join(judged.explanations) or "within every limit",
    }


def _compute_median(steps: tuple[Step, ...], operation: str, statistic: Statistic) -> float | None:
    known = [
        step.latency_us[operation][statistic]
        for step in steps
        if statistic in step.latency_us.get(operation, {})
    ]
    return median(known) if known else None
