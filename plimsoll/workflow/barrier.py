"""Starts a step: checks budget and turn, sets the barrier, and writes the plan.

The barrier is the time at which all clients of a step start their load.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from plimsoll import words
from plimsoll.aws.run_files import (
    QUOTE,
    RunFiles,
    files_of,
    plan_path,
)
from plimsoll.aws.run_records import Records, build_deadline_error, now, records_of
from plimsoll.databases.family import Datasets, find_family
from plimsoll.errors import BudgetPassedError, TimeLimitPassedError
from plimsoll.fleet.background import plan_background
from plimsoll.fleet.plan import (
    LEAD_DOUBLINGS,
    compute_barrier_ms,
    compute_period_wait_ms,
    count_late_steps,
)
from plimsoll.fleet.relay import compute_results_after_ms, plan_relay
from plimsoll.model.deployment.function_settings import PlanStepSettings
from plimsoll.model.judging.steps import CLOSING, FinishedStep
from plimsoll.model.request.experiment import Turn
from plimsoll.model.request.load_request import ENDING_S, RELAY_EARLY_S
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.quote import Quote
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.quoting.budget import measure_fleet_use, price_fleet_usd
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.search_steps import shorten_window
from plimsoll.targets.cloudwatch_metrics import has_metrics
from plimsoll.targets.connection import connect_as_master

# The answers of `plan-step`.


class Next:
    """What the workflow does next. Every field is always present: JSONata fails on absent ones."""

    @staticmethod
    def conclude() -> dict[str, object]:
        """End the search."""
        return _make_answer("conclude")

    @staticmethod
    def check_conditions() -> dict[str, object]:
        """End the search, and check what the workload says of its rows before the conclusion."""
        return _make_answer("check")

    @staticmethod
    def pause(wait_s: int) -> dict[str, object]:
        """Wait, then plan again: the target recovers, or the step would start too late."""
        return _make_answer("pause", wait_s=wait_s)

    @staticmethod
    def switch(following: NextStep) -> dict[str, object]:
        """Bring the target into the toggle state in which the next step is measured."""
        return _make_answer("switch", step=following.index + 1, state=following.state or "")

    @staticmethod
    def step(plan: StepPlan) -> dict[str, object]:
        """Let the fleet run a step."""
        return _make_answer(
            "step",
            step=plan.index,
            clients=list(range(plan.clients_in_all)),
            start_at_epoch_ms=plan.start_at_epoch_ms,
        )

    @staticmethod
    def relay(plans: Sequence[StepPlan]) -> dict[str, object]:
        """Let fleets run the windows of a relay; the step is its last one, judged at its end.

        Four kinds of executions take turns, each of them again and again: two lanes of clients run
        every other window; the reader reads the server's counters when a window ends; the judge
        judges it when its results are there. An item of the Map is its kind times `TURN_ITEMS`,
        and the number of its client.
        """
        first, second = plans[0], plans[1]
        assert first.relay is not None  # noqa: S101 - they are a relay's
        assert second.relay is not None  # noqa: S101
        fleet = max(plan.clients_in_all for plan in plans)
        window_ms = round(1000 * first.duration_s)
        called, again = first.relay.called_at_epoch_ms, second.relay.called_at_epoch_ms
        ends, last = first.window_end_epoch_ms, first.relay.last
        judged = ends + compute_results_after_ms(first)
        lanes = (
            _find_turn(
                "client", first.index, last, called, again + window_ms, every_ms=2 * window_ms
            ),
            _find_turn(
                "client", second.index, last, again, again + 2 * window_ms, every_ms=2 * window_ms
            ),
        )
        others = (
            _find_turn("reader", first.index, last - 1, ends, ends + window_ms, every_ms=window_ms),
            _find_turn(
                "judge", first.index, last - 1, judged, judged + window_ms, every_ms=window_ms
            ),
        )
        items = [TURN_ITEMS * lane + client for lane in (0, 1) for client in range(fleet)]
        return _make_answer(
            "relay",
            step=last,
            clients=[*items, 2 * TURN_ITEMS, 3 * TURN_ITEMS],
            start_at_epoch_ms=first.start_at_epoch_ms,
            turns=[*lanes, *others],
        )


TURN_ITEMS = 10_000  # more than a fleet has clients


def _find_turn(
    role: str, step: int, last: int, at_epoch_ms: int, next_at_epoch_ms: int, *, every_ms: int
) -> dict[str, object]:
    """Return the first turn of an execution of a relay, and how its further turns follow.

    Args:
        role: What it does: `client`, `reader` or `judge`.
        step: The step of its first turn.
        last: The last step that it may take a turn for.
        at_epoch_ms: When its first turn comes.
        next_at_epoch_ms: When its second turn comes.
        every_ms: The time between all further turns.
    """
    return {
        "role": role,
        "step": step,
        "stride": 2 if role == "client" else 1,
        "last": last,
        "at_epoch_ms": at_epoch_ms,
        "next_at_epoch_ms": next_at_epoch_ms,
        "every_ms": every_ms,
    }


def _make_answer(
    kind: str,
    *,
    wait_s: int = 0,
    step: int = 0,
    state: str = "",
    clients: Iterable[int] = (),
    start_at_epoch_ms: int = 0,
    turns: Iterable[Mapping[str, object]] = (),
) -> dict[str, object]:
    return {
        "next": kind,
        "wait_s": wait_s,
        "step": step,
        "state": state,
        "clients": list(clients),
        "start_at_epoch_ms": start_at_epoch_ms,
        "turns": list(turns),
    }


# The budget.


def require_step_budget(
    files: RunFiles,
    record: RunRecord,
    request: Request,
    plan: StepPlan,
    then: Sequence[StepPlan] = (),
) -> int:
    """Check that the load's part of the budget pays for this step too.

    Args:
        files: The run's files.
        record: The run's record.
        request: The run's request.
        plan: The step.
        then: The further windows of its relay.

    Returns:
        The number of further windows that it pays for, too.

    Raises:
        BudgetPassedError: The budget does not pay for the step.
    """
    if record.budget is None:
        return len(then)
    quote = files.get(QUOTE, Quote)
    others = [other for other in read_step_plans(files) if other.index < plan.index]
    for count in reversed(range(len(then) + 1)):
        plans = others + [plan] * (plan.round + 1) + list(then[:count])
        spent = price_fleet_usd(quote, measure_fleet_use(record, request, plans))
        if spent <= float(record.budget.fleet_usd):
            return count
    raise BudgetPassedError(
        f"the run's budget of {words.format_unit_usd(float(record.budget.usd))} keeps"
        f" {words.format_unit_usd(float(record.budget.fleet_usd))} for its load; with step"
        f" {plan.index} ({words.format_count(plan.clients_in_all, 'client')}) it would be"
        f" {words.format_unit_usd(spent)}"
    )


def read_step_plans(files: RunFiles) -> list[StepPlan]:
    """Read the plans of all steps, including the warming step and one under way.

    A step that ran in several rounds appears once for each. A window of a relay that ended before
    it has a plan, too, but no claims, and is left out.
    """
    paths = files.paths("steps/")
    numbers = sorted(int(path.split("/")[1]) for path in paths if path.endswith("/plan.json"))
    began = {int(path.split("/")[1]) for path in paths if "/claims/" in path}
    plans = [files.get(plan_path(number), StepPlan) for number in numbers]
    # plan.json holds the last round only
    return [
        plan
        for plan in plans
        if plan.relay is None or plan.index in began
        for _ in range(plan.round + 1)
    ]


# Runs that take turns: each waits for the other before its first measured step.


# After this share of its time limit a run goes on alone; its steps then have no pairs.
PATIENCE_SHARE = 0.5


def must_wait_for_partner(records: Records, record: RunRecord) -> bool:
    """Return whether to wait for the run's partner; note that this run is ready.

    A run does not wait for a partner that has ended or is being stopped, nor longer than half its
    own time limit.

    Args:
        records: The records of all runs.
        record: The record of the run that is ready to measure.
    """
    if record.turn is None:
        return False
    if record.turn_ready_at is None:
        records.change(record.run_id, turn_ready_at=now())
    other = records.find(record.turn.beside)
    ready = other is not None and (
        other.turn_ready_at is not None or other.state not in (RunState.PENDING, RunState.RUNNING)
    )
    patience = timedelta(seconds=PATIENCE_SHARE * record.time_limit_s)
    return not ready and now() < (record.started_at or record.submitted_at) + patience


def compute_step_delay_ms(plan: StepPlan, period_s: int | None, turn: Turn | None) -> int:
    """Compute how much later a step must start to keep to its turn and to whole metric periods.

    Args:
        plan: The step, starting as soon as its clients can be ready.
        period_s: The period of the target's metrics; None if it has none.
        turn: The run's turn; None if it takes none.
    """
    if turn is None or plan.index == WARMING_STEP:
        return compute_period_wait_ms(plan, period_s)
    return turn.wait_ms(plan.window_start_epoch_ms)  # slots begin on period boundaries


PAUSE_LEAST_S = 10  # a step that would wait longer for its barrier is planned again later
PLANNING_S = 5  # the usual most that planning it again takes; otherwise it waits one more period
AFTER_STEP_S = 5.0  # time in which clients write their results and the step is judged


def start_or_skip_step(
    settings: PlanStepSettings,
    record: RunRecord,
    checked: CheckedRequest,
    plan: StepPlan,
    finished: Sequence[FinishedStep],
    *,
    then: Sequence[str] = (),
) -> dict[str, object] | None:
    """Start a step; if time or budget is short, skip it or shorten its window where possible.

    Returns:
        None if the step was skipped: it would only have questioned an answer that stands without
        it.

    Raises:
        TimeLimitPassedError: A step that the run needs would end after the time limit.
        BudgetPassedError: A step that the run needs would exceed the budget.
    """
    try:
        return start_step(settings, record, checked, plan, finished, then=then)
    except (BudgetPassedError, TimeLimitPassedError):
        if plan.purpose in CLOSING:
            return None
        shorter = shorten_window(plan, checked.request)
        if shorter is None:
            raise
    return start_step(settings, record, checked, shorter, finished)


def start_step(
    settings: PlanStepSettings,
    record: RunRecord,
    checked: CheckedRequest,
    plan: StepPlan,
    finished: Sequence[FinishedStep],
    *,
    then: Sequence[str] = (),
) -> dict[str, object]:
    """Write a step's plan with its barrier; pause instead if the barrier is too far ahead.

    Args:
        settings: The function's settings.
        record: The run's record.
        checked: The run's request.
        plan: The step.
        finished: The finished steps.
        then: Why each further window follows it in a relay. Of these, as many are planned as time
            and budget allow.

    Raises:
        TimeLimitPassedError: The step would end after the run's time limit.
        BudgetPassedError: The step would exceed the budget.
    """
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    request = checked.request
    plan = plan_background(request, plan)
    late = count_late_steps(finished)
    early = _set_barrier(settings, plan, late)
    lead_ms = _compute_relay_lead_ms(settings, plan, late)
    files = files_of(settings, record.run_id)
    windows = plan_relay(request, early, then, lead_ms=lead_ms)
    paid = require_step_budget(files, record, request, early, windows[1:])
    then = then[:paid]
    kind = request.target.kind
    period_s = settings.metric_period_seconds if has_metrics(record.target, kind) else None
    pause_s = compute_step_delay_ms(early, period_s, record.turn) // 1000 - PLANNING_S
    if pause_s >= PAUSE_LEAST_S:  # the state machine waits, so no Lambda client is billed for it
        return Next.pause(pause_s)
    target = connect_as_master(settings, record.target)
    with find_family(target.protocol).open_datasets(target) as datasets:
        numbers = [_number_loads(datasets, checked, window) for window in windows[: len(then) + 1]]
    plan = _set_barrier(settings, plan, late)
    start = plan.start_at_epoch_ms + compute_step_delay_ms(plan, period_s, record.turn)
    if then:  # whole seconds: each of its seconds is then that of one fleet
        start = -(-start // 1000) * 1000
    plan = plan.model_copy(update={"start_at_epoch_ms": start})
    ends_s = plan.window_end_epoch_ms / 1000 + AFTER_STEP_S
    if record.expires_at is not None:
        left_s = record.expires_at.timestamp() - ends_s
        if left_s < 0:
            raise build_deadline_error(
                record,
                f"leaves no time for step {plan.index}"
                f" ({words.format_count(plan.clients_in_all, 'client')},"
                f" {words.format_duration(plan.warmup_s + plan.duration_s)})",
            )
        then = then[: int(left_s // plan.duration_s)]
    windows = plan_relay(request, plan, then, lead_ms=lead_ms)
    windows = tuple(
        window.model_copy(update=own) for window, own in zip(windows, numbers, strict=False)
    )
    for window in windows:
        files.put_model(plan_path(window.index), window)
    records_of(settings).change(
        record.run_id, step=plan.index, recovery=None, busy=None, relay_until=None
    )
    return Next.relay(windows) if then else Next.step(windows[0])


def _number_loads(
    datasets: Datasets, checked: CheckedRequest, plan: StepPlan
) -> Mapping[str, object]:
    """Return the numbers of a step's loads on their datasets, as fields of its plan."""
    workload = checked.of_phase(plan.phase)
    number = datasets.begin_load(workload)
    of_filling = datasets.begin_load(workload) if plan.fill_s else 0
    numbered = [
        load.model_copy(
            update={"load_number": datasets.begin_load(checked.background[load.number])}
        )
        for load in plan.background
    ]
    return {
        "load_number": number,
        "fill_load_number": of_filling,
        "background": tuple(numbered),
    }


