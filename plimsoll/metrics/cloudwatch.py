"""CloudWatch, by lines of a function's own log: its Embedded Metric Format.

CloudWatch Logs makes metrics of such lines by itself, so that a function needs neither a permission
nor a way out of its VPC for them. The format, 100 metrics a line:
docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import json
from collections.abc import Mapping, Sequence

from plimsoll.metrics.sink import FieldValue, Point

# of the others there is too much (seconds), or CloudWatch has them from RDS itself (the target)
TOLD = {"plimsoll_step", "plimsoll_latency", "plimsoll_run"}
# of the tags; each metric is charged by the hour, and with `step` each step would be one of its own
DIMENSIONS = {"run", "operation", "bound"}
_UNITS = {"_us": "Microseconds", "_per_second": "Count/Second", "_busy": "None"}


class CloudWatchSink:
    """Prints steps and answers; every printed line is a metric's point for each of its fields."""

    name = "cloudwatch"
    batch_points = 1_000

    def __init__(self, *, namespace: str) -> None:
        """Print nothing yet.

        Args:
            namespace: CloudWatch's, of the deployment.
        """
        self._namespace = namespace

    def write(self, points: Sequence[Point]) -> None:
        """Print those that CloudWatch is told."""
        for point in points:
            if point.measurement in TOLD:
                of = {name: tag for name, tag in point.tags.items() if name in DIMENSIONS}
                told = {name: tag for name, tag in point.tags.items() if name not in of}
                line = embedded(self._namespace, point.epoch_ms, of, point.fields, told)
                print(line, flush=True)


def embedded(
    namespace: str,
    epoch_ms: int,
    dimensions: Mapping[str, str],
    figures: Mapping[str, FieldValue],
    told: Mapping[str, str] | None = None,
) -> str:
    """Write figures as a line of which CloudWatch makes metrics.

    Args:
        namespace: Theirs.
        epoch_ms: When they were measured: at most two weeks ago.
        dimensions: What they are of, by name; together with a figure's name they are the metric.
        figures: By name, whose end says the unit: `_us`, `_per_second`; else a count.
        told: What the line says besides, for whoever reads the log.
    """
    metrics = [{"Name": name, "Unit": _unit(name)} for name in figures]
    directive = {"Namespace": namespace, "Dimensions": [list(dimensions)], "Metrics": metrics}
    line = {
        "_aws": {"Timestamp": epoch_ms, "CloudWatchMetrics": [directive]},
        **(told or {}),
        **dimensions,
        **figures,
    }
    return json.dumps(line)


def _unit(name: str) -> str:
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "Count")
