"""The loop: picking the next step and setting its barrier."""

import time
from collections.abc import Sequence

from plimsoll import words
from plimsoll.aws.run_files import (
    PRECONDITIONING,
    REQUEST,
    RunFiles,
    files_of,
    plan_path,
    step_path,
)
from plimsoll.aws.run_records import deadline_passed, now, records_of
from plimsoll.capacity.beside import next_of_all
from plimsoll.errors import BudgetPassedError, StepError, TimeLimitPassedError, UsageError
from plimsoll.families.family import family_of
from plimsoll.fleet.background import beside
from plimsoll.fleet.plan import (
    barrier_epoch_ms,
    late_in_a_row,
    plan_step,
    warming_step,
)
from plimsoll.model.engine import EngineTarget
from plimsoll.model.fleet import WARMING_STEP, ServerCounters, StepPlan, UnfinishedWork
from plimsoll.model.function_settings import PlanStepSettings
from plimsoll.model.history import FinishedStep
from plimsoll.model.phase_passes import numbered
from plimsoll.model.phase_request import Phase, phase_steps
from plimsoll.model.preconditioning import Preconditioning
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord
from plimsoll.model.search_request import Done, NextStep
from plimsoll.model.steps import CLOSING
from plimsoll.requests.phase_workload import compiled_step, searched
from plimsoll.requests.request_workload import background_workload
from plimsoll.runs.history import finished_steps, measured_so_far, so_far
from plimsoll.runs.next_step import Next
from plimsoll.runs.phases import next_pass, planned_pass
from plimsoll.runs.precondition import goes_on
from plimsoll.runs.recovery import Recovered, outcome, watched
from plimsoll.runs.step_budget import require_step_budget
from plimsoll.runs.toggle_state import parameters_in_force, switch_for
from plimsoll.runs.turns import wait_ms, waits_for_other
from plimsoll.targets.cloudwatch_metrics import has_metrics
from plimsoll.targets.connection import engine_target

PAUSE_LEAST_S = 10  # a step that would wait longer for its barrier is planned again, later
PLANNING_S = 5  # what planning it again takes at most, as a rule: else it waits for a period more
AFTER_STEP_S = 5.0  # for the clients to write their results and the step to be judged


def plan_next(settings: PlanStepSettings, run_id: str) -> dict[str, object]:
    """Pick the next step, write its plan, and set its barrier.

    A repeated call, whose first answer was lost, plans the same step again with a new barrier.

    Raises:
        TimeLimitPassedError: The run's time is up, or would be within the step.
        BudgetPassedError: Its budget is spent, or would be within the step.
    """
    files = files_of(settings, run_id)
    try:
        record = records_of(settings).require_running(run_id)
    except (TimeLimitPassedError, BudgetPassedError):
        if not _is_answered(files):
            raise
        return Next.conclude()
    request = files.get(REQUEST, Request)
    if record.step is None:
        records_of(settings).change(run_id, phase="step", step_at=now())
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    target = engine_target(settings, record.target)
    number = _round_to_come(request, record, files)
    if number is not None:
        warming = warming_step(
            request,
            start_at_epoch_ms=0,
            number=number,
            server_before=family_of(target.protocol).read_counters(target),
        )
        try:
            return _start(settings, record, request, warming, finished=[])
        except (TimeLimitPassedError, BudgetPassedError):
            if number == 0:
                raise
    for phase, first in numbered(request.phases):
        following = _of_phase(settings, record, request, target, phase, first=first)
        if following is not None:
            return following
    if not so_far(files) and waits_for_other(records_of(settings), record):
        return Next.pause(settings.poll_seconds)
    return _of_search(settings, record, request, target) or Next.conclude()


def _of_phase(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    target: EngineTarget,
    phase: Phase,
    *,
    first: int,
) -> dict[str, object] | None:
    """Pick the next pass or step of a phase; None where it has ended, or a later one has begun."""
    done = measured_so_far(files_of(settings, record.run_id))
    if any((one.step.index or 0) > first + phase.steps_most for one in done):
        return None
    if phase.search is not None:
        return _of_search(settings, record, request, target, phase=phase.name, first=first)
    coming = next_pass(phase, request, done)
    if coming is None:
        return None
    before = family_of(target.protocol).read_counters(target)
    plan = planned_pass(coming, request, before, poll_us=settings.poll_us)
    return _start(settings, record, request, _in_time(settings, record, plan), finished=[])


