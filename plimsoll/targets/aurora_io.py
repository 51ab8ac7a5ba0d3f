"""The I/Os that Aurora charges, as CloudWatch counts them: per cluster, every five minutes.

Despite their names, `VolumeReadIOPs` and `VolumeWriteIOPs` are no rates: each point is the number
of I/Os in five minutes (docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/
Aurora.AuroraMonitoring.Metrics.html, 2026-11-23). Steps are shorter, so only a whole run has a
figure.
"""

import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from plimsoll.aws import clients
from plimsoll.model.run.quote import BilledIo
from plimsoll.model.run.results import SecondTotals

PERIOD_S = 300
_METRICS = ("VolumeReadIOPs", "VolumeWriteIOPs")


def read_billed_io(
    cluster: str, *, start: datetime, end: datetime, seconds: Iterable[SecondTotals]
) -> BilledIo | None:
    """Count a cluster's I/Os: all of them, and those in five-minute periods of pure load.

    Args:
        cluster: The cluster's identifier.
        start: The time at which it was created.
        end: The end of the time to count; the last minutes' points may still be missing.
        seconds: The seconds of the run's load.

    Returns:
        The counts; None if CloudWatch has no points of both reads and writes yet.
    """
    answer = clients.cloudwatch().get_metric_data(
        MetricDataQueries=[
            {
                "Id": name.lower(),
                "MetricStat": {
                    "Metric": {
                        "Namespace": "AWS/RDS",
                        "MetricName": name,
                        "Dimensions": [{"Name": "DBClusterIdentifier", "Value": cluster}],
                    },
                    "Period": PERIOD_S,
                    "Stat": "Sum",
                },
            }
            for name in _METRICS
        ],
        StartTime=_find_period_start(start),
        EndTime=end,
        ScanBy="TimestampAscending",
    )
    counts: dict[str, dict[int, float]] = {
        result["Id"]: {
            int(_make_aware(moment).timestamp()): value
            for moment, value in zip(result["Timestamps"], result["Values"], strict=True)
        }
        for result in answer["MetricDataResults"]
    }
    reads, writes = (counts.get(name.lower(), {}) for name in _METRICS)
    if not reads or not writes:
        return None
    operations, first_s = Counter[int](), math.inf
    for second in seconds:
        operations[second.epoch_s // PERIOD_S * PERIOD_S] += second.succeeded
        first_s = min(first_s, second.epoch_s)
    # the period in which the load began may also contain the loading of the dataset
    beside = [t for t in reads.keys() & writes.keys() if operations[t] and t >= first_s]
    return BilledIo(
        reads=sum(reads.values()),
        writes=sum(writes.values()),
        beside_operations=sum(reads[t] + writes[t] for t in beside),
        operations=sum(operations[t] for t in beside),
    )


def _find_period_start(moment: datetime) -> datetime:
    return datetime.fromtimestamp(moment.timestamp() // PERIOD_S * PERIOD_S, UTC)


def _make_aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
