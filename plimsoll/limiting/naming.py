"""Ranks all measured resources: which one is the limit, and which comes second.

If several are at their limits, the one that explains the others ranks first: refused connections or
a disturbance, then an exhausted device, then what operations wait for while no device is full. If
none is at its limit, the nearest is reported as just that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.credits import CREDITS, is_burst
from plimsoll.databases.family import find_family
from plimsoll.limiting import processors, server, storage
from plimsoll.limiting.seen import Seen, judge_each_node
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.verdicts import find_verdict_facts
from plimsoll.model.run.results import Candidate, LimitingResource, StepResult

TOLD_FROM = 0.01  # smallest part of the threshold that is reported
_STORAGE = (
    judge_each_node(storage.judge_iops, "IOPS"),
    judge_each_node(storage.judge_throughput, "throughput"),
    judge_each_node(storage.judge_io_credits, "last I/O credits"),
    judge_each_node(storage.judge_byte_credits, "last throughput credits"),
)
_CPU_OF_NODES = judge_each_node(processors.judge_cpu, "CPU")
_WAITS = (
    server.judge_row_locks,
    server.judge_table_locks,
    server.judge_inner_locks,
    server.judge_buffer_pool,
    server.judge_log,
    storage.judge_log_flushes,
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


def find_limiting_resource(
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
    step = choose_deciding_step(capacity, steps)
    lightest = _choose_lightest(capacity, steps)
    if volume is not None and _needs_credits_above(capacity):
        # The sustained throughput has no burst
        volume = volume.model_copy(update={"burst_credits": None})
    seen = None if step is None else Seen(step, volume, lightest)
    found = [*_rank_clients(capacity, step), *_rank_disturbance(capacity, step)]
    found += [] if seen is None else _find_candidates(seen)
    ranked = [one.candidate for one in sorted(found, key=lambda one: one.place, reverse=True)]
    known = [one for one in ranked if one.share is not None or one.reached]
    if seen is not None and seen.lacks_devices and not any(one.reached for one in known):
        known = []  # an unmeasured resource may be nearer to its limit than these
    first = known[0] if known else None
    others = (one for one in known[1:] if _is_reported(one) and one.resource != known[0].resource)
    second = next(others, None)
    evidence = [one.evidence for one in ranked if _is_reported(one)]
    evidence = (
        [*_list_unmeasured(seen), *evidence] if not known else [*evidence, *_list_unmeasured(seen)]
    )
    evidence += _list_signs(step)
    limit_met = find_verdict_facts(capacity.verdict).limit is not None
    return LimitingResource(
        resource=first.resource if first else "unknown",
        reached=bool(first and first.reached and (flat_out or limit_met)),
        share=first.share if first else None,
        to_change=first.to_change if first else None,
        second=second,
        host_bound=None if seen is None else _is_host_bound(seen),
        step=None if step is None else step.plan.index,
        evidence=tuple(evidence),
    )


def _find_candidates(seen: Seen) -> list[_Ranked]:
    """Return all candidates for the limit in a step, each with its figures.

    Candidates at their limits in an earlier tier explain those in a later one.
    """
    on_one_machine = seen.target.host_idle_percent is not None  # then all nodes share the CPUs
    cpu = (processors.judge_cpu if on_one_machine else _CPU_OF_NODES,)
    devices = (_STORAGE, cpu) if storage.is_most_waiting_for_volume(seen) else ((*_STORAGE, *cpu),)
    disk = (processors.judge_machine_disk,)
    # With a full CPU, I/O seems slow too: a process sees its completion only once it gets the CPU
    disk_first, disk_last = ((), disk) if processors.is_cpu_full(seen) else (disk, ())
    tiers = (
        (server.judge_connections,),
        disk_first,
        *devices,
        (processors.judge_machine_cpu,),
        disk_last,
        _WAITS,
    )
    return [
        _Ranked(tier, candidate)
        for tier, resources in enumerate(tiers)
        for resource in resources
        if (candidate := resource(seen)) is not None
    ]


def _is_reported(candidate: Candidate) -> bool:
    """Return whether a candidate is worth a line; one that nothing waited for is not."""
    share = candidate.share
    return candidate.reached or share is None or share / candidate.threshold >= TOLD_FROM


def _rank_clients(capacity: Capacity, step: StepResult | None) -> list[_Ranked]:
    """Return the clients: the limit if the verdict says so, otherwise by how busy they were."""
    busy = None if step is None else step.step.client_busy
    bound = capacity.verdict == "CLIENT_BOUND"
    if busy is None and not bound:
        return []
    text = (
        capacity.summary
        if bound
        else f"clients: the busiest was busy {words.format_percent(busy)} of the time"
    )
    client = Candidate(
        resource="client",
        share=busy,
        threshold=capacity.rules.client_busy_max,
        reached=bound,
        evidence=text,
        to_change="more load clients for the same load",
    )
    return [_Ranked(0, client)]


def _rank_disturbance(capacity: Capacity, step: StepResult | None) -> list[_Ranked]:
    """Return the disturbance by other programs if it decided the verdict."""
    if not capacity.disturbed:
        return []
    of_client = step is not None and step.step.client_waiting_percent is not None
    work = Candidate(
        resource="client" if of_client else "machine",
        share=None,
        threshold=1.0,
        reached=True,
        evidence=capacity.summary,
        to_change="run again on an idle machine",
    )
    return [_Ranked(0, work)]


def _is_host_bound(seen: Seen) -> bool | None:
    disk = processors.judge_machine_disk(seen)
    return None if disk is None else disk.reached


def choose_deciding_step(capacity: Capacity, steps: Sequence[StepResult]) -> StepResult | None:
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
    if _needs_credits_above(capacity):
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


def _needs_credits_above(capacity: Capacity) -> bool:
    """Return whether the loads above the sustained one pass only on credits."""
    return capacity.cause == CREDITS and capacity.verdict != "BURST"


def _choose_lightest(capacity: Capacity, steps: Sequence[StepResult]) -> StepResult | None:
    """Return a step of the lightest load, which shows what operations cost on their own."""
    judged = min(capacity.steps, key=lambda judged_load: judged_load.load, default=None)
    indexes = set() if judged is None else {one.index for one in judged.steps}
    return next((step for step in steps if step.plan.index in indexes), None)


def _list_signs(step: StepResult | None) -> list[str]:
    if step is None or step.server is None or step.plan.server_before is None:
        return []
    return find_family(step.plan.server_before.family).signs_of_limits(step.server)


def _list_unmeasured(seen: Seen | None) -> list[str]:
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
    return [
        f"the target's own metrics could not be read, so its {names} {not_excluded} as the limit"
    ]
