"""What CloudWatch says of a target: storage, CPU and credits, by the names that RDS gives them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from plimsoll.model.results import TargetFigures, TargetSample
from plimsoll.runs import services

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef

MIB = 2**20


@dataclass(frozen=True)
class Metric:
    """A metric of RDS (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html)."""

    name: str
    field: str  # of TargetSample and TargetFigures
    divisor: float = 1
    summary: Literal["mean", "least"] = "mean"


METRICS = (
    Metric("ReadIOPS", "read_iops"),
    Metric("WriteIOPS", "write_iops"),
    Metric("ReadThroughput", "read_mib_s", MIB),
    Metric("WriteThroughput", "write_mib_s", MIB),
    Metric("DiskQueueDepth", "queue"),
    Metric("CPUUtilization", "cpu_percent"),
    Metric("BurstBalance", "burst_balance_percent", summary="least"),
    Metric("EBSIOBalance%", "ebs_io_balance_percent", summary="least"),
    Metric("EBSByteBalance%", "ebs_byte_balance_percent", summary="least"),
    Metric("HostLateShare", "host_late_percent"),  # one machine only
)


def read_samples(
    identifier: str, *, start: datetime, end: datetime, period_s: int
) -> tuple[TargetSample, ...]:
    """Read a target's metrics over a time, one sample for each moment with at least one point."""
    queries: list[MetricDataQueryTypeDef] = [
        {
            "Id": f"m{number}",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/RDS",
                    "MetricName": metric.name,
                    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": identifier}],
                },
                "Period": period_s,
                "Stat": "Average",
            },
        }
        for number, metric in enumerate(METRICS)
    ]
    values: dict[int, dict[str, float]] = {}
    pages = services.cloudwatch().get_paginator("get_metric_data")
    for page in pages.paginate(
        MetricDataQueries=queries,
        StartTime=start,
        EndTime=end,
        ScanBy="TimestampAscending",
    ):
        for result in page["MetricDataResults"]:
            metric = METRICS[int(result["Id"][1:])]
            for moment, value in zip(result["Timestamps"], result["Values"], strict=True):
                sample = values.setdefault(_epoch_ms(moment), {})
                sample[metric.field] = value / metric.divisor
    return tuple(TargetSample(epoch_ms=ms, **values[ms]) for ms in sorted(values))


def _epoch_ms(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)


def figures(
    samples: Iterable[TargetSample], *, start_epoch_ms: int, end_epoch_ms: int, period_s: int
) -> TargetFigures | None:
    """Summarize the samples whose period lies wholly within a time; None where there is none.

    A point at a moment describes the period that begins there.
    """
    within = [
        sample
        for sample in samples
        if start_epoch_ms <= sample.epoch_ms and sample.epoch_ms + period_s * 1000 <= end_epoch_ms
    ]
    if not within:
        return None
    summaries = {metric.field: _summary(metric, within) for metric in METRICS}
    return TargetFigures(period_s=period_s, points=len(within), **summaries)


def _summary(metric: Metric, samples: Sequence[TargetSample]) -> float | None:
    values = [getattr(sample, metric.field) for sample in samples]
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    return min(known) if metric.summary == "least" else sum(known) / len(known)
