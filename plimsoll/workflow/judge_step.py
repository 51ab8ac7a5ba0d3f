"""Ends a step: merges what its clients wrote, and judges the run so far."""

from datetime import UTC, datetime
from typing import Any

from plimsoll.aws.run_files import (
    PRECONDITIONING,
    REQUEST,
    RunFiles,
    client_path,
    failures_folder,
    files_of,
    plan_path,
    step_path,
    unpack_file,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.databases.family import family_of
from plimsoll.fleet.failures import read_failed_clients
from plimsoll.fleet.fold import Fold
from plimsoll.fleet.sense import check_sense, require_sense
from plimsoll.fleet.step import build_step
from plimsoll.metrics import publish_from_environment
from plimsoll.model.deployment.events import StepJudged
from plimsoll.model.deployment.function_settings import JudgeStepSettings
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import Preconditioning, StepResult
from plimsoll.model.run.run_record import RunFigures, RunRecord
from plimsoll.requests.checked_request import check_request
from plimsoll.targets.connection import connect_as_master
from plimsoll.workflow.history import judge_so_far, note_step
from plimsoll.workflow.metric_points import judged_step_points
from plimsoll.workflow.precondition import add_round
from plimsoll.workflow.target_figures import add_host_figures, read_target_samples


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
    target = connect_as_master(settings, record.target)
    # Read the counters first: reading thousands of client files below takes long.
    after = family_of(target.protocol).read_counters(target)
    fold, *others = _fold_clients(files, plan)
    failures = read_failed_clients(files.read_all(failures_folder(step)))
    own = request
    if plan.phase is not None and plan.operations is None:
        own = check_request(request).search_request(plan.phase)
    merged = build_step(
        fold, failures, server_after=after, statistic=own.limits.statistic, beside=others
    )
    if plan.operations is not None:  # the pass's duration is known only now; its cost depends on it
        files.put_model(plan_path(step), merged.plan)
    if settings.on_one_machine:  # on AWS metrics come a minute later
        since = datetime.fromtimestamp(plan.start_at_epoch_ms / 1000, UTC)
        kind = request.target.kind
        samples = read_target_samples(settings, record, kind=kind, since=since, until=now())
        merged = add_host_figures(merged, samples, settings.metric_period_seconds)
    else:
        merged = add_client_waits(merged)
    merged, nothing = check_sense(merged, fold)
    if step == WARMING_STEP:
        so_far = add_round(files.find_model(PRECONDITIONING, Preconditioning), merged)
        files.put_model(PRECONDITIONING, so_far)
        records_of(settings).change(run_id, preconditioned=so_far.text)
    files.put_model(step_path(step), _publish_step(run_id, merged))
    measured = note_step(files, merged)
    of_search = plan.operations is None
    finished = [done.step for done in measured if of_search and done.phase == plan.phase]
    capacity = judge_so_far(finished, own)
    changes: dict[str, Any] = {"step": step, "steps_finished": len(measured)}
    if capacity is not None and plan.phase is None:
        changes["figures"] = RunFigures.of(capacity, final=False)
    records_of(settings).change(run_id, **changes)
    require_sense(merged, nothing, [done.step for done in measured], answers=after is not None)
    return build_judged_event(record, merged, capacity)


def add_client_waits(step: StepResult) -> StepResult:
    """Add to a step how long its clients waited for a processor.

    Not used on one machine: there clients wait because of the target's own load.
    """
    waiting = {"client_waiting_percent": step.fleet.most_waiting_percent}
    return step.model_copy(update={"step": step.step.model_copy(update=waiting)})


def build_judged_event(
    record: RunRecord, merged: StepResult, capacity: Capacity | None
) -> StepJudged:
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


def _publish_step(run_id: str, step: StepResult) -> StepResult:
    """Send a step to the metric sink; a failing sink becomes a note on the step."""
    published = publish_from_environment(judged_step_points(step, run_id))
    if published.problem is None:
        return step
    problems = (*step.problems, f"metrics: {published.problem}")
    return step.model_copy(update={"problems": problems})


def _fold_clients(files: RunFiles, plan: StepPlan) -> list[Fold]:
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
            fold.add(unpack_file(path, content), name=path)
    return folds
