"""k6: its JSON summary in each of its three forms; the operation is the HTTP request.

Forms, as k6 0.47 to 2.x write them (`internal/js/summary.go`, `internal/lib/summary/`):
`--summary-export` (figures beside a metric's name), `JSON.stringify(data)` in `handleSummary`
(figures under `values`, with the run's length), and `--new-machine-readable-summary` (a list under
`results`). Latencies are milliseconds in all of them.
"""

from collections.abc import Mapping

from plimsoll.capacity.readers.reading import (
    MS,
    SENT,
    Reading,
    convert_latencies_us,
    find_number,
    find_positive_number,
    find_value,
    to_number,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

_COLUMNS: Mapping[str, Statistic] = {
    "avg": "mean",
    "med": "p50",
    "p(50)": "p50",
    "p95": "p95",
    "p(95)": "p95",
    "p(99)": "p99",
    "p(99.9)": "p999",
    "max": "max",
}
# Lowest ratio of used VUs to all: below it, the number or the behavior of VUs varied
_BUSY_SHARE = 0.8
Metrics = Mapping[str, object]


def is_k6(value: object) -> bool:
    """Return whether a value is a k6 summary."""
    if not isinstance(value, dict):
        return False
    metrics = value.get("metrics")
    listed = isinstance(value.get("metadata"), dict) and "k6_version" in value["metadata"]
    return listed or (isinstance(metrics, dict) and "iterations" in metrics)


def read_k6(value: object, name: str) -> Reading:
    """Read a summary: HTTP requests, or iterations if there were none.

    Raises:
        UsageError: A figure is missing or no number.
    """
    metrics = _read_metrics(value, name)
    kind = "http_req" if "http_reqs" in metrics else "iteration"
    counter, trend = f"{kind}s", f"{kind}_duration"
    count = find_positive_number(metrics, f"{counter}.count", name)
    window_s = _read_window_s(value, metrics, counter, name)
    failed = _count_failed(metrics, name) if kind == "http_req" else None
    succeeded = max(0.0, count - (failed or 0.0))
    figures = find_value(metrics, trend, name)
    known = figures if isinstance(figures, dict) else {}
    latency = convert_latencies_us(
        ((s, to_number(known.get(c), f"{name}: {trend}.{c}")) for c, s in _COLUMNS.items()), MS
    )
    vus = find_number(metrics, "vus.max", name) or find_number(metrics, "vus_max.max", name)
    step = Step(
        source=name,
        connections=round(vus) if vus else None,
        throughput_ops_per_second=succeeded / window_s,
        operations=round(succeeded),
        errors=None if failed is None else round(failed),
        window_s=window_s,
        latency_us={kind: latency} if latency else {},
    )
    dropped = find_number(metrics, "dropped_iterations.count", name)
    if dropped:
        return Reading(step, f"iterations were dropped, so k6 sent at a rate{_ASK}", (SENT,))
    busy = find_positive_number(metrics, "iterations.count", name) / window_s
    busy *= find_positive_number(metrics, "iteration_duration.avg", name) / 1000
    if not vus or busy < _BUSY_SHARE * vus:
        of = f"of {vus:.0f} VUs" if vus else "of an unknown number of VUs"
        return Reading(step, f"{busy:.2g} {of} were busy: a rate, or a number that changed{_ASK}")
    return Reading(step)


_ASK = " (of constant-vus, give one file for each number of VUs)"


def _count_failed(metrics: Metrics, name: str) -> float | None:
    """Return the failed requests; None if unknown. k6's `passes` is the count of failed ones."""
    passes = find_number(metrics, "http_req_failed.passes", name)
    return find_number(metrics, "http_req_failed.matches", name) if passes is None else passes


def _read_metrics(value: object, name: str) -> Metrics:
    """Return the figures of each metric, in whichever form."""
    listed = find_value(value, "results.metrics", name)
    if isinstance(listed, list):
        return {
            str(metric["name"]): metric.get("values")
            for metric in listed
            if isinstance(metric, dict) and "name" in metric
        }
    metrics = find_value(value, "metrics", name)
    if not isinstance(metrics, dict):
        raise UsageError(f"{name}: metrics is not an object")
    return {
        metric: figures.get("values", figures) if isinstance(figures, dict) else figures
        for metric, figures in metrics.items()
    }


def _read_window_s(value: object, metrics: Metrics, counter: str, name: str) -> float:
    """Return the length of the run; `--summary-export` has only a count and a rate for it."""
    milliseconds = find_number(value, "state.testRunDurationMs", name)
    seconds = milliseconds / 1000 if milliseconds else find_number(value, "config.duration", name)
    if seconds:
        return seconds
    return find_positive_number(metrics, f"{counter}.count", name) / find_positive_number(
        metrics, f"{counter}.rate", name
    )
