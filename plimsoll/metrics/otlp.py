"""Metrics for an OpenTelemetry collector, sent by OpenTelemetry's exporter (OTLP over HTTP).

https://opentelemetry.io/docs/specs/otlp/. Measurements keep their own times. The exporter reads the
standard variables (headers, certificates, and the endpoint if none is given):
https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from plimsoll.errors import SinkError
from plimsoll.metrics.measures import BOUNDS_US, Latencies, Measure

PATH = "/v1/metrics"  # appended to an endpoint that serves all signals
TIME_LIMIT_S = 10.0
_CUMULATIVE = AggregationTemporality.CUMULATIVE


def push_metrics(measures: Iterable[Measure], *, endpoint: str | None, version: str) -> None:
    """Send metrics to a collector.

    Args:
        measures: The metrics to send.
        endpoint: The collector's URL without `/v1/metrics`; None for that of the environment.
        version: The version of Plimsoll.

    Raises:
        SinkError: The collector is unreachable or refuses.
    """
    data = MetricsData([_make_resource(measures, version)])
    url = None if endpoint is None else endpoint.rstrip("/") + PATH
    with _collect_complaints() as complaints:
        exporter = OTLPMetricExporter(endpoint=url, timeout=TIME_LIMIT_S)
        done = exporter.export(data)
        exporter.shutdown()
    if done is not MetricExportResult.SUCCESS:
        why = complaints[-1].splitlines()[0] if complaints else "it gave no reason"
        raise SinkError(f"the OpenTelemetry collector did not take the metrics: {why}")


@contextmanager
def _collect_complaints() -> Iterator[list[str]]:
    """Collect the exporter's log messages: it reports failures nowhere else."""
    logger, said = logging.getLogger("opentelemetry.exporter"), list[str]()
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    propagates, logger.propagate = logger.propagate, False
    try:
        yield said
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


def _make_resource(measures: Iterable[Measure], version: str) -> ResourceMetrics:
    by_name: dict[str, list[Measure]] = {}
    for measure in measures:
        by_name.setdefault(measure.name, []).append(measure)
    scope = InstrumentationScope("plimsoll", version)
    named = {"service.name": "plimsoll", "service.version": version}
    return ResourceMetrics(
        resource=Resource.create(named),
        scope_metrics=[ScopeMetrics(scope, [_make_metric(same) for same in by_name.values()], "")],
        schema_url="",
    )


def _make_metric(same: list[Measure]) -> Metric:
    first = same[0]
    data: Gauge | Sum | Histogram
    match first.kind:
        case "gauge":
            data = Gauge([_make_number_point(one) for one in same])
        case "total":
            data = Sum([_make_number_point(one) for one in same], _CUMULATIVE, is_monotonic=True)
        case "histogram":
            data = Histogram([_make_histogram_point(one) for one in same], _CUMULATIVE)
    return Metric(first.name, first.about, first.unit, data)


def _make_number_point(measure: Measure) -> NumberDataPoint:
    assert not isinstance(measure.value, Latencies)  # noqa: S101 - its kind says so
    since, at = _to_nanoseconds(measure)
    return NumberDataPoint(dict(measure.labels), since, at, measure.value)


def _make_histogram_point(measure: Measure) -> HistogramDataPoint:
    latencies = measure.value
    assert isinstance(latencies, Latencies)  # noqa: S101 - its kind says so
    since, at = _to_nanoseconds(measure)
    below = (0, *latencies.at_most, latencies.count)
    return HistogramDataPoint(
        attributes=dict(measure.labels),
        start_time_unix_nano=since,
        time_unix_nano=at,
        count=latencies.count,
        sum=latencies.sum_us / 1e6,
        bucket_counts=[upto - before for before, upto in pairwise(below)],
        explicit_bounds=[bound / 1e6 for bound in BOUNDS_US],
        min=None,  # type: ignore[arg-type] # not known, and optional in OTLP
        max=latencies.max_us / 1e6,
    )


def _to_nanoseconds(measure: Measure) -> tuple[int, int]:
    return measure.since_epoch_ms * 1_000_000, measure.at_epoch_ms * 1_000_000
