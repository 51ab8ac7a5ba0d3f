"""Ranks all measured resources: which one is the limit, and which comes second.

If several are at their limits, the one that explains the others ranks first: refused connections or
a disturbance, then an exhausted device, then what operations wait for while no device is full. If
none is at its limit, the nearest is reported as just that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.credits import CREDITS, is_burst
from plimsoll.databases.family import family_of
from plimsoll.limiting import processors, server, storage
from plimsoll.limiting.seen import Seen, of_nodes
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.verdicts import verdict_facts
from plimsoll.model.run.results import Candidate, LimitingResource, StepResult

TOLD_FROM = 0.01  # smallest part of the threshold that is reported
_STORAGE = (
    of_nodes(storage.storage_iops, "IOPS"),
    of_nodes(storage.storage_throughput, "throughput"),
    of_nodes(storage.io_credits, "last I/O credits"),
    of_nodes(storage.byte_credits, "last throughput credits"),
)
_CPU_OF_NODES = of_nodes(processors.cpu, "CPU")
_WAITS = (
    server.row_locks,
    server.table_locks,
    server.inner_locks,
    server.buffer_pool,
    server.log,
    storage.storage_latency,
)


@dataclass(frozen=True)
class _Ranked:
    tier: int
    candidate: Candidate

    @property
    def place(self) -> tuple[bool, int, float]:
        """Sort key: candidates that explain the limit best sort last."""
        one = self.candidate
        nearness = (one.share or 0.0) / one.threshold
        return one.reached, -self.tier if one.reached else 0, nearness


def limiting_resource(
    capacity: Capacity,
    steps: Sequence[StepResult],
    volume: VolumeLimits | None,
    *,
    flat_out: bool = False,
) -> LimitingResource:
    """Return the resource that is the limit, or nearest to its limit.

    Args:
        capacity: verdict of the run.
        steps: every step, with the target's figures.
        volume: limits of the target's volume; None if unknown.
        flat_out: whether the load was as fast as possible, so that a resource at its limit is the
            limit even if no step failed.
    """
    step = deciding_step(capacity, steps)
    lightest = _lightest(capacity, steps)
    if volume is not None and _ends_on_credits(capacity):
        # The sustained throughput has no burst
        volume = volume.model_copy(update={"burst_credits": None})
    seen = None if step is None else Seen(step, volume, lightest)
    found = [*_client(capacity, step), *_disturbed(capacity, step)]
    found += [] if seen is None else _found(seen)
    ranked = [one.candidate for one in sorted(found, key=lambda one: one.place, reverse=True)]
    known = [one for one in ranked if one.share is not None or one.reached]
    if seen is not None and seen.lacks_devices and not any(one.reached for one in known):
        known = []  # an unmeasured resource may be nearer to its limit than these
    first = known[0] if known else None
    others = (one for one in known[1:] if _is_told(one) and one.resource != known[0].resource)
    second = next(others, None)
    evidence = [one.evidence for one in ranked if _is_told(one)]
    evidence = [*_lacking(seen), *evidence] if not known else [*evidence, *_lacking(seen)]
    evidence += _signs(step)
    limit_met = verdict_facts(capacity.verdict).limit is not None
    return LimitingResource(
        resource=first.resource if first else "unknown",
        reached=bool(first and first.reached and (flat_out or limit_met)),
        share=first.share if first else None,
        to_change=first.to_change if first else None,
        second=second,
        host_bound=None if seen is None else _host_bound(seen),
        step=None if step is None else step.plan.index,
        evidence=tuple(evidence),
    )


def _found(seen: Seen) -> list[_Ranked]:
    """Return all candidates for the limit in a step, each with its figures.

    Candidates at their limits in an earlier tier explain those in a later one.
    """
    on_one_machine = seen.target.host_idle_percent is not None  # then all nodes share the CPUs
    cpu = (processors.cpu if on_one_machine else _CPU_OF_NODES,)
    devices = (_STORAGE, cpu) if storage.holds_most_operations(seen) else ((*_STORAGE, *cpu),)
    disk = (processors.machine_disk,)
    # With a full CPU, I/O seems slow too: a process sees its completion only once it gets the CPU
    disk_first, disk_last = ((), disk) if processors.full(seen) else (disk, ())
    tiers = (
        (server.connections,),
        disk_first,
        *devices,
        (processors.machine_processors,),
        disk_last,
        _WAITS,
    )
    return [
        _Ranked(tier, candidate)
        for tier, resources in enumerate(tiers)
        for resource in resources
        if (candidate := resource(seen)) is not None
    ]


def _is_told(candidate: Candidate) -> bool:
    """Return whether a candidate is worth a line; one that nothing waited for is not."""
    share = candidate.share
    return candidate.reached or share is None or share / candidate.threshold >= TOLD_FROM


def _client(capacity: Capacity, step: StepResult | None) -> list[_Ranked]:
    """Return the clients: the limit if the verdict says so, otherwise by how busy they were."""
    busy = None if step is None else step.step.client_busy
    bound = capacity.verdict == "CLIENT_BOUND"
    if busy is None and not bound:
        return []
    text = capacity.summary if bound else f"clients: the busiest was busy {words.percent(busy)}"
    client = Candidate(
        resource="client",
        share=busy,
        threshold=capacity.rules.client_busy_max,
        reached=bound,
        evidence=text,
        to_change="more load clients for the same load",
    )
    return [_Ranked(0, client)]


def _disturbed(capacity: Capacity, step: StepResult | None) -> list[_Ranked]:
    """Return the disturbance by other programs if it decided the verdict."""
    if capacity.verdict != "DISTURBED":
        return []
    of_client = step is not None and step.step.client_waiting_percent is not None
    work = Candidate(
        resource="client" if of_client else "machine",
        share=None,
        threshold=1.0,
        reached=True,
        evidence=capacity.summary,
        to_change="nothing but the hour: measure again while the machine is idle",
    )
    return [_Ranked(0, work)]


def _host_bound(seen: Seen) -> bool | None:
    disk = processors.machine_disk(seen)
    return None if disk is None else disk.reached


def deciding_step(capacity: Capacity, steps: Sequence[StepResult]) -> StepResult | None:
    """Return the step that shows the limit: the lightest that failed, otherwise the heaviest.

    If the answer's load failed in the soak, it is the last window of the soak. A load that passed
    only on credits shows no limit of the sustained throughput; if the next heavier load did so, the
    heaviest sustained load is nearest to the limit.
    """
    if capacity.verdict == "NOT_SUSTAINED":
        held = [s for s in steps if s.plan.purpose == "soak" and s.step.void is None]
        return held[-1] if held else None
    by_index = {step.plan.index: step for step in steps}
    judged = sorted(capacity.steps, key=lambda judged_load: judged_load.load)
    if capacity.verdict != "BURST":
        judged = [judged_load for judged_load in judged if not is_burst(judged_load)]
    if _ends_on_credits(capacity):
        judged = [judged_load for judged_load in judged if judged_load.passed]
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


def _ends_on_credits(capacity: Capacity) -> bool:
    """Return whether the loads above the sustained one pass only on credits."""
    return capacity.cause == CREDITS and capacity.verdict != "BURST"


def _lightest(capacity: Capacity, steps: Sequence[StepResult]) -> StepResult | None:
    """Return a step of the lightest load, which shows what operations cost on their own."""
    judged = min(capacity.steps, key=lambda judged_load: judged_load.load, default=None)
    indexes = set() if judged is None else {one.index for one in judged.steps}
    return next((step for step in steps if step.plan.index in indexes), None)


def _signs(step: StepResult | None) -> list[str]:
    if step is None or step.server is None or step.plan.server_before is None:
        return []
    return family_of(step.plan.server_before.family).signs_of_limits(step.server)


def _lacking(seen: Seen | None) -> list[str]:
    """List what was not measured and therefore cannot be the result."""
    if seen is None:
        return ["no step was judged"]
    target = seen.target
    unseen = [] if target.cpu_percent is not None else ["CPU"]
    unseen += [] if (target.read_iops, target.write_iops) != (None, None) else ["I/O"]
    if not unseen:
        return []
    names = " and its ".join(unseen)
    not_excluded = "is not excluded" if len(unseen) == 1 else "are not excluded"
    return [f"the target's own figures could not be read: its {names} {not_excluded} as the limit"]
