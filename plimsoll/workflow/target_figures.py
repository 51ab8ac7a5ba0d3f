"""Adds the target's own metrics and its use of burst credits to steps."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from plimsoll.model.aws.instances import BURST_S, find_cpu_credits, find_instance_limits
from plimsoll.model.aws.volumes import limits
from plimsoll.model.aws.volumes_seen import compute_escaped_share
from plimsoll.model.deployment.function_settings import MetricSettings
from plimsoll.model.judging.steps import CreditBucket, CreditUse, TargetFigures, TargetSample
from plimsoll.model.metric_periods import list_whole_periods
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Target, TargetKind
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.targets.cloudwatch_metrics import (
    NodeSamples,
    combine_nodes,
    read_node_samples,
    summarize_samples,
)


def read_target_samples(
    settings: MetricSettings,
    record: RunRecord,
    *,
    kind: TargetKind,
    since: datetime,
    until: datetime,
) -> tuple[TargetSample, ...]:
    """Read the metrics of a run's target over a time range; empty if it has no target."""
    by_node = read_samples_by_node(settings, record, kind=kind, since=since, until=until)
    return combine_nodes(by_node) if by_node else ()


def read_samples_by_node(
    settings: MetricSettings,
    record: RunRecord,
    *,
    kind: TargetKind,
    since: datetime,
    until: datetime,
) -> NodeSamples:
    """Read the metrics of each node of a run's target, by the node's address."""
    if record.target is None:
        return {}
    return read_node_samples(
        record.target,
        kind,
        start=since,
        end=until,
        period_s=settings.metric_period_seconds,
    )


def lack_points(
    steps: Sequence[StepResult], samples: Sequence[TargetSample], period_s: int
) -> bool:
    """Return whether CloudWatch still lacks points of the last step that the verdict needs."""
    complete = {
        sample.epoch_ms
        for sample in samples
        if None not in (sample.read_iops, sample.write_iops, sample.cpu_percent)
    }
    last = max(steps, key=lambda step: step.plan.window_end_epoch_ms, default=None)
    return last is not None and not complete.issuperset(_list_periods(last, period_s))


def add_target_figures(
    step: StepResult, samples: Sequence[TargetSample], period_s: int
) -> StepResult:
    """Add the target's figures over its load to a step; unchanged if there are none."""
    target = summarize_samples(samples, _list_periods(step, period_s), period_s=period_s)
    return step if target is None else step.model_copy(update={"target": target})


def add_node_figures(step: StepResult, by_node: NodeSamples, period_s: int) -> StepResult:
    """Add to each node of a step its own figures, if CloudWatch has them."""
    nodes = tuple(
        node.model_copy(
            update={
                "target": summarize_samples(
                    by_node.get(node.address, ()), _list_periods(step, period_s), period_s=period_s
                )
            }
        )
        for node in step.nodes
    )
    return step.model_copy(update={"nodes": nodes})


def _list_periods(step: StepResult, period_s: int) -> range:
    """List the metric periods within a step's window.

    A window too short to hold one is extended by its warm-up.
    """
    plan = step.plan
    end = step.window_end_epoch_ms or plan.window_end_epoch_ms
    start = step.window_start_epoch_ms or plan.window_start_epoch_ms
    return list_whole_periods(start, end, period_s=period_s) or list_whole_periods(
        plan.start_at_epoch_ms, end, period_s=period_s
    )


def add_host_figures(
    step: StepResult, samples: Sequence[TargetSample], period_s: int
) -> StepResult:
    """Add to a step how much the machine on which everything runs was disturbed.

    Also add the target's I/O that bypassed its emulated volume.
    """
    target = add_target_figures(step, samples, period_s).target
    if target is None:
        return step
    known = step.step.model_copy(
        update={
            "escaped_iops": target.escaped_iops,
            "escaped_mib_s": target.escaped_mib_s,
            "escaped_percent": _compute_escaped_percent(target),
            "host_late_percent": target.host_late_percent,
            "host_stolen_percent": target.host_stolen_percent,
            "host_others_percent": target.host_others_percent,
            "host_idle_percent": target.host_idle_percent,
        }
    )
    return step.model_copy(update={"step": known})


