"""A run's progress in steps, time and cost; its quote tells what is to come. Pure."""

from collections.abc import Sequence
from datetime import datetime

from plimsoll.capacity.search import find_axis
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.phases import count_phase_steps
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.quote import Quote
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.service.live import LiveMoney, LivePlan, LiveTime
from plimsoll.quoting.budget import estimate_spent_usd
from plimsoll.report.words import describe_plan

BETWEEN_STEPS_S = 3  # planning, barrier and judging, in the estimate of the time left
_SEARCHES = {"baseline", "climb", "descend", "bisect", "more_clients", "again"}


def show_plan(
    plan: StepPlan | None, request: Request, quote: Quote | None, *, under_way: bool
) -> LivePlan | None:
    """Describe the current step, the expected number of steps, and what follows."""
    if plan is None:
        return None
    expected = estimate_step_count(quote)
    most = request.search.probes_max + count_phase_steps(request.phases)
    return LivePlan(
        sentence=describe_plan(plan, of=expected),
        then=_describe_next(plan, request) if under_way else None,
        step=plan.index,
        steps_expected=expected,
        steps_most=most if quote is None else max(most, round(quote.steps.most)),
        load=find_axis_load(plan, request),
        purpose=plan.purpose,
        why=plan.why,
        start_at_epoch_ms=plan.start_at_epoch_ms,
        window_start_epoch_ms=plan.window_start_epoch_ms,
        window_end_epoch_ms=plan.window_end_epoch_ms,
    )


def find_axis_load(step: StepPlan, request: Request) -> float:
    """Return a step's load on the axis of the search; for a phase without a rate, its clients."""
    return float(getattr(step, find_axis(request.search)) or step.clients)


def estimate_step_count(quote: Quote | None) -> int | None:
    """Return the number of steps that the quote expects; None if unknown."""
    return None if quote is None else round(quote.steps.expected) or None


def _describe_next(plan: StepPlan, request: Request) -> str:
    gone = "" if isinstance(request.target, EndpointTarget) else ", then the target is deleted"
    if plan.index == WARMING_STEP:
        return "then the search begins"
    if plan.phase is not None:
        return "then the next phase, or the search"
    if plan.purpose in CLOSING:
        return f"its answer is confirmed and questioned once more{gone}"
    confirms = request.limits.confirmation is not None
    if plan.purpose in _SEARCHES and confirms:
        return "then the answer is confirmed by repetitions"
    return f"then its answer is judged{gone}"


def show_time(
    record: RunRecord, plan: StepPlan | None, request: Request, quote: Quote | None, at: datetime
) -> LiveTime:
    """Return the elapsed time, and the estimated time left for search and target."""
    limit_s = None
    if record.expires_at is not None and record.deleted_at is None and record.ended_at is None:
        limit_s = max(0.0, (record.expires_at - at).total_seconds())
    return LiveTime(
        elapsed_s=((record.ended_at or at) - record.submitted_at).total_seconds(),
        left_s=_estimate_left_s(record, plan, request, quote, at),
        limit_left_s=limit_s,
        time_limit_s=record.runs_for_s,
    )


def _estimate_left_s(
    record: RunRecord, plan: StepPlan | None, request: Request, quote: Quote | None, at: datetime
) -> float | None:
    expected = estimate_step_count(quote)
    searching = record.phase == "step" and not (record.conclude_at or record.teardown_asked_at)
    number = record.steps_finished + 1  # a phase reserves more step numbers than it uses
    if plan is None or expected is None or not searching or number > expected:
        return None
    each_s = request.load.warmup_s + request.load.duration_s + BETWEEN_STEPS_S
    this_s = max(0.0, plan.window_end_epoch_ms / 1000 + BETWEEN_STEPS_S - at.timestamp())
    return this_s + (expected - number) * each_s


def show_money(
    record: RunRecord, request: Request, quote: Quote | None, steps: Sequence[Step], at: datetime
) -> LiveMoney:
    """Return the cost of a run so far, and its limits; a run on one machine costs nothing."""
    spent = None
    if quote is not None and not record.local:
        final = record.cost_usd
        spent = float(final) if final else estimate_spent_usd(quote, record, request, steps, at=at)
    return LiveMoney(
        basis="as-if-on-aws" if record.local else "aws",
        spent_usd=spent,
        expected_usd=None if record.quoted_usd is None else float(record.quoted_usd),
        budget_usd=request.budget_usd,
        target_usd_per_hour=quote.target_usd_per_hour if quote else None,
    )
