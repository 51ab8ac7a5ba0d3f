"""What set the limit: the storage, the CPU, the clients, or nothing that was measured.

Pure: from the capacity and the steps' figures. A resource is named only with figures beside it; a
resource near its own limit while the target is at its limit is the limiting one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.families.family import family_of
from plimsoll.model.capacity import Capacity
from plimsoll.model.results import LimitingResource, StepResult, TargetFigures
from plimsoll.model.volumes import VolumeLimits

NEAR = (
    0.90  # share of a limit, as a mean over the step: above it the limit held for most of the time
)
UNNAMED = {"LOWER_BOUND", "INCONSISTENT", "DISTURBED", "DRIFTING", "NOISY"}
HOST_LATE_PERCENT = (
    10.0  # share of the time in I/O (plimsoll.model.volume_samples.HOST_BOUND_SHARE)
)


@dataclass(frozen=True)
class Use:
    """How near a resource came to its limit in a step."""

    resource: str
    share: float  # of its limit
    evidence: str


def limiting_resource(
    capacity: Capacity, steps: Sequence[StepResult], volume: VolumeLimits | None
) -> LimitingResource:
    """Name what set the limit.

    Args:
        capacity: The verdict.
        steps: Every step, with the target's figures.
        volume: What the target's volume promises; None: not known.
    """
    if capacity.verdict == "CLIENT_BOUND":
        return LimitingResource(
            resource="client", host_bound=None, step=None, evidence=(capacity.summary,)
        )
    deciding = _deciding_step(capacity, steps)
    if deciding is None:
        return LimitingResource(
            resource="unknown", host_bound=None, step=None, evidence=("no step was judged",)
        )
    uses = [*_storage(deciding.target, volume), *_cpu(deciding.target)]
    if not any(use.resource == "storage" for use in uses):
        uses += _storage_by_server(deciding, volume)
    late = deciding.target.host_late_percent if deciding.target else None
    host_bound = None if late is None else late > HOST_LATE_PERCENT
    evidence = [use.evidence for use in sorted(uses, key=lambda use: -use.share)]
    evidence += _server(deciding)
    if late is not None:
        share = words.percent(late / 100)
        evidence.append(f"{share} of the time in I/O was due to this machine's own disk")
    return LimitingResource(
        resource=_named(capacity, uses, host_bound=bool(host_bound)),
        host_bound=host_bound,
        step=deciding.plan.index,
        evidence=tuple(evidence) or ("the target's own figures could not be read",),
    )


def _named(capacity: Capacity, uses: Sequence[Use], *, host_bound: bool) -> str:
    if host_bound or capacity.verdict in UNNAMED:
        return "unknown"  # no limit was met, or one that is not the target's
    most = max(uses, key=lambda use: use.share, default=None)
    return most.resource if most is not None and most.share >= NEAR else "unknown"


def _deciding_step(capacity: Capacity, steps: Sequence[StepResult]) -> StepResult | None:
    """Choose the step that shows the limit: the lightest that failed, or else the heaviest."""
    by_index = {step.plan.index: step for step in steps}
    judged = sorted(capacity.steps, key=lambda judged_load: judged_load.load)
    failed = [
        judged_load for judged_load in judged if not judged_load.passed and judged_load.consistent
    ]
    chosen = failed[0] if failed else (judged[-1] if judged else None)
    if chosen is None:
        return None
    chosen_steps = [
        by_index[s.index] for s in chosen.steps if s.index is not None and s.index in by_index
    ]
    with_figures = [step for step in chosen_steps if step.target is not None]
    best = with_figures or chosen_steps
    return best[-1] if best else None


def _storage(target: TargetFigures | None, volume: VolumeLimits | None) -> list[Use]:
    if target is None:
        return []
    uses = []
    if target.read_iops is not None and target.write_iops is not None:
        iops = target.read_iops + target.write_iops
        limit = _iops_limit(target, volume)
        if limit:
            waiting = words.rate(target.queue)
            queue = "" if target.queue is None else f", {waiting} of them waiting"
            share = iops / limit
            text = f"{words.rate(iops)} of {words.number(limit)} IOPS ({words.percent(share)})"
            uses.append(Use("storage", share, f"storage: {text}{queue}"))
    if target.read_mib_s is not None and target.write_mib_s is not None:
        mib_s = target.read_mib_s + target.write_mib_s
        if volume is not None and volume.throughput_mib_s:
            share = mib_s / volume.throughput_mib_s
            text = f"{words.rate(mib_s)} of {words.number(volume.throughput_mib_s)} MiB/s"
            uses.append(Use("storage", share, f"storage: {text} ({words.percent(share)})"))
    for percent, name in (
        (target.ebs_io_balance_percent, "I/O"),
        (target.ebs_byte_balance_percent, "throughput"),
    ):
        if percent is not None and percent < 100:
            left = words.percent(percent / 100)
            text = f"storage: the instance's own {name} credits fell to {left}"
            uses.append(Use("storage", 1 - percent / 100, text))
    return uses


def _storage_by_server(step: StepResult, volume: VolumeLimits | None) -> list[Use]:
    """Take the I/O from the server's own counters, where CloudWatch has no points of the step.

    They are read before the clients come and after the last has gone. So their mean is the least
    that the storage did under load, and names it only where even that is near its limit. Whether
    credits of a burst were left, they do not tell: the rate that it has with credits is its limit.
    """
    before = step.plan.server_before
    if step.server is None or before is None or volume is None:
        return []
    rates = family_of(before.family).storage_rates(step.server)
    if rates is None:
        return []
    source = (
        "from the server's counters, over"
        f" {words.duration(rates.interval_s)} with the start of its clients"
    )
    iops_limit = volume.baseline_iops if volume.burst_credits is None else volume.burst_iops
    return [
        Use("storage", share, f"storage: {text} ({words.percent(share)}), {source}")
        for done, limit, unit in (
            (rates.iops, iops_limit, "IOPS"),
            (rates.mib_s, volume.throughput_mib_s, "MiB/s"),
        )
        if limit
        for share in [done / limit]
        for text in [f"at least {words.rate(done)} of {words.number(limit)} {unit}"]
    ]


def _iops_limit(target: TargetFigures, volume: VolumeLimits | None) -> float | None:
    """Give the rate in force: the burst's while credits lasted, then the baseline's."""
    if volume is None:
        return None
    spent = target.burst_balance_percent is not None and target.burst_balance_percent < 1
    return volume.baseline_iops if spent or volume.burst_credits is None else volume.burst_iops


def _cpu(target: TargetFigures | None) -> list[Use]:
    if target is None or target.cpu_percent is None:
        return []
    text = f"cpu: {words.percent(target.cpu_percent / 100)} of the server's"
    return [Use("cpu", target.cpu_percent / 100, text)]


def _server(step: StepResult) -> list[str]:
    before = step.plan.server_before
    if step.server is None or before is None:
        return []
    return family_of(before.family).signs_of_limits(step.server)