def _of_search(
    settings: PlanStepSettings,
    record: RunRecord,
    run: Request,
    target: EngineTarget,
    *,
    phase: str | None = None,
    first: int | None = None,
) -> dict[str, object] | None:
    """Pick the next step of a search, once the target has recovered from the last one.

    Args:
        settings: Where.
        record: Of the run.
        run: What the run is asked to be.
        target: Its target.
        phase: The name of the phase whose search it is; None: it is the run's own.
        first: How many numbers are kept for steps before its own; None: those of all phases.

    Returns:
        None where the search is over.
    """
    request = searched(run, phase)
    finished = so_far(files_of(settings, record.run_id), phase)
    steps = [done.step for done in finished]
    following = next_of_all(request, steps)
    if isinstance(following, Done):
        return None
    if following.state is not None and (other := _before_state(record, following)) is not None:
        return other
    counters = family_of(target.protocol).read_counters(target)
    if counters is None and following.purpose in CLOSING:
        return None  # the answer stands; nobody is left to be asked
    recovered: Recovered | None = None
    if following.recover_first and finished:
        recovered = _recovered(settings, record, request, counters)
        if recovered is None:
            return Next.pause(settings.poll_seconds)
    parameters = _parameters(settings, record, request, following, target)
    if parameters is None:
        return None
    plan = plan_step(
        following,
        request,
        start_at_epoch_ms=0,
        recovered=recovered.recovered if recovered else None,
        recovery=recovered.how if recovered else None,
        server_before=counters,
        parameters=parameters,
        poll_us=settings.poll_us,
        first=phase_steps(run.phases) if first is None else first,
    ).model_copy(update={"phase": phase})
    return _start_or_do_without(settings, record, run, plan, finished)


def _before_state(record: RunRecord, following: NextStep) -> dict[str, object] | None:
    """Say what comes before a step in a state of a toggle; None: the target is in it.

    Where it could not be brought there, the answer stands, and so do the pairs before.
    """
    switch = switch_for(record, following)
    if switch is not None and switch.stage == "failed":
        return Next.conclude()
    return None if switch is not None and switch.stage == "done" else Next.switch(following)


def _parameters(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    following: NextStep,
    target: EngineTarget,
) -> dict[str, str] | None:
    """Ask the server what its toggled parameters are; empty for a step of no toggle.

    Returns:
        None where they were not taken; the run's record says so.
    """
    if following.state is None:
        return {}
    whole = finished_steps(files_of(settings, record.run_id))  # with what servers said
    try:
        return parameters_in_force(request, following, target, whole)
    except StepError as error:
        assert record.switch is not None  # noqa: S101 - the target is in the step's state
        records_of(settings).change(record.run_id, switch=record.switch.failed(str(error)))
        return None


def _is_answered(files: RunFiles) -> bool:
    """Whether the search has its answer: it has begun to question it, or would now."""
    steps = [done.step for done in so_far(files)]
    if not steps or steps[-1].purpose in CLOSING:
        return bool(steps)
    try:
        following = next_of_all(files.get(REQUEST, Request), steps)
    except UsageError:  # what cannot be judged is no answer
        return False
    return isinstance(following, Done) or following.purpose in CLOSING


def _round_to_come(request: Request, record: RunRecord, files: RunFiles) -> int | None:
    """Number the round of unmeasured load that comes next; None where the search begins."""
    if request.prepare.warm_s == 0 or record.step not in (None, WARMING_STEP):
        return None
    so_far = files.find_model(PRECONDITIONING, Preconditioning)
    if so_far is None:
        return 0 if files.find(step_path(WARMING_STEP)) is None else None
    return len(so_far.rounds) if goes_on(so_far, request.prepare) else None


