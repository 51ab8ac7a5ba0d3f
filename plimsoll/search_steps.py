"""The steps of a search: when one may begin, and what all of them say at the end.

Two drivers search by the same functions, each of which decides from its arguments alone:
`load_line/search_loop.py` in this process, and on AWS the states of the workflow
(`workflow/plan_step.py`, `judge_step.py` and `conclude.py`). A driver keeps the finished steps,
reads clocks and counters, and runs the clients. For each step it calls, in this order:

- `plan_run_step` (capacity/beside.py): which load comes next, or that the search is over
- `plan_step` (fleet/plan.py): what its clients do
- `prepare_step`: whether it may begin yet; a target that was overloaded is waited for, and so is a
  machine that other programs keep busy
- `plan_fill`: how long it fills the server's log before its window (`capacity/steps/debt.py`)
- `shorten_window`, if time or budget is too short for it
- `build_step` (fleet/step.py): what the clients and the server measured
- `check_sense` and `require_sense` (fleet/sense.py): whether it is void, and whether the search can
  go on

and at the end `conclude_search` and `compare_toggle_states`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.beside import measure_background_cost
from plimsoll.capacity.conditions import dispute_by_conditions
from plimsoll.capacity.confirm.toggled import judge_toggle
from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.search import find_axis
from plimsoll.capacity.steps.audits import audit_disturbance
from plimsoll.capacity.steps.debt import FILL_LEAST_S, began_filled, plan_fill_s
from plimsoll.databases.family import find_family
from plimsoll.limiting import find_limiting_resource
from plimsoll.machine import MachineLoad
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.closing import Closing
from plimsoll.model.judging.debt import FILL_CONNECTIONS
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.load_request import compute_longest_load_s
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import (
    NextStep,
    RateSearch,
    count_most_connections,
)
from plimsoll.model.request.toggle import ToggleResult, map_addresses_by_state
from plimsoll.model.run.fleet import ServerCounters, StepPlan, UnfinishedWork
from plimsoll.model.run.results import CheckedCondition, LimitingResource, StepResult
from plimsoll.model.run.run_record import BusyMachine, Recovery

STILL_S = 10  # a backlog that has not shrunk for so long will not shrink
MOVED_SHARE = 0.01  # a smaller decrease, as a share of what is left, is no progress


def prepare_step(
    plan: StepPlan,
    following: NextStep,
    request: Request,
    *,
    counters: ServerCounters | None,
    waiting: Recovery | None,
    at_epoch_ms: int,
    machine: MachineLoad | None = None,
    busy: BusyMachine | None = None,
    finished: Sequence[Step] = (),
) -> StepPlan | Recovery | BusyMachine | None:
    """Add to a plan what the server says before the step, once it has recovered from the last one.

    Args:
        plan: The step.
        following: What the search asked for.
        request: The request of the search.
        counters: The server's counters; None if it does not answer.
        waiting: The wait for its recovery so far; None if it has not begun.
        at_epoch_ms: The current time.
        finished: The finished steps. If some filled the log, a sentinel waits until it is written
            back, as before the first step, with which it is compared.
        machine: What keeps this machine busy at the moment; None if it is not to be waited for.
        busy: The wait for it so far; None if it has not begun.

    Returns:
        The plan. If the target still recovers, or other programs keep this machine busy, the wait
        so far: call again with it a moment later. None if the search ends here, because the server
        no longer answers before a closing step, without which the answer stands.
    """
    if counters is None and plan.purpose in CLOSING:
        return None
    ended = Recovered(recovered=None, how=None)
    after_filling = plan.purpose == "sentinel" and any(map(began_filled, finished))
    if following.recover_first or after_filling:
        if counters is None:
            work: UnfinishedWork | None = UnfinishedWork(what="it does not answer")
        else:
            work = find_family(counters.family).find_unfinished_work(counters)
            if work is None and after_filling:
                work = _find_owed_work(counters)
        if work is None:
            ended = Recovered(recovered=True, how=None)
        else:
            waiting = update_recovery(waiting, work, at_epoch_ms)
            waited = end_recovery(waiting, request.load.recovery_max_s)
            if waited is None:
                return waiting
            ended = waited
    calm_waited_s = (at_epoch_ms - busy.since_epoch_ms) / 1000 if busy is not None else 0.0
    problem = None if machine is None else explain_busy_machine(machine, finished)
    if problem is not None:
        waited_s = calm_waited_s + sum(step.calm_waited_s or 0 for step in finished)
        if waited_s < request.load.calm_max_s:
            since = at_epoch_ms if busy is None else busy.since_epoch_ms
            return BusyMachine(what=problem, since_epoch_ms=since, seen_epoch_ms=at_epoch_ms)
    return plan.model_copy(
        update={
            "server_before": counters,
            "recovered": ended.recovered,
            "recovery": ended.how,
            "calm_waited_s": calm_waited_s,
        }
    )


def _find_owed_work(counters: ServerCounters) -> UnfinishedWork | None:
    """Return what a filled log leaves to write back; None if it is less than half full."""
    debt = find_family(counters.family).write_debt(counters)
    if debt is None or debt.owed_bytes <= debt.limit_bytes / 2:
        return None
    share = words.format_percent(debt.owed_bytes / debt.limit_bytes)
    return UnfinishedWork(
        what=f"{share} of the log wait for their pages to be written", left=debt.owed_bytes
    )


def plan_fill(
    plan: StepPlan, request: Request, finished: Sequence[Step], *, least_s: float = FILL_LEAST_S
) -> StepPlan:
    """Add to a plan how long it may fill the server's log before its window, and how hard.

    A database that others use gets no heavier load than the request allows: never more connections
    than its heaviest step, and no filling where rates are bounded.

    Args:
        plan: The step, with the server's counters before it.
        request: The request of the search.
        finished: The finished steps of the search.
        least_s: The time that it may always take; 0 where it cannot end as soon as the log is full.
    """
    connections = FILL_CONNECTIONS
    if isinstance(request.target, EndpointTarget):
        searches = [request.search, *(phase.search for phase in request.phases if phase.search)]
        if any(isinstance(search, RateSearch) for search in searches):
            return plan
        connections = min(connections, max(map(count_most_connections, searches)))
    counters = plan.server_before
    debt = None if counters is None else find_family(counters.family).write_debt(counters)
    load_s = plan.warmup_s + plan.duration_s
    room_s = compute_longest_load_s(plan.clients_in_all) - load_s
    fill_s = min(
        plan_fill_s(plan.purpose, finished, debt, load_s, least_s=least_s), max(0.0, room_s)
    )
    return plan.model_copy(update={"fill_s": fill_s, "fill_connections": connections})


@dataclass(frozen=True)
class Recovered:
    """How a wait for recovery ended."""

    recovered: bool | None  # None if there was no overload to recover from
    how: str | None  # description; None if no work was left


def update_recovery(before: Recovery | None, work: UnfinishedWork, at_epoch_ms: int) -> Recovery:
    """Update the recovery with a new look at the target's unfinished work."""
    what, left = work.what, work.left
    # Another kind of work starts a new wait.
    known = before if before is not None and (before.left is None) == (left is None) else None
    if known is None:
        since = before.since_epoch_ms if before is not None else at_epoch_ms
        moved = at_epoch_ms
    else:
        since, moved = known.since_epoch_ms, known.moved_epoch_ms
        if left is not None and known.left is not None:
            if left < known.left * (1 - MOVED_SHARE):
                moved = at_epoch_ms
            else:
                left = known.left  # keep the value of the last progress to compare with
    return Recovery(
        what=what, left=left, since_epoch_ms=since, moved_epoch_ms=moved, seen_epoch_ms=at_epoch_ms
    )


