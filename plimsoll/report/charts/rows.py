"""The data of charts by load, as rows from judged steps. What was not measured has no row."""

from statistics import median
from typing import Any, Literal

from plimsoll import words
from plimsoll.model.judging.capacity import Capacity, JudgedStep
from plimsoll.model.judging.steps import Statistic, Step
from plimsoll.report.charts import scale

Row = dict[str, Any]
Outcome = Literal["passed", "failed", "disputed", "client-bound"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "client-bound", "disputed")
SHOWN: tuple[Statistic, ...] = ("p50", "p99", "p999")

AXIS_TITLES = {
    "clients": "clients",
    "connections": "connections, all clients together",
    "rate_ops_per_second": "offered rate, ops/s",
}


def find_capacity_load(capacity: Capacity) -> JudgedStep | None:
    """Return the load of the capacity's figure; None if there is none."""
    return None if capacity.at is None else by_load(capacity).get(capacity.at)


def by_load(capacity: Capacity) -> dict[float, JudgedStep]:
    """Return each load's judgement; what it sustains, rather than what burst credits paid for."""
    return {judged.load: judged for judged in reversed(capacity.steps)}


def shown_statistics(capacity: Capacity | None) -> tuple[Statistic, ...]:
    """List the statistics to show; the judged one is always among them."""
    if capacity is None or capacity.statistic in SHOWN:
        return SHOWN
    return (capacity.statistic, *SHOWN)


def load_outcome(judged: JudgedStep) -> Outcome:
    """Return a load's outcome; a dispute comes first, since a disputed load decides nothing."""
    if not judged.consistent:
        return "disputed"
    if judged.client_bound:
        return "client-bound"
    return "passed" if judged.passed else "failed"


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


def curve_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each load and operation: medians of its repetitions, as they were judged."""
    bracket = capacity.bracket or (None, None)
    loads = [judged.load for judged in capacity.steps]
    shown = scale.choose_labels(
        len(loads), [loads.index(load) for load in bracket if load in loads]
    )
    return [
        {
            **_load_row(judged),
            "operation": operation,
            "latency_us": latency_us,
            "limit_us": judged.limit_us.get(operation),
            "in_bracket": judged.load in bracket,
            "label": words.number(judged.load)
            if place in shown and latency_us == max(judged.latency_us.values())
            else None,
        }
        for place, judged in enumerate(capacity.steps)
        for operation, latency_us in judged.latency_us.items()
    ]


def repetition_rows(capacity: Capacity) -> list[Row]:
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


def throughput_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each load."""
    return [_load_row(judged) | {"unit": "ops/s"} for judged in capacity.steps]


def latency_rows(capacity: Capacity) -> list[Row]:
    """Build a row for each load, operation and statistic: medians of its repetitions."""
    shown = shown_statistics(capacity)
    rows = []
    for judged in capacity.steps:
        for operation in judged.latency_us:
            for statistic in shown:
                if (value := _median(judged.steps, operation, statistic)) is not None:
                    row = {"operation": operation, "statistic": statistic, "latency_us": value}
                    rows.append(_load_row(judged) | row)
    return rows


def limit_rows(capacity: Capacity, operation: str | None = None) -> list[Row]:
    """Build a row for the limit of each measured operation, or of one of them."""
    limits = {name: us for judged in capacity.steps for name, us in judged.limit_us.items()}
    return [
        {"operation": name, "limit_us": limits[name]}
        for name in limits
        if name in list_operations(capacity) and operation in {name, None}
    ]


def usl_rows(capacity: Capacity, points: int = 60) -> list[Row]:
    """Build rows of the fitted Universal Scalability Law over the measured loads, if it fits."""
    usl = capacity.usl
    if usl is None or not usl.converged or len(capacity.steps) < 3:
        return []
    if usl.ideal_ops_per_second is None or usl.contention is None or usl.coherency is None:
        return []
    first, last = capacity.steps[0].load, capacity.steps[-1].load
    rows = []
    for i in range(points + 1):
        n = first + (last - first) * i / points
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
        "outcome": load_outcome(judged),
        "why": "; ".join(judged.explanations) or "within every limit",
    }


def _median(steps: tuple[Step, ...], operation: str, statistic: Statistic) -> float | None:
    known = [
        step.latency_us[operation][statistic]
        for step in steps
        if statistic in step.latency_us.get(operation, {})
    ]
    return median(known) if known else None
