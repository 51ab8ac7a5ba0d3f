"""What runs beside a step: planned with it, sent by clients of its own, merged apart from it. Pure.

A client of a background sends its load span after span, each as a load of its own to the engine;
what they report is put together as if it were one. Only what lies in the step's window counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.fleet import merge
from plimsoll.fleet.failures import told_together
from plimsoll.model.background import BackgroundLoad
from plimsoll.model.engine import ClosedLoop, EngineTarget, EngineWorkload, LoadSpec, OpenLoop
from plimsoll.model.engine_report import ConnectionReport, LoadReport, SelfReport
from plimsoll.model.fleet import ClientResult, FailedClient, StepPlan
from plimsoll.model.request import Request
from plimsoll.model.results import BackgroundResult, StepResult

EVEN_SHARE = 0.1  # of half a window: by so much its halves may differ in what runs beside them
LATE_MS = 500  # a span that begins so much later has lost a part of it


@dataclass(frozen=True, slots=True)
class SpanLoad:
    """One span of a client's load."""

    spec: LoadSpec
    start_s: float  # from the step's barrier
    counts: bool  # False: it ends before the window begins


def beside(request: Request, plan: StepPlan) -> StepPlan:
    """Add to a plan what runs beside it; nothing where it is there to be compared without."""
    if plan.purpose in ("without_background", "warm"):
        return plan
    loads, first = [], plan.clients
    for number, one in enumerate(request.background):
        spans_s = one.spans(plan.warmup_s + plan.duration_s)
        if not spans_s:  # a shorter window than the request's, which ends before it begins
            continue
        load = BackgroundLoad(
            name=one.name,
            number=number,
            first_client=first,
            clients=one.clients,
            connections=one.connections,
            rate_ops_per_second=one.rate_ops_per_second,
            spans_s=spans_s,
        )
        loads.append(load)
        first += one.clients
    return plan.model_copy(update={"background": tuple(loads)})


def span_loads(
    plan: StepPlan,
    load: BackgroundLoad,
    client: int,
    *,
    workload: EngineWorkload,
    target: EngineTarget,
) -> Iterator[SpanLoad]:
    """Tell the engine what a client of a background does, span after span.

    Each span is as a further client to the engine, so that it inserts rows of its own and draws
    keys of its own.
    """
    index = client - load.first_client
    share, rest = divmod(load.connections, load.clients)
    rate = load.rate_ops_per_second
    for number, (start_s, end_s) in enumerate(load.spans_s):
        counts = end_s > plan.warmup_s
        warmup_s = max(0.0, plan.warmup_s - start_s) if counts else 0.0
        spec = LoadSpec(
            target=target,
            workload=workload,
            connections=share + (index < rest),
            loop=ClosedLoop()
            if rate is None
            else OpenLoop(rate_ops_per_second=rate / load.clients),
            warmup_s=warmup_s,
            duration_s=end_s - start_s - warmup_s,
            timeout_ms=plan.timeout_ms,
            seed=plan.seed,
            client_index=index + number * load.clients,
            client_count=load.clients * len(load.spans_s),
            start_at_epoch_ms=plan.start_at_epoch_ms + round(start_s * 1000),
        )
        yield SpanLoad(spec, start_s, counts)


def joined(plan: StepPlan, spans: Sequence[tuple[SpanLoad, LoadReport]]) -> LoadReport:
    """Put the reports of a client's spans together, as of one load with the step's clock."""
    reports = [report for _, report in spans]
    counted = [report for span, report in spans if span.counts]
    names = {name: None for report in counted for name in report.operations}
    return reports[0].model_copy(
        update={
            "window_start_epoch_ms": plan.window_start_epoch_ms,
            "window_end_epoch_ms": plan.window_end_epoch_ms,
            "window_s": sum(report.window_s for report in counted),
            "late_start_ms": max(report.late_start_ms for report in reports),
            "operations": {name: merge.operation_report(name, counted) for name in names},
            "seconds": tuple(
                second.model_copy(update={"second": second.second + int(span.start_s)})
                for span, report in spans
                for second in report.seconds
            ),
            "client": _selves([report.client for report in counted or reports]),
            "connection_report": _connections([r.connection_report for r in reports]),
            "error_examples": {k: v for r in reports for k, v in r.error_examples.items()},
            "statements_sent": sum(report.statements_sent for report in reports),
            "transaction_commands_sent": sum(r.transaction_commands_sent for r in reports),
            "operations_sent": sum(report.operations_sent for report in reports),
        }
    )


