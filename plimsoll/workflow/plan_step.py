"""Plans the next step of a run: warming, then phases, then the search."""

import time
from dataclasses import dataclass

from plimsoll import words
from plimsoll.aws.run_files import (
    PRECONDITIONING,
    REQUEST,
    RunFiles,
    files_of,
    step_path,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.capacity.beside import next_of_all
from plimsoll.databases.family import family_of
from plimsoll.errors import BudgetPassedError, StepError, TimeLimitPassedError, UsageError
from plimsoll.fleet.plan import (
    plan_step,
    warming_step,
)
from plimsoll.model.deployment.function_settings import PlanStepSettings
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.steps import CLOSING
from plimsoll.model.request.phases import Phase, numbered, phase_steps
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep
from plimsoll.model.run.fleet import WARMING_STEP, ServerCounters, UnfinishedWork
from plimsoll.model.run.results import Preconditioning
from plimsoll.model.run.run_record import Recovery, RunRecord
from plimsoll.requests.phase_workload import searched
from plimsoll.targets.connection import engine_target
from plimsoll.workflow.barrier import (
    Next,
    start_step,
    start_step_or_do_without,
    waits_for_other,
    with_time_left,
)
from plimsoll.workflow.judge_step import finished_steps, measured_so_far, so_far
from plimsoll.workflow.phases import next_pass, planned_pass
from plimsoll.workflow.precondition import goes_on
from plimsoll.workflow.toggle import parameters_in_force, switch_for

# Recovery: waiting after a step that overloaded the target.


STILL_S = 10  # a backlog that has not shrunk for so long will not shrink
MOVED_SHARE = 0.01  # a smaller decrease, as a share of what is left, is no progress


@dataclass(frozen=True)
class Recovered:
    """How a wait for recovery ended."""

    recovered: bool
    how: str | None  # description; None if no work was left


def watched(before: Recovery | None, work: UnfinishedWork, at_epoch_ms: int) -> Recovery:
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


def outcome(seen: Recovery, longest_s: float) -> Recovered | None:
    """Return how the wait ended; None if it goes on."""
    waited_s = (seen.seen_epoch_ms - seen.since_epoch_ms) / 1000
    still_s = (seen.seen_epoch_ms - seen.moved_epoch_ms) / 1000
    if seen.left is not None and still_s >= STILL_S:
        unchanged = f"nothing moved for {words.duration(round(still_s))}: {seen.what}"
        return Recovered(recovered=True, how=unchanged)
    if waited_s >= longest_s:
        return Recovered(
            recovered=False, how=f"after {words.duration(round(waited_s))}, {seen.what}"
        )
    return None


def in_words(seen: Recovery, longest_s: float) -> str:
    """Describe what is waited for, and for how long so far."""
    waited = words.duration(round((seen.seen_epoch_ms - seen.since_epoch_ms) / 1000))
    return (
        f"the target recovers: {seen.what} ({waited} so far, {words.duration(longest_s)} at most)"
    )


def plan_next(settings: PlanStepSettings, run_id: str) -> dict[str, object]:
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
            return start_step(settings, record, request, warming, finished=[])
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
    """Pick the next pass or step of a phase; None if it has ended or a later phase has begun."""
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
    return start_step(
        settings, record, request, with_time_left(settings, record, plan), finished=[]
    )


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
        settings: The function's settings.
        record: The run's record.
        run: The run's request.
        target: The engine's connection settings.
        phase: The phase whose search it is; None if it is the run's own.
        first: The number of step numbers reserved before this search's own; None for those of all
            phases.

    Returns:
        None if the search is over.
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
        return None  # the answer stands, and the server no longer answers
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
    return start_step_or_do_without(settings, record, run, plan, finished)


def _before_state(record: RunRecord, following: NextStep) -> dict[str, object] | None:
    """Return the switch that has to come before a step in a toggle state; None if it is done.

    If the switch failed, the search ends with the answer and the pairs that it has.
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
    """Read the toggled parameters from the server; empty if the step belongs to no toggle.

    Returns:
        None if the server did not adopt them; the run's record says so.
    """
    if following.state is None:
        return {}
    # in full: they hold the parameters as servers reported them
    whole = finished_steps(files_of(settings, record.run_id))
    try:
        return parameters_in_force(request, following, target, whole)
    except StepError as error:
        assert record.switch is not None  # noqa: S101 - the target is in the step's state
        records_of(settings).change(record.run_id, switch=record.switch.failed(str(error)))
        return None


def _is_answered(files: RunFiles) -> bool:
    """Return whether the search has its answer: its closing steps have begun, or come next."""
    steps = [done.step for done in so_far(files)]
    if not steps or steps[-1].purpose in CLOSING:
        return bool(steps)
    try:
        following = next_of_all(files.get(REQUEST, Request), steps)
    except UsageError:  # no verdict yet
        return False
    return isinstance(following, Done) or following.purpose in CLOSING


def _round_to_come(request: Request, record: RunRecord, files: RunFiles) -> int | None:
    """Return the number of the next round of unmeasured load; None if the search begins."""
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
    """Return how the target recovered from the last step; None if it still does.

    The run's record shows the wait.
    """
    if counters is None:
        work: UnfinishedWork | None = UnfinishedWork(what="it does not answer")
    else:
        work = family_of(counters.family).unfinished_work(counters)
    if work is None:
        return Recovered(recovered=True, how=None)
    seen = watched(record.recovery, work, round(time.time() * 1000))
    records_of(settings).change(record.run_id, recovery=seen)
    return outcome(seen, request.load.recovery_max_s)