def _compute_escaped_percent(target: TargetFigures) -> float | None:
    if target.escaped_iops is None or target.escaped_mib_s is None:
        return None
    iops = (target.read_iops or 0.0) + (target.write_iops or 0.0)
    mib_s = (target.read_mib_s or 0.0) + (target.write_mib_s or 0.0)
    share = compute_escaped_share((target.escaped_iops, target.escaped_mib_s), (iops, mib_s))
    return 100 * (share or 0.0)


# Credits: what a step used of them, from the target's figures and AWS's rules.


Made = RdsTarget | CassandraTarget
WithClass = Made | AuroraTarget  # an Aurora instance has no volume of its own


def add_credits(step: StepResult, target: Target, samples: Sequence[TargetSample]) -> StepResult:
    """Add to a step its use of each kind of credits that the target has.

    The use is computed from I/Os, bytes and CPU time, which CloudWatch has for each minute. The
    balances show what was left; they are too coarse to show a minute's use.

    Args:
        step: A step with its target's figures; without them it stays unchanged.
        target: The requested target.
        samples: The samples of the whole run, for metrics that CloudWatch has only every five
            minutes.
    """
    seen = _find_busiest_figures(step)
    if seen is None or isinstance(target, EndpointTarget):
        return step
    end = step.window_end_epoch_ms or step.plan.window_end_epoch_ms
    cpu = [s.cpu_credits for s in samples if s.cpu_credits is not None and s.epoch_ms <= end]
    of_volume = (
        ()
        if isinstance(target, AuroraTarget)
        else (*_list_volume_credits(seen, target), *_list_instance_credits(seen, target))
    )
    uses = (*of_volume, *_list_cpu_use(seen, target, cpu))
    io = (seen.read_iops, seen.write_iops, seen.read_mib_s, seen.write_mib_s)
    known = uses if uses or None not in io else None  # unknown without its I/O figures
    return step.model_copy(update={"step": step.step.model_copy(update={"credits": known})})


def _find_busiest_figures(step: StepResult) -> TargetFigures | None:
    """Return the target's figures; in a cluster of like volumes, those of the busiest node."""
    nodes = [node.target for node in step.nodes if node.target is not None]
    iops = [one.iops or 0.0 for one in nodes]
    return nodes[iops.index(max(iops))] if nodes else step.target


def _list_volume_credits(seen: TargetFigures, target: Made) -> Iterator[CreditUse]:
    promised = limits(target.volume, service=target.service)
    if promised.burst_credits and promised.baseline_iops is not None and seen.iops is not None:
        yield CreditUse(
            bucket="volume",
            used_per_s=seen.iops,
            earned_per_s=promised.baseline_iops,
            full=promised.burst_credits,
            balance_percent=seen.burst_balance_percent,
        )


def _list_instance_credits(seen: TargetFigures, target: Made) -> Iterator[CreditUse]:
    """Yield the use of an instance's EBS credits; a full bucket lasts 30 minutes at the maximum."""
    volume, most = target.volume, find_instance_limits(target.instance_class)
    if volume.type == "nvme" or volume.cloud != "aws" or most is None:
        return
    rows: tuple[tuple[CreditBucket, float | None, float, float, float | None], ...] = (
        (
            "instance_io",
            seen.iops,
            most.baseline_iops,
            most.burst_iops,
            seen.ebs_io_balance_percent,
        ),
        (
            "instance_throughput",
            seen.mib_s,
            most.baseline_throughput_mib_s,
            most.burst_throughput_mib_s,
            seen.ebs_byte_balance_percent,
        ),
    )
    for bucket, used, baseline, burst, balance in rows:
        if used is not None and burst > baseline:
            yield CreditUse(
                bucket=bucket,
                used_per_s=used,
                earned_per_s=baseline,
                full=BURST_S * (burst - baseline),
                balance_percent=balance,
            )


def _list_cpu_use(
    seen: TargetFigures, target: WithClass, balances: Sequence[float]
) -> Iterator[CreditUse]:
    """Yield the CPU credit use of a burstable instance, if CloudWatch has its balance.

    A target on one machine has no balance to spend.
    """
    known = find_cpu_credits(target.instance_class)
    if known is None or seen.cpu_percent is None or not balances:
        return
    yield CreditUse(
        bucket="cpu",
        used_per_s=known.vcpus * seen.cpu_percent / 100 / 60,
        earned_per_s=known.earned_per_s,
        full=known.full,
        balance_percent=100 * balances[-1] / known.full,
        unlimited=True,  # always on RDS, by default on EC2 (plimsoll.model.aws.instances)
    )
