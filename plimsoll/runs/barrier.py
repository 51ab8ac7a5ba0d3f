"""The barrier of a planned step: when all of its clients start, or why it cannot be."""

import time
from collections.abc import Sequence

from plimsoll import words
from plimsoll.aws.run_files import (
    files_of,
    plan_path,
)
from plimsoll.aws.run_records import deadline_passed, records_of
from plimsoll.errors import BudgetPassedError, TimeLimitPassedError
from plimsoll.families.family import family_of
from plimsoll.fleet.background import beside
from plimsoll.fleet.plan import (
    barrier_epoch_ms,
    late_in_a_row,
)
from plimsoll.model.fleet import StepPlan
from plimsoll.model.function_settings import PlanStepSettings
from plimsoll.model.history import FinishedStep
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord
from plimsoll.model.steps import CLOSING
from plimsoll.requests.phase_workload import compiled_step
from plimsoll.requests.request_workload import background_workload
from plimsoll.runs.next_step import Next
from plimsoll.runs.step_budget import require_step_budget
from plimsoll.runs.turns import wait_ms
from plimsoll.targets.cloudwatch_metrics import has_metrics
from plimsoll.targets.connection import engine_target

PAUSE_LEAST_S = 10  # a step that would wait longer for its barrier is planned again, later
PLANNING_S = 5  # what planning it again takes at most, as a rule: else it waits for a period more
AFTER_STEP_S = 5.0  # for the clients to write their results and the step to be judged


def start_step_or_do_without(
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
        return start_step(settings, record, request, plan, finished)
    except (BudgetPassedError, TimeLimitPassedError):
        if plan.purpose in CLOSING:
            return None
        if plan.window_factor == 1:
            raise
    load = request.load  # a longer window would be too long for what is left of time or money
    usual = {"warmup_s": load.warmup_s, "duration_s": load.duration_s}
    return start_step(settings, record, request, plan.model_copy(update=usual), finished)


def start_step(
    settings: PlanStepSettings,
    record: RunRecord,
    request: Request,
    plan: StepPlan,
    finished: Sequence[FinishedStep],
) -> dict[str, object]:
    """Write a step's plan with its barrier, or have it planned again where that lies too far ahead.

    Raises:
        TimeLimitPassedError: The run's time would be up within the step.
        BudgetPassedError: Its budget would be spent within it.
    """
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


def with_time_left(settings: PlanStepSettings, record: RunRecord, plan: StepPlan) -> StepPlan:
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
