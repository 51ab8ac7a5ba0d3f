"""The phases of a run: picks the next pass, and summarizes each phase.

A phase with a search is planned and judged as the run's own search is.
"""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.capacity.judge import judge
from plimsoll.capacity.statistics.intervals import compute_interval
from plimsoll.capacity.steps.audits import audit_clients_ran
from plimsoll.capacity.steps.loads import explain_dispute, select_undisputed
from plimsoll.errors import UsageError
from plimsoll.fleet.phase_plan import plan_pass
from plimsoll.limiting import find_limiting_resource
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import FinishedStep
from plimsoll.model.request.phases import (
    Completion,
    Pass,
    Phase,
    compute_records_per_operation,
    passes,
)
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ServerCounters, StepPlan
from plimsoll.model.run.results import LimitingResource, PhaseLoad, PhaseResult, StepResult
from plimsoll.report.comparing.ratios import WORTH
from plimsoll.report.words import describe_limiting
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.search_steps import conclude_search

# A pass ends when its records are done; neither latency nor steadiness counts against it.
RULES = Rules(deterioration=1e9, confirmation=None, audits_off=frozenset({"steady_state", "drift"}))


def find_next_pass(phase: Phase, request: Request, finished: Sequence[FinishedStep]) -> Pass | None:
    """Return the next pass of a phase; None if all are done."""
    done = {one.step.index for one in finished}
    own = (one for one in passes(request.phases) if one.phase.name == phase.name)
    return next((one for one in own if one.index not in done), None)


def plan_phase_pass(
    coming: Pass, checked: CheckedRequest, before: ServerCounters | None, *, poll_us: int = 0
) -> StepPlan:
    """Plan a pass.

    Args:
        coming: The pass.
        checked: The run's request.
        before: The server's counters before it; None if the server did not answer.
        poll_us: How long clients busy-poll if the request does not say, in µs.
    """
    operations = checked.of_phase(coming.phase.name).engine.operations
    each = compute_records_per_operation(operations)
    return plan_pass(
        coming, checked.request, records_each=each, server_before=before, poll_us=poll_us
    )


def summarize_phases(
    checked: CheckedRequest, steps: Sequence[StepResult], volume: VolumeLimits | None
) -> tuple[PhaseResult, ...]:
    """Summarize each phase that has begun.

    Args:
        checked: The run's request.
        steps: The passes that have ended, in order.
        volume: The documented limits of the target's volume; None if not known.
    """
    found = []
    for phase in checked.request.phases:
        own = [step for step in steps if step.plan.phase == phase.name]
        if own and phase.to_completion is not None:
            completion = phase.to_completion
            found.append(_summarize_completion(checked.request, phase, completion, own, volume))
        elif own:
            found.append(_summarize_search(checked, phase, own, volume))
    return tuple(found)


def _name_workload(request: Request, phase: Phase) -> str:
    return phase.workload_on(request.workload).name or "a workload of its own"


def _summarize_completion(
    request: Request,
    phase: Phase,
    asked: Completion,
    steps: Sequence[StepResult],
    volume: VolumeLimits | None,
) -> PhaseResult:
    loads = [
        _summarize_load(at_load, volume)
        for connections in asked.connections
        if (at_load := [step for step in steps if step.plan.connections == connections])
    ]
    return PhaseResult(
        name=phase.name,
        workload=_name_workload(request, phase),
        records=asked.records,
        loads=tuple(loads),
        sentence=describe_phase(asked, loads),
    )


def _summarize_search(
    checked: CheckedRequest,
    phase: Phase,
    steps: Sequence[StepResult],
    volume: VolumeLimits | None,
) -> PhaseResult:
    """Judge the steps of a phase's search as those of a run's own search."""
    asked = checked.search_request(phase.name)
    capacity, limit = None, None
    told = "it ended before its search could be judged"
    try:
        capacity, limiting = conclude_search(asked, steps, volume)
    except UsageError:  # every step so far is void
        pass
    else:
        limit = describe_limiting(limiting)
        told = f"{capacity.summary}; {limit}"
    return PhaseResult(
        name=phase.name,
        workload=_name_workload(checked.request, phase),
        records=None,
        loads=(),
        steps=tuple(step.plan.index for step in steps),
        capacity=capacity,
        limit=limit,
        sentence=told,
    )


