"""What a target's own metrics say of a step."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import BURST_S, InstanceLimits, cpu_credits, instance_limits
from plimsoll.model.aws.volumes import limits
from plimsoll.model.aws.volumes_seen import escaped_share
from plimsoll.model.deployment.function_settings import MetricSettings
from plimsoll.model.judging.steps import CreditBucket, CreditUse, TargetFigures, TargetSample
from plimsoll.model.metric_periods import held
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Target, TargetKind
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.targets.cloudwatch_metrics import figures
from plimsoll.targets.node_samples import NodeSamples, read_node_samples, together


def target_samples(
    settings: MetricSettings,
    record: RunRecord,
    *,
    kind: TargetKind,
    since: datetime,
    until: datetime,
) -> tuple[TargetSample, ...]:
    """Read a run's target's metrics over a time; none where it has no target."""
    by_node = node_samples(settings, record, kind=kind, since=since, until=until)
    return together(by_node) if by_node else ()


def node_samples(
    settings: MetricSettings,
    record: RunRecord,
    *,
    kind: TargetKind,
    since: datetime,
    until: datetime,
) -> NodeSamples:
    """Read them of each of its nodes, by the node's address."""
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
    """Say whether points of the last step are still to come: those by which a limit is named."""
    complete = {
        sample.epoch_ms
        for sample in samples
        if None not in (sample.read_iops, sample.write_iops, sample.cpu_percent)
    }
    last = max(steps, key=lambda step: step.plan.window_end_epoch_ms, default=None)
    return last is not None and not complete.issuperset(_periods(last, period_s))


def with_figures(step: StepResult, samples: Sequence[TargetSample], period_s: int) -> StepResult:
    """Give a step the target's figures over its load; it stays as it is where there are none."""
    target = figures(samples, _periods(step, period_s), period_s=period_s)
    return step if target is None else step.model_copy(update={"target": target})


def with_node_figures(step: StepResult, by_node: NodeSamples, period_s: int) -> StepResult:
    """Give each node of a step its own figures, where CloudWatch has them."""
    nodes = tuple(
        node.model_copy(
            update={
                "target": figures(
                    by_node.get(node.address, ()), _periods(step, period_s), period_s=period_s
                )
            }
        )
        for node in step.nodes
    )
    return step.model_copy(update={"nodes": nodes})


def _periods(step: StepResult, period_s: int) -> range:
    """List the periods of the metrics within a step's window; in a short one, of its load.

    The load has the warm-up in it.
    """
    plan = step.plan
    end = step.window_end_epoch_ms or plan.window_end_epoch_ms
    start = step.window_start_epoch_ms or plan.window_start_epoch_ms
    return held(start, end, period_s=period_s) or held(
        plan.start_at_epoch_ms, end, period_s=period_s
    )


def with_host_figures(
    step: StepResult, samples: Sequence[TargetSample], period_s: int
) -> StepResult:
    """Add to a step how far the machine on which everything runs was disturbed.

    And what the target's I/O was that did not go through its emulated volume.
    """
    target = with_figures(step, samples, period_s).target
    if target is None:
        return step
    known = step.step.model_copy(
        update={
            "escaped_iops": target.escaped_iops,
            "escaped_mib_s": target.escaped_mib_s,
            "escaped_percent": _escaped_percent(target),
            "host_late_percent": target.host_late_percent,
            "host_stolen_percent": target.host_stolen_percent,
            "host_others_percent": target.host_others_percent,
            "host_idle_percent": target.host_idle_percent,
        }
    )
    return step.model_copy(update={"step": known})


def _escaped_percent(target: TargetFigures) -> float | None:
    if target.escaped_iops is None or target.escaped_mib_s is None:
        return None
    iops = (target.read_iops or 0.0) + (target.write_iops or 0.0)
    mib_s = (target.read_mib_s or 0.0) + (target.write_mib_s or 0.0)
    share = escaped_share((target.escaped_iops, target.escaped_mib_s), (iops, mib_s))
    return 100 * (share or 0.0)


# What a step used of its target's credits: from its target's figures, by the rules of AWS.


Made = RdsTarget | CassandraTarget
WithClass = Made | AuroraTarget  # Aurora's storage is no volume of its instance


def with_credits(step: StepResult, target: Target, samples: Sequence[TargetSample]) -> StepResult:
    """Add to a step what it used of each kind of credits that its target has.

    What is used is reckoned from the I/Os, bytes and CPU of its load, which CloudWatch has for each
    minute. The balances tell what was left; between two of them a minute's use is hard to see.

    Args:
        step: With its target's figures; without them it stays as it is.
        target: As it was asked for.
        samples: Of the whole run, for what CloudWatch has every five minutes only.
    """
    seen = _most_loaded(step)
    if seen is None or isinstance(target, EndpointTarget):
        return step
    end = step.window_end_epoch_ms or step.plan.window_end_epoch_ms
    cpu = [s.cpu_credits for s in samples if s.cpu_credits is not None and s.epoch_ms <= end]
    of_volume = (
        ()
        if isinstance(target, AuroraTarget)
        else (*_volume(seen, target), *_instance(seen, target))
    )
    uses = (*of_volume, *_cpu(seen, target, cpu))
    io = (seen.read_iops, seen.write_iops, seen.read_mib_s, seen.write_mib_s)
    known = uses if uses or None not in io else None  # without points of its I/O nobody knows
    return step.model_copy(update={"step": step.step.model_copy(update={"credits": known})})


def _most_loaded(step: StepResult) -> TargetFigures | None:
    """Take the target's figures; of a cluster's nodes, whose volumes are alike, the busiest's."""
    nodes = [node.target for node in step.nodes if node.target is not None]
    iops = [_sum(one.read_iops, one.write_iops) or 0.0 for one in nodes]
    return nodes[iops.index(max(iops))] if nodes else step.target


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _volume(seen: TargetFigures, target: Made) -> Iterator[CreditUse]:
    promised = limits(target.volume, service=target.service)
    iops = _sum(seen.read_iops, seen.write_iops)
    if promised.burst_credits and promised.baseline_iops is not None and iops is not None:
        yield CreditUse(
            bucket="volume",
            used_per_s=iops,
            earned_per_s=promised.baseline_iops,
            full=promised.burst_credits,
            balance_percent=seen.burst_balance_percent,
        )


def _instance(seen: TargetFigures, target: Made) -> Iterator[CreditUse]:
    """An instance's own, for its EBS volumes: at its maximum a full bucket lasts 30 minutes."""
    most = None if target.volume.type == "nvme" else _limits(target.instance_class)
    if most is None:
        return
    iops = _sum(seen.read_iops, seen.write_iops)
    mib_s = _sum(seen.read_mib_s, seen.write_mib_s)
    rows: tuple[tuple[CreditBucket, float | None, float, float, float | None], ...] = (
        ("instance_io", iops, most.baseline_iops, most.burst_iops, seen.ebs_io_balance_percent),
        (
            "instance_throughput",
            mib_s,
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


def _limits(instance_class: str) -> InstanceLimits | None:
    try:
        return instance_limits(instance_class)
    except UsageError:  # a class that is not in the table
        return None


def _cpu(seen: TargetFigures, target: WithClass, balances: Sequence[float]) -> Iterator[CreditUse]:
    """A burstable instance's, where CloudWatch has its balance: one machine's has none to spend."""
    known = cpu_credits(target.instance_class)
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
