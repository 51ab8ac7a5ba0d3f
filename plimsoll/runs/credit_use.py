"""What a step used of its target's credits: from its target's figures, by the rules of AWS."""

from collections.abc import Iterator, Sequence

from plimsoll.errors import UsageError
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.cpu_credits import cpu_credits
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.instances import BURST_S, InstanceLimits, instance_limits
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.request import Target
from plimsoll.model.results import StepResult
from plimsoll.model.steps import CreditBucket, CreditUse
from plimsoll.model.target_figures import TargetFigures, TargetSample
from plimsoll.model.volumes import limits

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
        unlimited=True,  # always on RDS, by default on EC2 (plimsoll.model.cpu_credits)
    )
