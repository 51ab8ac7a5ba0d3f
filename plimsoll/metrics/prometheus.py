"""Metrics in Prometheus' text format, for node_exporter's textfile collector or any reader.

https://prometheus.io/docs/instrumenting/exposition_formats/. Lines have no time, since that
collector accepts none. Names are derived from OpenTelemetry's as its specification says, with full
units (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/).
"""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from plimsoll.metrics.measures import BOUNDS_US, Latencies, Measure

_UNITS = {
    "s": "_seconds",
    "{operation}/s": "_operations_per_second",
    "By/s": "_bytes_per_second",
    "1": "_ratio",
}
_Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class _Told(Collector):
    def __init__(self, measures: Iterable[Measure]) -> None:
        self._measures = tuple(measures)

    def collect(self) -> Iterator[Metric]:
        families: dict[str, _Family] = {}
        for measure in self._measures:
            family = families.setdefault(measure.name, _make_family(measure))
            labels = list(measure.labels.values())
            if isinstance(family, HistogramMetricFamily):
                assert isinstance(measure.value, Latencies)  # noqa: S101 - its kind says so
                buckets = [*_format_buckets(measure.value), ("+Inf", measure.value.count)]
                family.add_metric(labels, buckets, measure.value.sum_us / 1e6)
            else:
                assert not isinstance(measure.value, Latencies)  # noqa: S101 - likewise
                family.add_metric(labels, measure.value)
        yield from families.values()


def format_prometheus(measures: Iterable[Measure]) -> str:
    """Return metrics in the text format, with cumulative histograms in seconds."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Told(measures))
    return generate_latest(registry).decode()


def make_prometheus_name(measure: Measure) -> str:
    """Return a metric's name in Prometheus' form: `plimsoll_operation_duration_seconds`."""
    return measure.name.replace(".", "_") + _UNITS.get(measure.unit, "")


def _make_family(measure: Measure) -> _Family:
    name, labels = make_prometheus_name(measure), list(measure.labels)
    match measure.kind:
        case "gauge":
            return GaugeMetricFamily(name, measure.about, labels=labels)
        case "total":
            return CounterMetricFamily(name, measure.about, labels=labels)
        case "histogram":
            return HistogramMetricFamily(name, measure.about, labels=labels)


def _format_buckets(latencies: Latencies) -> list[tuple[str, float]]:
    bounds = (f"{bound / 1e6:g}" for bound in BOUNDS_US)
    return list(zip(bounds, latencies.at_most, strict=True))