def _selves(parts: Sequence[SelfReport]) -> SelfReport:
    """Add up what a client measured of itself; lateness and backlog stay with each span."""
    return SelfReport(
        cpu_user_s=sum(part.cpu_user_s for part in parts),
        cpu_system_s=sum(part.cpu_system_s for part in parts),
        cpu_us_per_operation=None,
        busy_fraction=max((p.busy_fraction for p in parts if p.busy_fraction), default=None),
        send_lateness_us=None,
        backlog_max=None,
        backlog_end=None,
        unsent=None,
        unanswered=sum(part.unanswered for part in parts),
        oldest_unanswered_us=None,
    )


def _connections(parts: Sequence[ConnectionReport]) -> ConnectionReport:
    failed: Counter[str] = Counter()
    for part in parts:
        failed.update(part.failed)
    return ConnectionReport(
        opened=sum(part.opened for part in parts),
        replaced=sum(part.replaced for part in parts),
        failed=dict(failed),
    )


def ran_s(plan: StepPlan, load: BackgroundLoad) -> float:
    """Give the seconds of a step's window in which a background runs."""
    return _within(load, plan.warmup_s, plan.warmup_s + plan.duration_s)


def _within(load: BackgroundLoad, start_s: float, end_s: float) -> float:
    return sum(max(0.0, min(end, end_s) - max(start, start_s)) for start, end in load.spans_s)


def is_even(plan: StepPlan) -> bool:
    """Whether both halves of a step's window meet about as much of what runs beside it.

    Where they do not, their difference says nothing of whether the target is in a steady state.
    """
    half_s = plan.duration_s / 2
    first, middle, last = (plan.warmup_s + halves * half_s for halves in range(3))
    return all(
        abs(_within(load, first, middle) - _within(load, middle, last)) <= EVEN_SHARE * half_s
        for load in plan.background
    )


def merged(
    plan: StepPlan, results: Sequence[ClientResult], failed: Sequence[FailedClient]
) -> tuple[BackgroundResult, ...]:
    """Merge what the clients of each background measured.

    Args:
        plan: Of the step.
        results: Of all its backgrounds' clients that ran.
        failed: Clients whose invocation ended in an error, of the step itself too.
    """
    return tuple(
        _merged(
            plan,
            load,
            [result for result in results if load.has(result.client)],
            tuple(client for client in failed if load.has(client.client)),
        )
        for load in plan.background
    )


def _merged(
    plan: StepPlan,
    load: BackgroundLoad,
    results: Sequence[ClientResult],
    failed: tuple[FailedClient, ...],
) -> BackgroundResult:
    operations, length_s = merge.operations(results), ran_s(plan, load)
    known = bool(results) and length_s > 0
    succeeded = sum(totals.succeeded for totals in operations.values())
    records = sum(totals.records for totals in operations.values())
    return BackgroundResult(
        name=load.name,
        spans_s=load.spans_s,
        clients=load.clients,
        clients_ran=len(results),
        connections=load.connections,
        ran_s=length_s,
        throughput_ops_per_second=succeeded / length_s if known else None,
        records_per_second=records / length_s if known else None,
        errors=sum(sum(totals.errors.values()) for totals in operations.values()),
        unanswered=sum(result.report.client.unanswered for result in results),
        late_ms=max((result.report.late_start_ms for result in results), default=0),
        operations=operations,
        failed=failed,
        seconds=merge.seconds(plan, results),
    )


def with_background(
    step: StepResult, results: Sequence[ClientResult], failed: Sequence[FailedClient]
) -> StepResult:
    """Add to a step what ran beside it, and what a reader has to know of that."""
    if not step.plan.background:
        return step
    found = merged(step.plan, results, failed)
    update: dict[str, object] = {}
    if not is_even(step.plan):
        update["step"] = step.step.model_copy(update={"halves": None, "trend": None})
    problems = tuple(text for one in found for text in _problems(one))
    return step.model_copy(
        update={"background": found, "problems": (*step.problems, *problems), **update}
    )


def _problems(one: BackgroundResult) -> Iterator[str]:
    for told in told_together(one.failed):
        yield f"background {one.name}: {told}"
    if one.errors:
        yield f"background {one.name}: {words.plural(one.errors, 'operation')} failed"
    if one.late_ms > LATE_MS:
        late = words.duration(one.late_ms / 1000)
        yield f"background {one.name}: it began {late} late, so that it ran for less"
    if one.ran_s and one.clients_ran and one.throughput_ops_per_second == 0:
        cut = f", {words.number(one.unanswered)} were cut off" if one.unanswered else ""
        yield f"background {one.name}: no operation was answered in the window{cut}"


def absent(step: StepResult) -> str | None:
    """Say which background did not run as planned; None where all did.

    Without it a step is no measurement of what was asked for.
    """
    for one in step.background:
        if one.clients_ran < one.clients:
            why = "; ".join(told_together(one.failed)[:1]) or "they never answered"
            missing = words.plural(one.clients - one.clients_ran, "client")
            return f"{missing} of the background {one.name} did not run: {why}"
    return None
