"""latte: the JSON report of `latte run`; an operation is a function of the workload.

Format: latte 0.11 to 0.29, `src/report/mod.rs`, `src/stats/` (until 0.27 `cycle_time_ms` for
`cycle_latency`). Latencies are milliseconds.
"""

from collections.abc import Mapping

from plimsoll.capacity.readers.reading import (
    MS,
    PERCENTILES,
    SENT,
    Reading,
    convert_latencies_us,
    find_number,
    find_positive_number,
    find_value,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

_WHOLE = 0.95  # lowest share of its planned time that a whole run took


def is_latte(value: object) -> bool:
    """Return whether a value is a latte report."""
    if not isinstance(value, dict) or not isinstance(value.get("result"), dict):
        return False
    return "conf" in value and "cycle_throughput" in value["result"]


def read_latte(value: object, name: str) -> Reading:
    """Read a report. Its connections are the concurrent cycles: threads x concurrency.

    With `--rate`, latte skips cycles that it could not send in time; latencies count from the send.

    Raises:
        UsageError: A figure is missing or no number.
    """
    cycles = find_positive_number(value, "result.cycle_count", name)
    failed = min(cycles, find_number(value, "result.error_count", name) or 0.0)
    throughput = find_positive_number(value, "result.cycle_throughput.value", name)
    threads = find_positive_number(value, "conf.threads", name)
    by_function = find_value(value, "result.cycle_latency_by_fn", name)
    latency_us = {
        function: _read_latency(value, latency, f"{name}: {function}")
        for function, latency in (by_function if isinstance(by_function, dict) else {}).items()
    }
    if not latency_us:
        both = find_value(value, "result.cycle_latency", name) or find_value(
            value, "result.cycle_time_ms", name
        )
        latency_us = {"cycle": _read_latency(value, both, f"{name}: cycle latency")}
    rate = find_number(value, "conf.rate", name) or None
    elapsed_s = find_number(value, "result.elapsed_time_s", name) or None
    planned_s = find_number(value, "conf.run_duration.Time.secs", name)
    if elapsed_s and planned_s and elapsed_s < _WHOLE * planned_s:
        raise UsageError(
            f"{name}: not a whole run: it ended after {elapsed_s:g} of {planned_s:g} s"
        )
    step = Step(
        source=name,
        connections=round(threads * find_positive_number(value, "conf.concurrency", name)),
        rate_ops_per_second=rate,
        throughput_ops_per_second=throughput * (cycles - failed) / cycles,
        operations=round(cycles - failed),
        errors=round(failed),
        window_s=elapsed_s,
        latency_us={function: known for function, known in latency_us.items() if known},
        shares=_read_shares(value, latency_us, name),
    )
    return Reading(step, notes=(SENT,) if rate else ())


def _read_latency(report: object, latency: object, name: str) -> dict[Statistic, float]:
    """Return mean and percentiles; the report's `percentiles` names them, as 32-bit floats."""
    ranks = find_value(report, "percentiles", name)
    values = find_value(latency, "percentiles", name)
    if not isinstance(ranks, list) or not isinstance(values, list) or len(ranks) != len(values):
        raise UsageError(f"{name}: percentiles is not a list, or not as long as the report's")
    by_rank = {
        PERCENTILES[round(rank, 3)]: find_number(value, "value", name)
        for rank, value in zip(ranks, values, strict=True)
        if isinstance(rank, int | float) and round(rank, 3) in PERCENTILES
    }
    return convert_latencies_us(
        [("mean", find_number(latency, "mean.value", name)), *by_rank.items()], MS
    )


def _read_shares(report: object, operations: Mapping[str, object], name: str) -> dict[str, float]:
    """Return the functions' shares by weight, if the report has all of them."""
    functions = find_value(report, "conf.functions", name)
    weights = {
        str(function.get("name")): find_number(function, "weight", name) or 0.0
        for function in (functions if isinstance(functions, list) else [])
        if isinstance(function, dict)
    }
    total = sum(weights.get(operation, 0.0) for operation in operations)
    if not total or not all(operation in weights for operation in operations):
        return {}
    return {operation: weights[operation] / total for operation in operations}