def _recovered(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    counters: ServerCounters | None,
) -> Recovered | None:
    """Say how the target recovered from the last step; None while it still does, noted for all."""
    if counters is None:
        work: UnfinishedWork | None = UnfinishedWork(what="it does not answer")
    else:
        work = family_of(counters.family).unfinished_work(counters)
    if work is None:
        return Recovered(recovered=True, how=None)
    seen = watched(record.recovery, work, round(time.time() * 1000))
    records_of(settings).change(record.run_id, recovery=seen)
    return outcome(seen, request.load.recovery_max_s)


def _start_or_do_without(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    plan: StepPlan,
    finished: Sequence[FinishedStep],
) -> dict[str, object] | None:
    """Start a step; one that would be more than is left is left out or shortened, where it may be.

    Returns:
        None where it is left out: the answer stands without what would have questioned it.

    Raises:
        TimeLimitPassedError: The run's time would be up within the step, which it needs.
        BudgetPassedError: Its budget would be spent within it.
    """
    try:
        return _start(settings, record, request, plan, finished)
    except (BudgetPassedError, TimeLimitPassedError):
        if plan.purpose in CLOSING:
            return None
        if plan.window_factor == 1:
            raise
    load = request.load  # a longer window would be too long for what is left of time or money
    usual = {"warmup_s": load.warmup_s, "duration_s": load.duration_s}
    return _start(settings, record, request, plan.model_copy(update=usual), finished)


def _start(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    plan: StepPlan,
    finished: Sequence[FinishedStep],
) -> dict[str, object]:
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    plan = beside(request, plan)
    require_step_budget(files_of(settings, record.run_id), record, request, plan)
    late = late_in_a_row(finished)
    early = _with_barrier(settings, plan, late)
    kind = request.target.kind
    period_s = settings.metric_period_seconds if has_metrics(record.target, kind) else None
    pause_s = wait_ms(early, period_s, record.turn) // 1000 - PLANNING_S
    if pause_s >= PAUSE_LEAST_S:  # nothing waits so long for a barrier that costs meanwhile
        return Next.pause(pause_s)
    target = engine_target(settings, record.target)
    with family_of(target.protocol).open_datasets(target) as datasets:
        number = datasets.begin_load(compiled_step(request, plan.phase))
        numbered = []
        for load in plan.background:
            own = datasets.begin_load(background_workload(request, load.number))
            numbered.append(load.model_copy(update={"load_number": own}))
    numbers = {"load_number": number, "background": tuple(numbered)}
    plan = _with_barrier(settings, plan, late).model_copy(update=numbers)
    start = plan.start_at_epoch_ms + wait_ms(plan, period_s, record.turn)
    plan = plan.model_copy(update={"start_at_epoch_ms": start})
    ends_s = plan.window_end_epoch_ms / 1000 + AFTER_STEP_S
    if record.expires_at is not None and ends_s > record.expires_at.timestamp():
        raise deadline_passed(
            record,
            f"leaves no time for step {plan.index}"
            f" ({words.plural(plan.clients_in_all, 'client')},"
            f" {words.duration(plan.warmup_s + plan.duration_s)})",
        )
    files_of(settings, record.run_id).put_model(plan_path(plan.index), plan)
    records_of(settings).change(record.run_id, step=plan.index, recovery=None)
    return Next.step(plan)


def _in_time(settings: PlanStepSettings, record: RunRecord, plan: StepPlan) -> StepPlan:
    """Let a pass last no longer than the run may: when it ends is not known beforehand."""
    if record.expires_at is None:
        return plan
    start_s = _with_barrier(settings, plan, 0).start_at_epoch_ms / 1000
    left_s = record.expires_at.timestamp() - start_s - 2 * AFTER_STEP_S
    return plan.model_copy(update={"duration_s": max(1.0, min(plan.duration_s, left_s))})


def _with_barrier(settings: PlanStepSettings, plan: StepPlan, late_before: int) -> StepPlan:
    """Let a step's clients start as soon as they can be there."""
    start = barrier_epoch_ms(
        round(time.time() * 1000),
        clients=plan.clients_in_all,
        lead_ms=settings.start_lead_ms,
        per_client_ms=settings.start_lead_ms_per_client,
        late_before=late_before,
        load_s=plan.warmup_s + plan.duration_s,
    )
    return plan.model_copy(update={"start_at_epoch_ms": start})