def end_recovery(seen: Recovery, longest_s: float) -> Recovered | None:
    """Return how the wait ended; None if it goes on."""
    waited_s = (seen.seen_epoch_ms - seen.since_epoch_ms) / 1000
    still_s = (seen.seen_epoch_ms - seen.moved_epoch_ms) / 1000
    if seen.left is not None and still_s >= STILL_S:
        unchanged = f"nothing moved for {words.format_duration(round(still_s))}: {seen.what}"
        return Recovered(recovered=True, how=unchanged)
    if waited_s >= longest_s:
        return Recovered(
            recovered=False, how=f"after {words.format_duration(round(waited_s))}, {seen.what}"
        )
    return None


def describe_recovery(seen: Recovery, longest_s: float) -> str:
    """Describe what is waited for, and for how long so far."""
    waited = words.format_duration(round((seen.seen_epoch_ms - seen.since_epoch_ms) / 1000))
    return (
        f"the target recovers: {seen.what} ({waited} so far, {words.format_duration(longest_s)} at"
        " most)"
    )


def waits_for_machine(request: Request) -> bool:
    """Return whether a search waits while other programs keep this machine busy."""
    return request.load.calm_max_s > 0 and "undisturbed" not in request.limits.audits_off


def explain_busy_machine(machine: MachineLoad, finished: Sequence[Step]) -> str | None:
    """Describe what keeps this machine too busy for a step; None if nothing does.

    It is judged as steps are. But much of a machine is idle before a load: once a step was
    disturbed, idle CPUs no longer excuse other processes.
    """
    disturbed = any(audit_disturbance(step).passed is False for step in finished)
    look = Step(
        clients=1,
        host_stolen_percent=machine.stolen_percent,
        host_others_percent=machine.others_percent,
        host_idle_percent=0.0 if disturbed else machine.idle_percent,
    )
    audit = audit_disturbance(look)
    if audit.passed is not False:
        return None
    busiest = f" (the busiest: {', '.join(machine.busiest)})" if machine.busiest else ""
    return f"{audit.detail}{busiest}"