def _summarize_load(steps: Sequence[StepResult], volume: VolumeLimits | None) -> PhaseLoad:
    rates = [compute_records_per_second(step) for step in steps]
    between = compute_interval([rate for rate in rates if rate])
    limiting = _find_limiting(
        [s for s in steps if compute_records_per_second(s) is not None], volume
    )
    plan = steps[0].plan
    return PhaseLoad(
        connections=plan.connections,
        clients=plan.clients,
        steps=tuple(step.plan.index for step in steps),
        records_per_second=tuple(rates),
        low_records_per_second=between.low_ops_per_second if between else None,
        high_records_per_second=between.high_ops_per_second if between else None,
        unfinished=sum(
            compute_records_per_second(s) is not None and not is_finished(s) for s in steps
        ),
        errors=sum(step.step.errors or 0 for step in steps),
        resource=limiting.resource if limiting else None,
        reached=bool(limiting and limiting.reached),
        limit=None if limiting is None else describe_limit(limiting),
        doubt=_describe_doubt(steps),
    )


def _describe_doubt(steps: Sequence[StepResult]) -> str | None:
    """Return which passes were left out, which a search would have repeated, and why."""
    left_out = [step.step for step in steps if compute_records_per_second(step) is None]
    counted = [step.step for step in steps if compute_records_per_second(step) is not None]
    disputed = [step for step in counted if not select_undisputed([step], RULES)]
    of_all, parts = words.format_count(len(steps), "pass", "passes"), []
    if left_out:
        why = left_out[0].refused or explain_dispute(left_out, RULES) or "nothing was measured"
        parts.append(f"{len(left_out)} of {of_all} left out ({why})")
    if disputed:
        parts.append(f"{len(disputed)} of {of_all} in doubt ({explain_dispute(disputed, RULES)})")
    return ", ".join(parts) or None


def compute_records_per_second(step: StepResult) -> float | None:
    """Return a pass's throughput in records per second; None if the pass measured nothing usable.

    A pass with missing clients is not usable: it had fewer connections than it would be reported
    with.
    """
    part = step.step.refused is not None or audit_clients_ran(step.step).passed is False
    if step.step.void is not None or not step.step.window_s or part:
        return None
    return sum(totals.records for totals in step.operations.values()) / step.step.window_s


def is_finished(step: StepResult) -> bool:
    """Return whether a pass came to its last operation; failed ones count."""
    return (step.step.operations or 0) + (step.step.errors or 0) >= (step.plan.operations or 0)


def _find_limiting(
    steps: Sequence[StepResult], volume: VolumeLimits | None
) -> LimitingResource | None:
    """Find what set the limit at one load; passes run closed-loop at full speed."""
    measured = [step.step for step in steps if step.step.throughput_ops_per_second]
    if not measured:
        return None
    capacity = judge(measured, RULES, axis="connections")
    return find_limiting_resource(capacity, steps, volume, flat_out=True)


def describe_limit(limiting: LimitingResource) -> str:
    """Describe what set the limit; if nothing was at its limit, the number of connections did."""
    if limiting.reached or limiting.resource == "unknown":
        return describe_limiting(limiting)
    near = "" if limiting.share is None else f", {words.format_percent(limiting.share)}"
    nearest = f"nearest: {words.RESOURCES[limiting.resource]}{near}"
    return f"nothing was at its limit: its connections did not push harder ({nearest})"


def describe_phase(asked: Completion, loads: Sequence[PhaseLoad]) -> str:
    """Describe how many records a second a phase reached, and whether more connections gain more.

    Args:
        asked: The records it had to complete, and the loads to try.
        loads: The loads that were tried, ascending.
    """
    told = [(load, load.middle_records_per_second) for load in loads]
    measured = [(load, middle) for load, middle in told if middle]
    doubts = [
        f"{words.format_load(load.connections, 'connections')}: {load.doubt}"
        for load in loads
        if load.doubt is not None
    ]
    if not measured:
        return "; ".join(["no pass says anything", *doubts])
    best, most = max(measured, key=lambda each: each[1])
    text = (
        f"{words.format_rate(most)} records/s with"
        f" {words.format_load(best.connections, 'connections')}"
    )
    if best.low_records_per_second is not None and best.high_records_per_second is not None:
        low, high = best.low_records_per_second, best.high_records_per_second
        text += f" (95 % {words.format_rate(low)} to {words.format_rate(high)})"
    (first, least), (last, end) = measured[0], measured[-1]
    if first is not best:
        text += (
            f", {words.format_ratio(most / least)} times those with"
            f" {words.format_number(first.connections)}"
        )
    if len(measured) > 1:
        step_up = end / measured[-2][1]
        more = "pushing harder may gain more" if step_up > WORTH else "pushing harder gains no more"
        text += f"; {more} ({words.format_ratio(step_up)} times in the last step up)"
    text += f"; {last.limit}" if last.limit else ""
    unfinished = sum(load.unfinished for load in loads)
    if unfinished:
        longest = words.format_duration(asked.longest_s)
        text += f"; {words.format_count(unfinished, 'pass', 'passes')} cut off after {longest}"
    return "; ".join([text, *doubts])
