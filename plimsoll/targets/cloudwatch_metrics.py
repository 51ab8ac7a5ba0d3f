"""CloudWatch's metrics of a target: storage, CPU and credits, from RDS or from EC2 and EBS."""

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import TYPE_CHECKING, Literal, assert_never

from plimsoll.aws import clients
from plimsoll.model.judging.steps import TargetFigures, TargetSample
from plimsoll.model.request.request import TargetKind
from plimsoll.model.run.run_record import TargetAddress

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef

MIB = 2**20
Summary = Literal["mean", "least", "mean of all"]


@dataclass(frozen=True)
class Metric:
    """A CloudWatch metric, and the field that it fills.

    Attributes:
        name: The name in CloudWatch.
        field: The name of the field of `TargetSample` and `TargetFigures`.
        divisor: The factor between CloudWatch's unit and the field's.
        summary: How a step's figure is computed from its samples: `mean` or `least` of the known
            values; `mean of all` gives the mean only if every sample has a value.
        counted: Whether it counts events per period; the rate is the sum divided by the seconds.
    """

    name: str
    field: str
    divisor: float = 1
    summary: Summary = "mean"
    counted: bool = False


@dataclass(frozen=True)
class Source:
    """A resource that CloudWatch knows, with its metrics."""

    namespace: str
    dimension: str
    metrics: tuple[Metric, ...]


_CPU = Metric("CPUUtilization", "cpu_percent")
_BURST = Metric("BurstBalance", "burst_balance_percent", summary="least")
_INSTANCE_BALANCES = (
    Metric("EBSIOBalance%", "ebs_io_balance_percent", summary="least"),
    Metric("EBSByteBalance%", "ebs_byte_balance_percent", summary="least"),
)
# burstable instances only, every five minutes
_CPU_CREDITS = Metric("CPUCreditBalance", "cpu_credits", summary="least")
_HOST = (  # one machine only
    Metric("EscapedIOPS", "escaped_iops", summary="mean of all"),
    Metric("EscapedThroughput", "escaped_mib_s", MIB, summary="mean of all"),
    Metric("HostLateShare", "host_late_percent"),
    Metric("HostStolenShare", "host_stolen_percent"),
    Metric("HostOthersShare", "host_others_percent"),
    Metric("HostIdleShare", "host_idle_percent"),
)
# docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html
RDS = Source(
    "AWS/RDS",
    "DBInstanceIdentifier",
    (
        Metric("ReadIOPS", "read_iops"),
        Metric("WriteIOPS", "write_iops"),
        Metric("ReadThroughput", "read_mib_s", MIB),
        Metric("WriteThroughput", "write_mib_s", MIB),
        Metric("DiskQueueDepth", "queue"),
        Metric("ReadLatency", "read_latency_us", 1e-6),
        Metric("WriteLatency", "write_latency_us", 1e-6),
        Metric("FlushLatency", "flush_latency_us", 1e-6),  # one machine only
        _CPU,
        _BURST,
        *_INSTANCE_BALANCES,
        _CPU_CREDITS,
        *_HOST,
    ),
)


def _count_metrics(prefix: str) -> tuple[Metric, ...]:
    return (
        Metric(f"{prefix}ReadOps", "read_iops", counted=True),
        Metric(f"{prefix}WriteOps", "write_iops", counted=True),
        Metric(f"{prefix}ReadBytes", "read_mib_s", MIB, counted=True),
        Metric(f"{prefix}WriteBytes", "write_mib_s", MIB, counted=True),
    )


# docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html
EBS = Source(
    "AWS/EBS", "VolumeId", (*_count_metrics("Volume"), Metric("VolumeQueueLength", "queue"), _BURST)
)
# docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html
EC2 = Source("AWS/EC2", "InstanceId", (_CPU, *_INSTANCE_BALANCES, _CPU_CREDITS, *_HOST))
EC2_OWN_DISKS = Source("AWS/EC2", "InstanceId", (*_count_metrics("Disk"), *EC2.metrics))
_SUMMARIES: dict[str, Summary] = {
    m.field: m.summary for source in (RDS, EBS, EC2) for m in source.metrics
}


def find_sources(target: TargetAddress, kind: TargetKind) -> list[tuple[Source, str]]:
    """Return the sources of a target's metrics, each with the target's identifier there."""
    if target.identifier is None:
        return []
    match kind:
        case "rds" | "aurora":
            return [(RDS, target.identifier)]
        case "cassandra":
            if target.volume_id is None:
                return [(EC2_OWN_DISKS, target.identifier)]
            return [(EC2, target.identifier), (EBS, target.volume_id)]
        case "endpoint":
            return []
        case _:
            assert_never(kind)


def has_metrics(target: TargetAddress | None, kind: TargetKind) -> bool:
    """Whether CloudWatch has metrics of an existing target."""
    return target is not None and bool(find_sources(target, kind))