def describe_busy_machine(seen: BusyMachine, longest_s: float) -> str:
    """Describe what keeps this machine busy, and for how long that has been waited for."""
    waited = words.format_duration(round((seen.seen_epoch_ms - seen.since_epoch_ms) / 1000))
    return (
        f"waiting, {seen.what} ({waited} so far; {words.format_duration(longest_s)} in all at most)"
    )


def shorten_window(plan: StepPlan, request: Request) -> StepPlan | None:
    """Return a step with the request's own window, if time or budget is too short for a longer one.

    The plan keeps the `window_factor` that the search asked for, so that it does not ask for the
    same again.

    Returns:
        None if the step has no longer window, or if it is a closing step: the answer stands without
        it, and its figures are compared with those of equal windows.
    """
    if plan.window_factor == 1 or plan.purpose in CLOSING:
        return None
    usual = {"warmup_s": request.load.warmup_s, "duration_s": request.load.duration_s}
    return plan.model_copy(update=usual)


def conclude_search(
    request: Request,
    steps: Sequence[StepResult],
    volume: VolumeLimits | None,
    conditions: Sequence[CheckedCondition] = (),
) -> tuple[Capacity, LimitingResource]:
    """Judge the steps of a search, and name the resource that set the limit.

    Args:
        request: The request of the search.
        steps: The steps, with the target's own figures where they are known.
        volume: The documented limits of the target's volume; None if not known.
        conditions: What was found of the workload's conditions; a broken one disputes the answer.

    Raises:
        UsageError: The steps cannot be judged.
    """
    measured = [step.step for step in steps]
    capacity = judge_sustained(measured, request.limits, axis=find_axis(request.search))
    cost = measure_background_cost(request, measured)
    if cost is not None:
        closing = (capacity.closing or Closing()).model_copy(update={"background": cost})
        capacity = capacity.model_copy(update={"closing": closing})
    capacity = dispute_by_conditions(capacity, conditions)
    limiting = find_limiting_resource(capacity, steps, volume)
    return capacity.model_copy(update={"limiting_resource": limiting.resource}), limiting


def compare_toggle_states(
    request: Request, steps: Sequence[StepResult], readings: Mapping[str, Mapping[str, str]]
) -> ToggleResult | None:
    """Return what the pairs of steps say of a toggle's states; None without a toggle.

    Args:
        request: The request of the search.
        steps: The steps of the search.
        readings: The parameters that the server reported, by state.
    """
    if request.toggle is None:
        return None
    return judge_toggle(
        request.toggle,
        [done.step for done in steps],
        request.limits,
        axis=find_axis(request.search),
        readings=readings,
        addresses=map_addresses_by_state(request.target, request.toggle),
    )
