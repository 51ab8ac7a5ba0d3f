"""Divides a step among its clients, and sets the barrier at which all of them start."""

from collections.abc import Sequence
from itertools import takewhile

from plimsoll.fleet.failures import is_too_late
from plimsoll.fleet.phase_plan import slice_pass
from plimsoll.model.engine.asked import (
    ClosedLoop,
    EngineTarget,
    EngineWorkload,
    LoadSpec,
    OpenLoop,
)
from plimsoll.model.judging.steps import FinishedStep
from plimsoll.model.metric_periods import wait_ms
from plimsoll.model.request.load_request import (
    CONNECTIONS_OF_A_CLIENT,
    ENDING_S,
    SECONDS_OF_A_CLIENT,
    compute_longest_load_s,
)
from plimsoll.model.request.phases import compute_records_per_operation
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep, RampSearch, StepsSearch
from plimsoll.model.run.fleet import MISSING_SHARE_MOST, WARMING_STEP, ServerCounters, StepPlan
from plimsoll.model.run.results import StepResult

LEAD_DOUBLINGS = 3


def compute_barrier_ms(
    now_epoch_ms: int,
    *,
    clients: int,
    lead_ms: int,
    per_client_ms: int,
    late_before: int = 0,
    load_s: float = 0,
) -> int:
    """Return the time at which all clients of a step start, in ms of the epoch.

    Args:
        now_epoch_ms: The current time.
        clients: The number of clients.
        lead_ms: The time that the first clients need to be called, started and connected.
        per_client_ms: The time that each further client adds: AWS creates 1,000 environments of a
            function in 10 s (docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html).
        late_before: The number of steps just before it whose clients were late. Each doubles the
            time, up to eightfold.
        load_s: The load with its warm-up, in seconds. The first clients wait for the barrier, and
            must still finish within a client's longest run time.
    """
    lead = lead_ms + clients * per_client_ms
    most = max(lead, round(1000 * (SECONDS_OF_A_CLIENT - ENDING_S - load_s)))
    return now_epoch_ms + min(lead << min(late_before, LEAD_DOUBLINGS), most)


def compute_period_wait_ms(plan: StepPlan, period_s: int | None) -> int:
    """Return the delay in ms with which a step's window holds whole periods of the metrics.

    Args:
        plan: The plan of the step, with the earliest possible start. A warming step gets no delay,
            as it is not measured, nor does a pass of a phase, whose end is unknown.
        period_s: The period of the target's metrics; None if it has none.
    """
    if plan.index == WARMING_STEP or plan.operations is not None or period_s is None:
        return 0
    return wait_ms(
        plan.start_at_epoch_ms,
        warmup_s=plan.warmup_s,
        duration_s=plan.duration_s,
        period_s=period_s,
    )


def reduce_step(step: StepResult) -> FinishedStep:
    """Reduce a judged step to what the search needs."""
    warmup_ms = step.plan.warmup_s * 1000
    late = sum(map(is_too_late, step.fleet.failed))
    late += sum(late_ms > warmup_ms for late_ms in step.fleet.late.values())
    many = late > MISSING_SHARE_MOST * step.plan.clients
    # a step without its background is void, so one late client of it is too many
    beside = (client for one in step.background for client in one.failed)
    too_many = many or any(map(is_too_late, beside))
    return FinishedStep(step=step.step, phase=step.plan.phase, late=too_many)


def count_late_steps(steps: Sequence[FinishedStep]) -> int:
    """Count the steps with late clients at the end of the sequence."""
    late = takewhile(lambda step: step.late, reversed(steps))
    return sum(1 for _ in late)


def compute_toggle_warming_s(request: Request, state: str | None) -> float:
    """Return the seconds of unmeasured load at the beginning of a step, before its warm-up.

    After a toggle the server is warmed within the step, equally long each time.

    Args:
        request: The request.
        state: The toggle's state; None for a step without a toggle.
    """
    return 0.0 if state is None else request.prepare.warm_s


