"""What is told to Prometheus and OpenTelemetry: names with units, and histograms that add up."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from opentelemetry.sdk.metrics.export import HistogramDataPoint
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from plimsoll.metrics.measures import BOUNDS_US, Latencies, Measure, list_run_measures
from plimsoll.metrics.otlp import _make_metric
from plimsoll.metrics.prometheus import format_prometheus
from plimsoll.model.engine.answered import LatencySummary
from plimsoll.model.run.results import OperationTotals, RunResult
from tests.support.synthetic_run import synthetic_run

US = (12, 700, 700, 1_400, 30_000, 90_000_000)


def encoded(values_us: tuple[int, ...]) -> str:
    histogram = HdrHistogram(1, 300_000_000, 3)
    for value in values_us:
        histogram.record_value(value)
    return str(histogram.encode().decode())


@pytest.fixture
def run() -> RunResult:
    """A run whose first step has a histogram of six latencies, and two errors of one kind."""
    result, _ = synthetic_run()
    first, *others = result.steps
    totals = OperationTotals(
        succeeded=5,
        records=5,
        errors={"timeout": 2},
        latency_us=LatencySummary(
            mean=sum(US) / len(US), p50=700, p95=None, p99=None, p999=None, max=max(US)
        ),
        histogram=encoded(US),
    )
    first = first.model_copy(update={"operations": {"read": totals}})
    return result.model_copy(update={"steps": (first, *others)})


def families(run: RunResult) -> dict[str, Metric]:
    text = format_prometheus(list_run_measures(run))
    return {family.name: family for family in text_string_to_metric_families(text)}


def of_first_step(family: Metric) -> Iterator[tuple[str, str | None, float]]:
    for sample in family.samples:
        if sample.labels["step"] == "1" and sample.labels["operation"] == "read":
            yield sample.name, sample.labels.get("le"), sample.value


def test_names_carry_units_as_prometheus_has_them(run: RunResult) -> None:
    told = families(run)
    assert {
        "plimsoll_run", "plimsoll_run_ended_seconds", "plimsoll_capacity_operations_per_second",
        "plimsoll_capacity_interval_operations_per_second",
        "plimsoll_step_throughput_operations_per_second", "plimsoll_step_connections",
        "plimsoll_step_volume_io_operations_per_second", "plimsoll_step_volume_queue",
        "plimsoll_step_cpu_ratio", "plimsoll_operations", "plimsoll_operation_errors",
        "plimsoll_operation_duration_seconds",
    } == set(told)  # fmt: skip
    assert run.capacity is not None
    (line,) = told["plimsoll_capacity_operations_per_second"].samples
    assert line.value == run.capacity.max_sustainable_throughput_ops_per_second
    assert line.labels == {"name": run.name, "run": run.run_id, "bound": "="}
    (ended,) = told["plimsoll_run"].samples
    assert ended.labels["verdict"] == run.capacity.verdict
    (errors,) = told["plimsoll_operation_errors"].samples
    assert (errors.name, errors.labels["code"], errors.value) == (
        "plimsoll_operation_errors_total", "timeout", 2,
    )  # fmt: skip


def test_a_histogram_is_cumulative_in_seconds_and_holds_every_latency(run: RunResult) -> None:
    told = list(of_first_step(families(run)["plimsoll_operation_duration_seconds"]))
    buckets = {le: value for name, le, value in told if name.endswith("_bucket")}
    for bound in BOUNDS_US:
        expected = sum(value <= bound * 1.001 for value in US)
        assert buckets[f"{bound / 1e6:g}"] == expected, bound
    assert buckets["+Inf"] == len(US)
    figures = {name: value for name, le, value in told if le is None}
    assert figures["plimsoll_operation_duration_seconds_count"] == len(US)
    assert figures["plimsoll_operation_duration_seconds_sum"] == pytest.approx(sum(US) / 1e6)


def test_otlp_has_the_same_histogram_bucket_by_bucket() -> None:
    at_most = tuple(range(len(BOUNDS_US)))
    latencies = Latencies(at_most=at_most, count=50, sum_us=2e6, max_us=4e5)
    measure = Measure(
        "plimsoll.operation.duration", "s", "", "histogram", {"operation": "read"}, latencies, 5, 9
    )
    metric = _make_metric([measure])
    (point,) = metric.data.data_points
    assert isinstance(point, HistogramDataPoint)
    assert (metric.name, metric.unit) == ("plimsoll.operation.duration", "s")
    assert (point.start_time_unix_nano, point.time_unix_nano) == (5_000_000, 9_000_000)
    assert point.bucket_counts == [0, *[1] * (len(BOUNDS_US) - 1), 50 - at_most[-1]]
    assert (sum(point.bucket_counts), point.count, point.sum, point.max) == (50, 50, 2.0, 0.4)
    assert len(point.bucket_counts) == len(point.explicit_bounds) + 1


def test_what_was_not_measured_is_absent() -> None:
    nothing, _ = synthetic_run()
    nothing = nothing.model_copy(update={"capacity": None, "limiting": None, "steps": ()})
    assert set(families(nothing)) == {"plimsoll_run", "plimsoll_run_ended_seconds"}


def test_the_page_has_each_of_them(run: RunResult) -> None:
    page = (Path(__file__).parents[3] / "docs/metrics.md").read_text()
    for family in families(run).values():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert f"`{name}`" in page
