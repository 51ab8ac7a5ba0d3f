"""Ends a step: merges what its clients wrote, and judges the run so far."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from plimsoll.aws.run_files import (
    HISTORY,
    PRECONDITIONING,
    REQUEST,
    RunFiles,
    client_path,
    failures_under,
    files_of,
    plan_path,
    step_path,
    unpacked,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.capacity import judge
from plimsoll.capacity.search import axis_of
from plimsoll.databases.family import family_of
from plimsoll.errors import UsageError
from plimsoll.fleet.background import with_background
from plimsoll.fleet.failures import failed_clients
from plimsoll.fleet.fold import Fold
from plimsoll.fleet.plan import finished
from plimsoll.fleet.sense import require_sense, sensible
from plimsoll.fleet.spans import soaked
from plimsoll.fleet.step import step_of
from plimsoll.metrics import publish_from_environment
from plimsoll.model.deployment.events import StepJudged
from plimsoll.model.deployment.function_settings import JudgeStepSettings
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import CLOSING, FinishedStep, History, Step
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import Preconditioning, StepResult
from plimsoll.model.run.run_record import RunFigures, RunRecord
from plimsoll.requests.phase_workload import searched
from plimsoll.targets.connection import engine_target
from plimsoll.workflow.metric_points import judged_step_points
from plimsoll.workflow.precondition import with_round
from plimsoll.workflow.target_figures import target_samples, with_host_figures

# The judged steps so far: kept in one file, so that no call reads every step's file again.


def finished_steps(files: RunFiles) -> list[StepResult]:
    """Read the judged steps of the search in full, in order."""
    return [step for step in measured_steps(files) if step.plan.phase is None]


def measured_steps(files: RunFiles) -> list[StepResult]:
    """Read the judged steps in full, in order: those of phases first, without the warming step."""
    paths = [path for path in files.paths("steps/") if path.endswith("/step.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    wanted = [step_path(number) for number in numbers if number != WARMING_STEP]
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda path: files.get(path, StepResult), wanted))


def so_far(files: RunFiles, phase: str | None = None) -> tuple[FinishedStep, ...]:
    """Read what a search needs of its judged steps, in order.

    Args:
        files: The run's files.
        phase: The phase whose search it is; None if it is the run's own.
    """
    return tuple(done for done in measured_so_far(files) if done.phase == phase)


def measured_so_far(files: RunFiles) -> tuple[FinishedStep, ...]:
    """Read what a search needs of all judged steps, phases first, without the warming step."""
    history = files.find_model(HISTORY, History)
    if history is None:  # nothing is judged yet, or an older version judged it
        return tuple(map(finished, measured_steps(files)))
    return history.steps


def judged_so_far(finished: Sequence[Step], request: Request) -> Capacity | None:
    """Judge the finished steps; None if that is not possible yet, or not at all.

    In the latter case the end of the run reports it.
    """
    try:
        return judge(finished, request.limits, axis=axis_of(request.search)) if finished else None
    except UsageError:
        return None


def noted(files: RunFiles, step: StepResult) -> tuple[FinishedStep, ...]:
    """Add a judged step to the history, replacing an earlier entry; return all steps so far."""
    before = measured_so_far(files)
    if step.plan.index == WARMING_STEP:
        return before
    kept = [done for done in before if done.step.index != step.plan.index]
    steps = (*kept, finished(step))
    files.put_model(HISTORY, History(steps=steps))
    return steps


def judge_step(settings: JudgeStepSettings, run_id: str, step: int) -> StepJudged:
    """Merge the results and the failures of a step's clients into `steps/<n>/step.json`.

    A step that measured nothing for a passing reason (all of its clients came too late, for
    instance) is void: the search asks for it again.

    Returns:
        The event for the bus. The workflow sends it, since this function cannot reach the bus.

    Raises:
        StepError: No client ran, the target stopped answering, one operation always fails, or
            several steps in a row were void.
        UnreadableFileError: A client's result file is damaged.
    """
    files = files_of(settings, run_id)
    plan = files.get(plan_path(step), StepPlan)
    request = files.get(REQUEST, Request)
    record = records_of(settings).get(run_id)
    assert record.target is not None  # noqa: S101 - there was a step, so there is a target
    target = engine_target(settings, record.target)
    # Read the counters first: reading thousands of client files below takes long.
    after = family_of(target.protocol).read_counters(target)
    fold, *others = _folded(files, plan)
    failures = failed_clients(files.read_all(failures_under(step)))
    merged = step_of(fold, failures, server_after=after, beside=others)
    merged = with_background(merged, others, failures)
    own = searched(request, plan.phase) if plan.operations is None else request
    merged = soaked(merged, own.limits.statistic)
    if plan.operations is not None:  # the pass's duration is known only now; its cost depends on it
        files.put_model(plan_path(step), merged.plan)
    if settings.on_one_machine:  # on AWS metrics come a minute later
        since = datetime.fromtimestamp(plan.start_at_epoch_ms / 1000, UTC)
        kind = request.target.kind
        samples = target_samples(settings, record, kind=kind, since=since, until=now())
        merged = with_host_figures(merged, samples, settings.metric_period_seconds)
    else:
        merged = with_clients_waits(merged)
    merged, nothing = sensible(merged, fold)
    if step == WARMING_STEP:
        so_far = with_round(files.find_model(PRECONDITIONING, Preconditioning), merged)
        files.put_model(PRECONDITIONING, so_far)
        records_of(settings).change(run_id, preconditioned=so_far.text)
    files.put_model(step_path(step), _published(run_id, merged))
    measured = noted(files, merged)
    of_search = plan.operations is None
    finished = [done.step for done in measured if of_search and done.phase == plan.phase]
    capacity = judged_so_far(finished, own)
    changes: dict[str, Any] = {"step": step, "steps_finished": len(measured)}
    if capacity is not None and plan.phase is None:
        changes["figures"] = RunFigures.of(capacity, final=False)
    records_of(settings).change(run_id, **changes)
    if plan.purpose not in CLOSING:  # a failed closing step leaves the answer as it is
        steps = [done.step for done in measured]
        require_sense(merged, nothing, steps, answers=after is not None)
    return step_judged(record, merged, capacity)


def with_clients_waits(step: StepResult) -> StepResult:
    """Add to a step how long its clients waited for a processor.

    Not used on one machine: there clients wait because of the target's own load.
    """
    waiting = {"client_waiting_percent": step.fleet.most_waiting_percent}
    return step.model_copy(update={"step": step.step.model_copy(update=waiting)})


def step_judged(record: RunRecord, merged: StepResult, capacity: Capacity | None) -> StepJudged:
    """Build the event for a judged step, with its verdict among all steps so far."""
    judged = capacity.steps if capacity else ()
    at = next((judged_load for judged_load in judged if merged.step in judged_load.steps), None)
    plan, step = merged.plan, merged.step
    return StepJudged(
        run_id=record.run_id,
        name=record.name,
        team=record.team,
        step=plan.index,
        clients=plan.clients,
        connections=plan.connections,
        rate_ops_per_second=plan.rate_ops_per_second,
        throughput_ops_per_second=step.throughput_ops_per_second,
        errors=step.errors,
        latency_us=step.latency_us,
        passed=at.passed if at and at.consistent and not at.client_bound else None,
        reasons=at.reasons if at else (),
        problems=merged.problems,
    )


def _published(run_id: str, step: StepResult) -> StepResult:
    """Send a step to the metric sink; a failing sink becomes a note on the step."""
    published = publish_from_environment(judged_step_points(step, run_id))
    if published.problem is None:
        return step
    problems = (*step.problems, f"metrics: {published.problem}")
    return step.model_copy(update={"problems": problems})


def _folded(files: RunFiles, plan: StepPlan) -> list[Fold]:
    """Fold the results of the clients that wrote one, in the order of their numbers.

    Returns:
        One fold for the step's own clients, then one for each background load.
    """
    there = set(files.paths(client_path(plan.index, 0).rpartition("/")[0] + "/"))
    folds = []
    for numbers in (range(plan.clients), *(load.client_numbers for load in plan.background)):
        folds.append(fold := Fold(plan))
        wanted = [client_path(plan.index, client, plan.round) for client in numbers]
        for path, content in files.read_each(path for path in wanted if path in there):
            fold.add(unpacked(path, content), name=path)
    return folds
