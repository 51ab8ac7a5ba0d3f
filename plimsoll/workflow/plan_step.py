"""Plans the next step of a run: warming, then phases, then the search."""

import os
import time

from plimsoll.aws.run_files import PRECONDITIONING, REQUEST, RunFiles, files_of, step_path
from plimsoll.aws.run_records import now, records_of
from plimsoll.capacity.beside import plan_run_step
from plimsoll.databases.conditions import is_audited
from plimsoll.databases.family import find_family
from plimsoll.errors import BudgetPassedError, StepError, TimeLimitPassedError, UsageError
from plimsoll.fleet.plan import plan_step, plan_warming
from plimsoll.machine import MachineLoad, find_parent, measure_load
from plimsoll.model.deployment.function_settings import PlanStepSettings
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.steps import CLOSING
from plimsoll.model.request.phases import Phase, count_phase_steps, number_phases
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep
from plimsoll.model.run.fleet import WARMING_STEP
from plimsoll.model.run.results import Preconditioning
from plimsoll.model.run.run_record import BusyMachine, Recovery, RunRecord
from plimsoll.requests.checked_request import CheckedRequest, check_request
from plimsoll.search_steps import plan_fill, prepare_step, waits_for_machine
from plimsoll.targets.connection import connect_as_master
from plimsoll.workflow.barrier import (
    Next,
    limit_to_time_left,
    must_wait_for_partner,
    start_or_skip_step,
    start_step,
)
from plimsoll.workflow.history import read_finished_steps, read_search_steps, read_steps_so_far
from plimsoll.workflow.phases import find_next_pass, plan_phase_pass
from plimsoll.workflow.precondition import needs_round
from plimsoll.workflow.toggle import check_parameters, find_switch


def plan_next_step(settings: PlanStepSettings, run_id: str) -> dict[str, object]:
    """Pick the next step, write its plan, and set its barrier.

    If the first answer was lost, a repeated call plans the same step with a new barrier.

    Raises:
        TimeLimitPassedError: The run's time is up, or would be before the step's end.
        BudgetPassedError: The budget is spent, or would be before the step's end.
    """
    files = files_of(settings, run_id)
    try:
        record = records_of(settings).require_running(run_id)
    except (TimeLimitPassedError, BudgetPassedError):
        if not _has_answer(files):
            raise
        return Next.conclude()
    checked = check_request(files.get(REQUEST, Request))
    request = checked.request
    if record.step is None:
        records_of(settings).change(run_id, phase="step", step_at=now())
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    target = connect_as_master(settings, record.target)
    number = _find_next_warming_round(request, record, files)
    if number is not None:
        warming = plan_warming(
            request,
            number=number,
            server_before=find_family(target.protocol).read_counters(target),
        )
        try:
            return start_step(settings, record, checked, warming, finished=[])
        except (TimeLimitPassedError, BudgetPassedError):
            if number == 0:
                raise
    for phase, first in number_phases(request.phases):
        following = _plan_phase_step(settings, record, checked, target, phase, first=first)
        if following is not None:
            return following
    if not read_steps_so_far(files) and must_wait_for_partner(records_of(settings), record):
        return Next.pause(settings.poll_seconds)
    return _plan_search_step(settings, record, checked, target) or _end_search(checked)


def _end_search(checked: CheckedRequest) -> dict[str, object]:
    audited = is_audited(checked.workload, checked.request.limits)
    return Next.check_conditions() if audited else Next.conclude()


def _plan_phase_step(
    settings: PlanStepSettings,
    record: RunRecord,
    checked: CheckedRequest,
    target: EngineTarget,
    phase: Phase,
    *,
    first: int,
) -> dict[str, object] | None:
    """Pick the next pass or step of a phase; None if it has ended or a later phase has begun."""
    done = read_finished_steps(files_of(settings, record.run_id))
    if any((one.step.index or 0) > first + phase.steps_most for one in done):
        return None
    if phase.search is not None:
        return _plan_search_step(settings, record, checked, target, phase=phase.name, first=first)
    coming = find_next_pass(phase, checked.request, done)
    if coming is None:
        return None
    before = find_family(target.protocol).read_counters(target)
    plan = plan_phase_pass(coming, checked, before, poll_us=settings.poll_us)
    return start_step(
        settings, record, checked, limit_to_time_left(settings, record, plan), finished=[]
    )