def plan_step(
    following: NextStep,
    request: Request,
    *,
    poll_us: int = 0,
    first: int = 0,
    phase: str | None = None,
) -> StepPlan:
    """Plan the step that a search asks for, yet without its barrier and the server's state.

    Args:
        following: What the search asks for.
        request: The request of the search.
        poll_us: How long clients busy-poll if neither the search nor the request says, in µs.
        first: The number of step numbers reserved before this search's own.
        phase: The phase whose search it is; None if it is the run's own.
    """
    load = request.load
    warm_s = compute_toggle_warming_s(request, following.state)
    room_s = compute_longest_load_s(following.clients + request.clients_beside) - warm_s
    factor = min(following.window_factor, room_s / (load.warmup_s + load.duration_s))
    return StepPlan(
        index=first + following.index + 1,
        purpose=following.purpose,
        why=following.why,
        clients=following.clients,
        connections=max(following.connections, following.clients),
        rate_ops_per_second=following.rate_ops_per_second,
        warmup_s=warm_s + factor * load.warmup_s,
        duration_s=following.duration_s or factor * load.duration_s,
        window_factor=following.window_factor,
        state=following.state,
        timeout_ms=load.timeout_ms,
        poll_us=_find_first_known(following.poll_us, load.poll_us, poll_us),
        # each step draws other keys, but a repeated run draws the same ones
        seed=load.seed + first + following.index + 1,
        start_at_epoch_ms=0,
        recovered=None,
        server_before=None,
        phase=phase,
    )


def _find_first_known(*chosen: int | None) -> int:
    return next(value for value in chosen if value is not None)


def plan_warming(
    request: Request, *, number: int = 0, server_before: ServerCounters | None = None
) -> StepPlan:
    """Plan a round of unmeasured load that fills the caches before the first step."""
    search = request.search
    connections = (
        search.connections_first
        if isinstance(search, RampSearch)
        else search.connections_per_client
    )
    if isinstance(search, StepsSearch):
        connections *= search.clients[0]
    return StepPlan(
        index=WARMING_STEP,
        purpose="warm",
        why="fills the caches; not measured",
        clients=1,
        connections=min(connections, CONNECTIONS_OF_A_CLIENT),
        rate_ops_per_second=None,
        warmup_s=0,
        duration_s=request.prepare.warm_s,
        timeout_ms=request.load.timeout_ms,
        seed=_round_seed(request, number),
        round=number,
        start_at_epoch_ms=0,
        recovered=None,
        server_before=server_before,
    )


def _round_seed(request: Request, number: int) -> int:
    """Return a seed with which a round draws other keys than other rounds and all steps."""
    return (request.load.seed + number * 2**32) % 2**63


def share_connections(plan: StepPlan, client: int) -> int:
    """Return a client's share of the connections; the first clients get the remainder."""
    share, rest = divmod(plan.connections, plan.clients)
    return share + (client < rest)


def share_rate(plan: StepPlan, client: int) -> float | None:
    """Return a client's rate in operations per second, in proportion to its connections."""
    if plan.rate_ops_per_second is None:
        return None
    return plan.rate_ops_per_second * share_connections(plan, client) / plan.connections


def make_load_spec(
    plan: StepPlan, client: int, *, workload: EngineWorkload, target: EngineTarget
) -> LoadSpec:
    """Return the engine's instructions for one client of a step."""
    rate = share_rate(plan, client)
    operations, sequence_from = None, 0
    if plan.operations is not None:
        records_each = compute_records_per_operation(workload.operations)
        operations, sequence_from = slice_pass(plan, client, records_each)
    return LoadSpec(
        target=target,
        workload=workload,
        connections=share_connections(plan, client),
        loop=ClosedLoop() if rate is None else OpenLoop(rate_ops_per_second=rate),
        warmup_s=plan.warmup_s,
        duration_s=plan.duration_s,
        operations_limit=operations,
        sequence_from=sequence_from,
        timeout_ms=plan.timeout_ms,
        poll_us=plan.poll_us,
        seed=plan.seed,
        client_index=client,
        client_count=plan.clients,
        start_at_epoch_ms=plan.start_at_epoch_ms,
    )