def limit_to_time_left(settings: PlanStepSettings, record: RunRecord, plan: StepPlan) -> StepPlan:
    """Limit a pass to the run's remaining time: how long a pass takes is not known beforehand."""
    if record.expires_at is None:
        return plan
    start_s = _set_barrier(settings, plan, 0).start_at_epoch_ms / 1000
    left_s = record.expires_at.timestamp() - start_s - 2 * AFTER_STEP_S
    return plan.model_copy(update={"duration_s": max(1.0, min(plan.duration_s, left_s))})


def _compute_relay_lead_ms(settings: PlanStepSettings, plan: StepPlan, late_before: int) -> int:
    """Return the time from the call of a relay's fleet to its barrier, in ms.

    It leaves the lane's last fleet the time to end.
    """
    least = settings.start_lead_ms + plan.clients_in_all * settings.start_lead_ms_per_client
    most = round(1000 * (plan.duration_s - ENDING_S - RELAY_EARLY_S))
    return max(least, min(least << min(late_before, LEAD_DOUBLINGS), most))


def _set_barrier(settings: PlanStepSettings, plan: StepPlan, late_before: int) -> StepPlan:
    """Set a step's start to the earliest time at which its clients can be ready."""
    start = compute_barrier_ms(
        round(time.time() * 1000),
        clients=plan.clients_in_all,
        lead_ms=settings.start_lead_ms,
        per_client_ms=settings.start_lead_ms_per_client,
        late_before=late_before,
        load_s=plan.fill_s + plan.warmup_s + plan.duration_s,
    )
    return plan.model_copy(update={"start_at_epoch_ms": start + round(1000 * plan.fill_s)})