def _plan_search_step(
    settings: PlanStepSettings,
    record: RunRecord,
    checked: CheckedRequest,
    target: EngineTarget,
    *,
    phase: str | None = None,
    first: int | None = None,
) -> dict[str, object] | None:
    """Pick the next step of a search, once the target has recovered from the last one.

    Args:
        settings: The function's settings.
        record: The run's record.
        checked: The run's request.
        target: The engine's connection settings.
        phase: The phase whose search it is; None if it is the run's own.
        first: The number of step numbers reserved before this search's own; None for those of all
            phases.

    Returns:
        None if the search is over.
    """
    request = checked.search_request(phase)
    finished = read_steps_so_far(files_of(settings, record.run_id), phase)
    steps = [done.step for done in finished]
    following = plan_run_step(request, steps)
    if isinstance(following, Done):
        return None
    if following.state is not None and (other := _switch_before(record, following)) is not None:
        return other
    before = count_phase_steps(checked.request.phases) if first is None else first
    plan = plan_step(following, request, poll_us=settings.poll_us, first=before, phase=phase)
    ready = prepare_step(
        plan,
        following,
        request,
        counters=find_family(target.protocol).read_counters(target),
        waiting=record.recovery,
        at_epoch_ms=round(time.time() * 1000),
        machine=measure_around_twin()
        if settings.on_one_machine and waits_for_machine(request)
        else None,
        busy=record.busy,
        finished=steps,
    )
    if ready is None:
        return None
    if isinstance(ready, Recovery):
        records_of(settings).change(record.run_id, recovery=ready)
        return Next.pause(settings.poll_seconds)
    if isinstance(ready, BusyMachine):
        records_of(settings).change(record.run_id, busy=ready)
        return Next.pause(settings.poll_seconds)
    parameters = _read_parameters(settings, record, request, following, target)
    if parameters is None:
        return None
    # The clients of a fleet learn beforehand when to start, so it fills for as long as planned.
    ready = ready.model_copy(update={"parameters": parameters})
    ready = plan_fill(ready, request, steps, least_s=0.0)
    if record.turn is not None:  # the rest of its slot; before that, the other run measures
        room_s = record.turn.slot_s - ready.warmup_s - ready.duration_s
        ready = ready.model_copy(update={"fill_s": max(0.0, min(ready.fill_s, room_s))})
    return start_or_skip_step(settings, record, checked, ready, finished, then=following.then)


def measure_around_twin() -> MachineLoad | None:
    """Measure what keeps this machine busy besides the twin that this function runs on.

    A sandbox is forked from a process that the twin has started, as it has started all others.
    """
    twin = find_parent(os.getppid())
    return None if twin is None else measure_load({twin})


def _switch_before(record: RunRecord, following: NextStep) -> dict[str, object] | None:
    """Return the switch that has to come before a step in a toggle state; None if it is done.

    If the switch failed, the search ends with the answer and the pairs that it has.
    """
    switch = find_switch(record, following)
    if switch is not None and switch.stage == "failed":
        return Next.conclude()
    return None if switch is not None and switch.stage == "done" else Next.switch(following)


def _read_parameters(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    following: NextStep,
    target: EngineTarget,
) -> dict[str, str] | None:
    """Read the toggled parameters from the server; empty if the step belongs to no toggle.

    Returns:
        None if the server did not adopt them; the run's record says so.
    """
    if following.state is None:
        return {}
    # in full: they hold the parameters as servers reported them
    whole = read_search_steps(files_of(settings, record.run_id))
    try:
        return check_parameters(request, following, target, whole)
    except StepError as error:
        assert record.switch is not None  # noqa: S101 - the target is in the step's state
        records_of(settings).change(record.run_id, switch=record.switch.mark_failed(str(error)))
        return None


def _has_answer(files: RunFiles) -> bool:
    """Return whether the search has its answer: its closing steps have begun, or come next."""
    steps = [done.step for done in read_steps_so_far(files)]
    if not steps or steps[-1].purpose in CLOSING:
        return bool(steps)
    try:
        following = plan_run_step(files.get(REQUEST, Request), steps)
    except UsageError:  # no verdict yet
        return False
    return isinstance(following, Done) or following.purpose in CLOSING


def _find_next_warming_round(request: Request, record: RunRecord, files: RunFiles) -> int | None:
    """Return the number of the next round of unmeasured load; None if the search begins."""
    if request.prepare.warm_s == 0 or record.step not in (None, WARMING_STEP):
        return None
    so_far = files.find_model(PRECONDITIONING, Preconditioning)
    if so_far is None:
        return 0 if files.find(step_path(WARMING_STEP)) is None else None
    return len(so_far.rounds) if needs_round(so_far, request.prepare) else None
