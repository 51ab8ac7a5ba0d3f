"""The I/Os that Aurora charges: counts of CloudWatch, of the cluster alone, every five minutes.

`VolumeReadIOPs` and `VolumeWriteIOPs` are no rates, whatever their names say: each point is the
number of I/Os in five minutes (docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/
Aurora.AuroraMonitoring.Metrics.html, 2026-11-23). Steps are shorter, so that a run has one figure.
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
    """Count a cluster's I/Os over a time, and those of whole periods with operations beside them.

    Args:
        cluster: Its identifier.
        start: When it was there.
        end: Until when; points of the last minutes may be still to come.
        seconds: Of the run's load.

    Returns:
        None where CloudWatch has no point of both yet.
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
        StartTime=_period(start),
        EndTime=end,
        ScanBy="TimestampAscending",
    )
    counts: dict[str, dict[int, float]] = {
        result["Id"]: {
            int(_aware(moment).timestamp()): value
            for moment, value in zip(result["Timestamps"], result["Values"], strict=True)
        }
        for result in answer["MetricDataResults"]
    }
    reads, writes = (counts.get(name.lower(), {}) for name in _METRICS)
    if not reads or not writes:
        return None
    operations, begun_s = Counter[int](), math.inf
    for second in seconds:
        operations[second.epoch_s // PERIOD_S * PERIOD_S] += second.succeeded
        begun_s = min(begun_s, second.epoch_s)
    # a period that was under way when the load began holds the dataset's loading besides
    beside = [t for t in reads.keys() & writes.keys() if operations[t] and t >= begun_s]
    return BilledIo(
        reads=sum(reads.values()),
        writes=sum(writes.values()),
        beside_operations=sum(reads[t] + writes[t] for t in beside),
        operations=sum(operations[t] for t in beside),
    )


def _period(moment: datetime) -> datetime:
    return datetime.fromtimestamp(moment.timestamp() // PERIOD_S * PERIOD_S, UTC)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
