"""Ends a step: merges what its clients wrote, and judges the run so far."""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from pydantic import ValidationError

from plimsoll.aws.function_log import log_line
from plimsoll.aws.run_files import (
    PRECONDITIONING,
    REQUEST,
    RunFiles,
    client_path,
    counters_path,
    failures_folder,
    files_of,
    make_unreadable,
    plan_path,
    require_near_end,
    step_path,
    unpack_file,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.capacity.beside import plan_run_step
from plimsoll.databases.family import find_family
from plimsoll.errors import PlimsollError, UnreadableFileError
from plimsoll.fleet.failures import extract_causes
from plimsoll.fleet.fold import Fold
from plimsoll.fleet.relay import count_called
from plimsoll.fleet.sense import check_sense, require_sense
from plimsoll.fleet.step import build_step
from plimsoll.metrics import publish_from_environment
from plimsoll.model.deployment.events import StepJudged
from plimsoll.model.deployment.function_settings import JudgeStepSettings
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.fleet import WARMING_STEP, FailedClient, ServerCounters, StepPlan
from plimsoll.model.run.results import Preconditioning, StepResult
from plimsoll.model.run.run_record import RunFigures, RunRecord
from plimsoll.requests.checked_request import check_request
from plimsoll.targets.connection import connect_as_master
from plimsoll.workflow.history import judge_so_far, note_step, read_finished_steps
from plimsoll.workflow.metric_points import list_step_points
from plimsoll.workflow.precondition import add_round
from plimsoll.workflow.target_figures import add_host_figures, read_target_samples

# A window counts as called so long before its clients are: one of them may be a little early.
CALLED_WITHIN_MS = 3_000


def judge_step(settings: JudgeStepSettings, run_id: str, step: int) -> StepJudged:
    """Merge the results and the failures of a step's clients into `steps/<n>/step.json`.

    A step that measured nothing for a passing reason (all of its clients came too late, for
    instance) is void: the search asks for it again. Of a relay, this is its last window, or the
    last one that ran.

    Returns:
        The event for the bus. The workflow sends it, since this function cannot reach the bus.

    Raises:
        StepError: No client ran, the target stopped answering, one operation always fails, or
            several steps in a row were void.
        UnreadableFileError: A client's result file is damaged.
    """
    record = records_of(settings).get(run_id)
    assert record.target is not None  # noqa: S101 - there was a step, so there is a target
    target = connect_as_master(settings, record.target)
    # Read the counters first: reading thousands of client files below takes long.
    after = find_family(target.protocol).read_counters(target)
    files = files_of(settings, run_id)
    plan = files.get(plan_path(step), StepPlan)
    if plan.relay is not None:
        if record.relay_until is not None and record.relay_until < step:
            plan = files.get(plan_path(record.relay_until), StepPlan)
        plan = _add_counters_before(files, plan)
        _complete_history(settings, record, files, plan)
    judged, _ = _judge(settings, record, files, plan, after, then=None)
    return judged


def read_relay_counters(settings: JudgeStepSettings, run_id: str, step: int) -> bool:
    """Read the server's counters at the end of a relay's window: they are between two windows.

    Returns:
        Whether the relay is over, so that no counters of a later window are wanted.
    """
    files = files_of(settings, run_id)
    plan = files.get(plan_path(step), StepPlan)
    require_near_end(plan, round(time.time() * 1000))
    record = records_of(settings).get(run_id)
    if record.relay_until is not None and step >= record.relay_until:
        return True
    assert record.target is not None  # noqa: S101 - there was a step, so there is a target
    target = connect_as_master(settings, record.target)
    time.sleep(max(0.0, plan.window_end_epoch_ms / 1000 - time.time()))
    counters = find_family(target.protocol).read_counters(target)
    if counters is not None:
        files.put_model(counters_path(step), counters)
    return False


def judge_relay_window(
    settings: JudgeStepSettings, run_id: str, step: int
) -> tuple[StepJudged | None, bool]:
    """Judge a window of a relay while the next one runs, and end the relay if the window failed.

    A relay ends where the search would not hold the load on, and where a window had no load at all,
    since the target recovered meanwhile. The windows whose clients have been called already still
    run to their end, so that none of them runs with a part of its fleet.

    A window that cannot be judged ends it, too; `judge_step` then says why.

    Returns:
        The event for the bus, and whether the relay is over. No event if it is over already: its
        last window is judged when all of its clients have ended.
    """
    record = records_of(settings).get(run_id)
    if record.relay_until is not None and step >= record.relay_until:
        return None, True
    files = files_of(settings, run_id)
    judged: StepJudged | None = None
    try:
        plan = _add_counters_before(files, files.get(plan_path(step), StepPlan))
        after = files.find_model(counters_path(step), ServerCounters)
        judged, goes_on = _judge(settings, record, files, plan, after, then=step + 1)
    except PlimsollError as error:
        said = "a window is judged at the end of its relay"
        log_line("WARNING", said, correlation_id=run_id, step=step, problem=str(error))
        goes_on = False
    if not goes_on:
        plans = list(_read_windows_from(files, step))
        called_by = round(time.time() * 1000) + CALLED_WITHIN_MS
        called = max(step, count_called(plans, called_by)) if plans else step
        until = min(record.relay_until or called, called)
        records_of(settings).change(run_id, relay_until=until)
        return judged, until <= step + 1
    return judged, False


def _read_windows_from(files: RunFiles, step: int) -> Iterator[StepPlan]:
    """Read the plans of a relay's windows from one on; no client runs a damaged one."""
    for number in count(step):
        try:
            plan = files.find_model(plan_path(number), StepPlan)
        except UnreadableFileError:
            continue
        if plan is None:
            return
        yield plan
        if plan.relay is None or number == plan.relay.last:
            return


def _add_counters_before(files: RunFiles, plan: StepPlan) -> StepPlan:
    """Add to a later window of a relay what the server said when it began."""
    if plan.relay is None or plan.index == plan.relay.first:
        return plan
    before = files.find_model(counters_path(plan.index - 1), ServerCounters)
    return plan.model_copy(update={"server_before": before})


def _complete_history(
    settings: JudgeStepSettings, record: RunRecord, files: RunFiles, plan: StepPlan
) -> None:
    """Judge the windows of a relay before its last one that could not be judged while it ran."""
    assert plan.relay is not None  # noqa: S101 - the caller has looked
    noted = {done.step.index for done in read_finished_steps(files)}
    for number in range(plan.relay.first, plan.index):
        if number not in noted:
            earlier = _add_counters_before(files, files.get(plan_path(number), StepPlan))
            after = files.find_model(counters_path(number), ServerCounters)
            _judge(settings, record, files, earlier, after, then=None)


def _judge(
    settings: JudgeStepSettings,
    record: RunRecord,
    files: RunFiles,
    plan: StepPlan,
    after: ServerCounters | None,
    *,
    then: int | None,
) -> tuple[StepJudged, bool]:
    """Merge what a step's clients wrote, and judge the run so far.

    Args:
        settings: The function's settings.
        record: The run's record.
        files: The run's files.
        plan: The step's plan.
        after: The server's counters after it; None if the server did not answer.
        then: The step that is under way meanwhile; None if there is none.

    Returns:
        The event for the bus, and whether the search holds the load on without a pause.
    """
    run_id, step = record.run_id, plan.index
    request = files.get(REQUEST, Request)
    fold, *others = _fold_clients(files, plan)
    failures = extract_causes(files.get_all(failures_folder(step), FailedClient))
    own = request
    if plan.phase is not None and plan.operations is None:
        own = check_request(request).search_request(plan.phase)
    try:
        merged = build_step(
            fold, failures, server_after=after, statistic=own.limits.statistic, beside=others
        )
    except ValidationError as error:  # files that can each be read, and cannot all be true
        raise make_unreadable(f"steps/{step}", error) from None
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
    changes: dict[str, Any] = {"step": then or step, "steps_finished": len(measured)}
    if capacity is not None and plan.phase is None:
        changes["figures"] = RunFigures.of(capacity, final=False)
    records_of(settings).change(run_id, **changes)
    require_sense(merged, nothing, [done.step for done in measured], answers=after is not None)
    holds_on = then is not None and merged.step.void is None and _holds_on(request, finished)
    return build_judged_event(record, merged, capacity), holds_on


def _holds_on(request: Request, finished: Sequence[Step]) -> bool:
    """Return whether the search asks for another window of its soak."""
    following = plan_run_step(request, finished)
    return isinstance(following, NextStep) and following.purpose == "soak"


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
    published = publish_from_environment(list_step_points(step, run_id))
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