def read_samples(
    target: TargetAddress,
    kind: TargetKind,
    *,
    start: datetime,
    end: datetime,
    period_s: int,
    statistic: Literal["Average", "Maximum"] = "Average",
) -> tuple[TargetSample, ...]:
    """Read a target's metrics, one sample for each moment that has at least one point.

    CloudWatch has whole periods only, and refuses a range within one second. So the request covers
    every period that the range touches.
    """
    first = int(start.timestamp() // period_s)
    past = max(first + 1, math.ceil(end.timestamp() / period_s))
    asked = [
        (source, identifier, metric)
        for source, identifier in find_sources(target, kind)
        for metric in source.metrics
    ]
    if not asked:
        return ()
    queries: list[MetricDataQueryTypeDef] = [
        {
            "Id": f"m{number}",
            "MetricStat": {
                "Metric": {
                    "Namespace": source.namespace,
                    "MetricName": metric.name,
                    "Dimensions": [{"Name": source.dimension, "Value": identifier}],
                },
                "Period": period_s,
                "Stat": "Sum" if metric.counted else statistic,
            },
        }
        for number, (source, identifier, metric) in enumerate(asked)
    ]
    values: dict[int, dict[str, float]] = {}
    pages = clients.cloudwatch().get_paginator("get_metric_data")
    for page in pages.paginate(
        MetricDataQueries=queries,
        StartTime=datetime.fromtimestamp(first * period_s, UTC),
        EndTime=datetime.fromtimestamp(past * period_s, UTC),
        ScanBy="TimestampAscending",
    ):
        for result in page["MetricDataResults"]:
            metric = asked[int(result["Id"][1:])][2]
            divisor = metric.divisor * (period_s if metric.counted else 1)
            for moment, value in zip(result["Timestamps"], result["Values"], strict=True):
                values.setdefault(_to_epoch_ms(moment), {})[metric.field] = value / divisor
    return tuple(TargetSample(epoch_ms=ms, **values[ms]) for ms in sorted(values))


def _to_epoch_ms(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)


def summarize_samples(
    samples: Iterable[TargetSample], periods: Container[int], *, period_s: int
) -> TargetFigures | None:
    """Summarize the samples of some periods; None if there are none.

    Args:
        samples: The samples; one describes the period that begins at its moment.
        periods: The beginnings of the periods that count, in milliseconds of the epoch.
        period_s: The length of the metrics' period, in seconds.
    """
    within = [sample for sample in samples if sample.epoch_ms in periods]
    if not within:
        return None
    summaries = {field: _summarize_field(field, how, within) for field, how in _SUMMARIES.items()}
    return TargetFigures(period_s=period_s, points=len(within), **summaries)


def _summarize_field(field: str, how: Summary, samples: Sequence[TargetSample]) -> float | None:
    values = [getattr(sample, field) for sample in samples]
    known = [float(value) for value in values if value is not None]
    if not known or (how == "mean of all" and len(known) < len(values)):
        return None
    return min(known) if how == "least" else sum(known) / len(known)


# The nodes of a cluster, each and all combined.


NodeSamples = Mapping[str, Sequence[TargetSample]]  # keyed by the node's address and port
# How to combine the nodes' values, if not by their mean.
_TOGETHER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "read_iops": sum,
    "write_iops": sum,
    "read_mib_s": sum,
    "write_mib_s": sum,
    "queue": sum,
    "escaped_iops": sum,
    "escaped_mib_s": sum,
    "host_late_percent": max,
    "burst_balance_percent": min,
    "ebs_io_balance_percent": min,
    "ebs_byte_balance_percent": min,
    "cpu_credits": min,
}


def read_node_samples(
    target: TargetAddress, kind: TargetKind, *, start: datetime, end: datetime, period_s: int
) -> dict[str, tuple[TargetSample, ...]]:
    """Read the metrics of each node of a target; most targets have one node."""
    others = [target.model_copy(update=node.model_dump() | {"nodes": ()}) for node in target.nodes]
    return {
        f"{node.host}:{node.port}": read_samples(
            node, kind, start=start, end=end, period_s=period_s
        )
        for node in (target, *others)
    }


def combine_nodes(by_node: NodeSamples) -> tuple[TargetSample, ...]:
    """Combine the nodes' samples, at the moments at which all nodes have one."""
    nodes = list(by_node.values())
    if len(nodes) == 1:
        return tuple(nodes[0])
    moments = set.intersection(*({one.epoch_ms for one in samples} for samples in nodes))
    at = {ms: [one for samples in nodes for one in samples if one.epoch_ms == ms] for ms in moments}
    return tuple(_combine_samples(at[ms]) for ms in sorted(at))


def _combine_samples(samples: Sequence[TargetSample]) -> TargetSample:
    fields = [name for name in TargetSample.model_fields if name != "epoch_ms"]
    known = {name: [getattr(sample, name) for sample in samples] for name in fields}
    whole = {name: values for name, values in known.items() if None not in values}
    made = {name: float(_TOGETHER.get(name, fmean)(values)) for name, values in whole.items()}
    if "host_others_percent" in made and "cpu_percent" in made:
        # On one machine each node has a share of all processors, and the other nodes' use counts as
        # that of others: correct both.
        of_one = made["cpu_percent"]
        of_other_nodes = of_one * (len(samples) - 1)
        made["cpu_percent"] = of_one * len(samples)
        made["host_others_percent"] = max(0.0, made["host_others_percent"] - of_other_nodes)
    return TargetSample(epoch_ms=samples[0].epoch_ms, **made)
