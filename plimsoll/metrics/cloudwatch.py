"""CloudWatch metrics from lines of a function's own log (Embedded Metric Format).

CloudWatch Logs turns such lines into metrics, so that a function needs no further permission and no
route out of its VPC. A line may have 100 metrics:
docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import json
from collections.abc import Mapping, Sequence

from plimsoll.metrics.sink import FieldValue, Point

# other measurements are too many (seconds), or RDS sends them itself (the target)
TOLD = {"plimsoll_step", "plimsoll_latency", "plimsoll_run"}
# each combination is charged hourly as a metric of its own, so `step` is left out
DIMENSIONS = {"run", "operation", "bound"}
_UNITS = {"_us": "Microseconds", "_per_second": "Count/Second", "_busy": "None"}


class CloudWatchSink:
    """Prints steps and answers as log lines; each field of a line is a metric's data point."""

    name = "cloudwatch"
    batch_points = 1_000

    def __init__(self, *, namespace: str) -> None:
        """Set the namespace; prints nothing yet.

        Args:
            namespace: The CloudWatch namespace of the deployment.
        """
        self._namespace = namespace

    def write(self, points: Sequence[Point]) -> None:
        """Print the points that CloudWatch should get."""
        for point in points:
            if point.measurement in TOLD:
                of = {name: tag for name, tag in point.tags.items() if name in DIMENSIONS}
                told = {name: tag for name, tag in point.tags.items() if name not in of}
                line = format_embedded(self._namespace, point.epoch_ms, of, point.fields, told)
                print(line, flush=True)


def format_embedded(
    namespace: str,
    epoch_ms: int,
    dimensions: Mapping[str, str],
    figures: Mapping[str, FieldValue],
    told: Mapping[str, str] | None = None,
) -> str:
    """Return the log line of which CloudWatch makes metrics.

    Args:
        namespace: The CloudWatch namespace.
        epoch_ms: The time of the measurement, at most two weeks ago.
        dimensions: The dimensions by name. Together with a figure's name they identify a metric.
        figures: The figures by name. The name's end gives the unit: `_us`, `_per_second`, else a
            count.
        told: Further properties of the line, for readers of the log.
    """
    metrics = [{"Name": name, "Unit": _find_unit(name)} for name in figures]
    directive = {"Namespace": namespace, "Dimensions": [list(dimensions)], "Metrics": metrics}
    line = {
        "_aws": {"Timestamp": epoch_ms, "CloudWatchMetrics": [directive]},
        **(told or {}),
        **dimensions,
        **figures,
    }
    return json.dumps(line)


def _find_unit(name: str) -> str:
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "Count")
