"""Background load during a step: planned with it, sent by its own clients. Pure.

Only the part within the step's window counts.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from plimsoll import words
from plimsoll.fleet.failures import describe_failures
from plimsoll.fleet.plan import compute_toggle_warming_s
from plimsoll.model.request.background import BackgroundLoad
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import FailedClient, StepPlan
from plimsoll.model.run.results import BackgroundResult, StepResult

if TYPE_CHECKING:  # needs the engine, which functions that only plan a step lack
    from plimsoll.fleet.fold import Fold

EVEN_SHARE = 0.1  # largest difference between both halves of a window, as a share of a half
LATE_MS = 500  # a span that begins later than this has lost a part


def plan_background(request: Request, plan: StepPlan) -> StepPlan:
    """Add the background load to a plan.

    Steps that are compared without it get none, nor do phases, whose end is unknown.
    """
    if plan.purpose in ("without_background", "warm") or plan.phase is not None:
        return plan
    loads, first, warm_s = [], plan.clients, compute_toggle_warming_s(request, plan.state)
    for number, one in enumerate(request.background):
        spans_s = one.spans(plan.warmup_s + plan.duration_s - warm_s)
        if not spans_s:  # the window is shorter than the request's and ends before this load begins
            continue
        load = BackgroundLoad(
            name=one.name,
            number=number,
            first_client=first,
            clients=one.clients,
            connections=one.connections,
            rate_ops_per_second=one.rate_ops_per_second,
            spans_s=tuple((start + warm_s, end + warm_s) for start, end in spans_s),
        )
        loads.append(load)
        first += one.clients
    return plan.model_copy(update={"background": tuple(loads)})


def measure_background_s(plan: StepPlan, load: BackgroundLoad) -> float:
    """Return for how many seconds of a step's window a background load runs."""
    return _measure_overlap_s(load, plan.warmup_s, plan.warmup_s + plan.duration_s)


def _measure_overlap_s(load: BackgroundLoad, start_s: float, end_s: float) -> float:
    return sum(max(0.0, min(end, end_s) - max(start, start_s)) for start, end in load.spans_s)


def is_even(plan: StepPlan) -> bool:
    """Whether both halves of a step's window have about the same background load.

    If not, a difference between the halves says nothing about a steady state.
    """
    half_s = plan.duration_s / 2
    first, middle, last = (plan.warmup_s + halves * half_s for halves in range(3))
    return all(
        abs(_measure_overlap_s(load, first, middle) - _measure_overlap_s(load, middle, last))
        <= EVEN_SHARE * half_s
        for load in plan.background
    )


def _sum_background(
    load: BackgroundLoad, fold: "Fold", failed: tuple[FailedClient, ...]
) -> BackgroundResult:
    operations, length_s = fold.operations(), measure_background_s(fold.plan, load)
    known = bool(fold.ran) and length_s > 0
    records = sum(totals.records for totals in operations.values())
    return BackgroundResult(
        name=load.name,
        spans_s=load.spans_s,
        clients=load.clients,
        clients_ran=len(fold.ran),
        connections=load.connections,
        ran_s=length_s,
        throughput_ops_per_second=fold.succeeded / length_s if known else None,
        records_per_second=records / length_s if known else None,
        errors=sum(sum(totals.errors.values()) for totals in operations.values()),
        unanswered=fold.unanswered,
        late_ms=max(fold.late.values(), default=0),
        operations=operations,
        failed=failed,
        seconds=fold.seconds(),
    )


def add_background_results(
    step: StepResult, folds: Sequence["Fold"], failed: Sequence[FailedClient]
) -> StepResult:
    """Add the results of the background load to a step, with notes for the reader.

    Args:
        step: The step as its own clients measured it.
        folds: The sums of each background load's clients, in order.
        failed: The clients whose invocation ended in an error, including the step's own.
    """
    if not step.plan.background:
        return step
    found = tuple(
        _sum_background(load, fold, tuple(client for client in failed if load.has(client.client)))
        for load, fold in zip(step.plan.background, folds, strict=True)
    )
    update: dict[str, object] = {}
    if not is_even(step.plan):
        update["step"] = step.step.model_copy(update={"halves": None, "trend": None})
    problems = tuple(text for one in found for text in _list_problems(one))
    return step.model_copy(
        update={"background": found, "problems": (*step.problems, *problems), **update}
    )


def _list_problems(one: BackgroundResult) -> Iterator[str]:
    for told in describe_failures(one.failed):
        yield f"background {one.name}: {told}"
    if one.errors:
        yield f"background {one.name}: {words.format_count(one.errors, 'operation')} failed"
    if one.late_ms > LATE_MS:
        late = words.format_duration(one.late_ms / 1000)
        yield f"background {one.name}: it began {late} late, and ran for less time"
    if one.ran_s and one.clients_ran and one.throughput_ops_per_second == 0:
        cut = f", {words.format_number(one.unanswered)} were cut off" if one.unanswered else ""
        yield f"background {one.name}: no operation was answered in the window{cut}"
