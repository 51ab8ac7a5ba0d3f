"""`GetMetricData` in a time that grows with the points, and not with points times periods.

For each period of each query moto looks at every point of every metric. A target has a score of
metrics here, a point a second each: once a run had lasted a quarter of an hour, its conclusion
waited longer for them than a client of AWS waits for an answer, and failed.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from moto.cloudwatch.models import CloudWatchBackend, MetricDatumBase, Statistics

from plimsoll.local.replacing import replace_members

Key = tuple[str, str, frozenset[tuple[str, str]]]
_of_moto = CloudWatchBackend.get_metric_data


def _key(namespace: str, name: str, dimensions: Iterable[tuple[str, str]]) -> Key:
    return namespace, name, frozenset(dimensions)


def _read(
    self: CloudWatchBackend,
    queries: list[dict[str, Any]],
    start_time: datetime,
    end_time: datetime,
    scan_by: str = "TimestampAscending",
) -> list[dict[str, Any]]:
    start, end = (time.replace(microsecond=0) for time in (start_time, end_time))
    if start >= end or any("Unit" in query.get("MetricStat", {"Unit": ""}) for query in queries):
        return _of_moto(self, queries, start_time, end_time, scan_by)  # refuses it, or can do it
    points: defaultdict[Key, list[MetricDatumBase]] = defaultdict(list)
    for point in self.get_all_metrics():
        if start <= point.timestamp < end:
            dimensions = ((str(d.name), str(d.value)) for d in point.dimensions)
            points[_key(point.namespace, point.name, dimensions)].append(point)
    return [_answer(query, points, start, scan_by) for query in queries]


def _answer(
    query: dict[str, Any], points: dict[Key, list[MetricDatumBase]], start: datetime, scan_by: str
) -> dict[str, Any]:
    asked = query["MetricStat"]
    metric, stat, period_s = asked["Metric"], asked["Stat"], int(asked["Period"])
    dimensions = ((d["Name"], d["Value"]) for d in metric.get("Dimensions", []))
    by_period: defaultdict[int, list[MetricDatumBase]] = defaultdict(list)
    for point in points.get(_key(metric["Namespace"], metric["MetricName"], dimensions), ()):
        by_period[int((point.timestamp - start).total_seconds() // period_s)].append(point)
    values, timestamps = [], []
    for number in sorted(by_period, reverse=scan_by == "TimestampDescending"):
        statistics = Statistics([stat], start + timedelta(seconds=number * period_s))
        statistics.metric_data = by_period[number]
        values.append(statistics.get_statistics_for_type(stat))
        timestamps.append(statistics.timestamp)
    return {
        "id": query["Id"],
        "label": query.get("Label") or f"{metric['MetricName']} {stat}",
        "values": values,
        "timestamps": timestamps,
        "status_code": "Complete",
    }


def apply() -> None:
    """Answer queries of metrics; expressions are left to moto."""
    replace_members(CloudWatchBackend, get_metric_data=_read)
