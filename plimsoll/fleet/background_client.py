"""The load of one background client: spans in sequence, reported as one load. Pure.

To the engine each span is a load of its own. Only the part within the step's window counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plimsoll_engine
from plimsoll.model.engine.answered import (
    ConnectionReport,
    LatencySummary,
    LoadReport,
    OperationReport,
    SelfReport,
)
from plimsoll.model.engine.asked import (
    ClosedLoop,
    EngineTarget,
    EngineWorkload,
    LoadSpec,
    OpenLoop,
)
from plimsoll.model.request.background import BackgroundLoad
from plimsoll.model.run.fleet import StepPlan


@dataclass(frozen=True, slots=True)
class SpanLoad:
    """One span of a client's load."""

    spec: LoadSpec
    start_s: float  # counted from the step's barrier
    counts: bool  # False if it ends before the window begins


def list_span_loads(
    plan: StepPlan,
    load: BackgroundLoad,
    client: int,
    *,
    workload: EngineWorkload,
    target: EngineTarget,
) -> Iterator[SpanLoad]:
    """Yield the engine's instructions for a background client, one load per span.

    Each span has a client number of its own, so that it inserts other rows and draws other keys.
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
            poll_us=plan.poll_us,
            seed=plan.seed,
            client_index=index + number * load.clients,
            client_count=load.clients * len(load.spans_s),
            start_at_epoch_ms=plan.start_at_epoch_ms + round(start_s * 1000),
        )
        yield SpanLoad(spec, start_s, counts)


def join_spans(plan: StepPlan, spans: Sequence[tuple[SpanLoad, LoadReport]]) -> LoadReport:
    """Merge the reports of a client's spans into one, on the step's clock."""
    reports = [report for _, report in spans]
    counted = [report for span, report in spans if span.counts]
    names = {name: None for report in counted for name in report.operations}
    return reports[0].model_copy(
        update={
            "window_start_epoch_ms": plan.window_start_epoch_ms,
            "window_end_epoch_ms": plan.window_end_epoch_ms,
            "window_s": sum(report.window_s for report in counted),
            "late_start_ms": max(report.late_start_ms for report in reports),
            "operations": {name: _merge_operation(name, counted) for name in names},
            "seconds": tuple(
                second.model_copy(update={"second": second.second + int(span.start_s)})
                for span, report in spans
                for second in report.seconds
            ),
            "client": _add_self_reports([report.client for report in counted or reports]),
            "connection_report": _add_connection_reports([r.connection_report for r in reports]),
            "error_examples": {k: v for r in reports for k, v in r.error_examples.items()},
            "statements_sent": sum(report.statements_sent for report in reports),
            "transaction_commands_sent": sum(r.transaction_commands_sent for r in reports),
            "nodes": (),  # the step's own clients report them
            "operations_sent": sum(report.operations_sent for report in reports),
        }
    )


def _merge_operation(name: str, reports: Sequence[LoadReport]) -> OperationReport:
    """Merge the reports of one operation from several loads."""
    parts = [report.operations[name] for report in reports if name in report.operations]
    histogram = plimsoll_engine.merge_histograms([part.histogram for part in parts])
    rows = [part.rows for part in parts if part.rows is not None]
    errors: Counter[str] = Counter()
    for part in parts:
        errors.update(part.errors)
    return OperationReport(
        succeeded=sum(part.succeeded for part in parts),
        records=sum(part.records for part in parts),
        rows=sum(rows) if len(rows) == len(parts) else None,
        errors=dict(errors),
        latency_us=LatencySummary.model_validate_json(plimsoll_engine.histogram_summary(histogram)),
        histogram=histogram,
    )


def _add_self_reports(parts: Sequence[SelfReport]) -> SelfReport:
    """Add up the client's figures about itself; lateness and backlog cannot be added."""
    waits = [part.processor_wait_s for part in parts if part.processor_wait_s is not None]
    polled = [part.polled_s for part in parts if part.polled_s is not None]
    return SelfReport(
        cpu_user_s=sum(part.cpu_user_s for part in parts),
        cpu_system_s=sum(part.cpu_system_s for part in parts),
        cpu_us_per_operation=None,
        processor_wait_s=sum(waits) if len(waits) == len(parts) else None,
        polled_s=sum(polled) if len(polled) == len(parts) else None,
        busy_fraction=max((p.busy_fraction for p in parts if p.busy_fraction), default=None),
        send_lateness_us=None,
        backlog_max=None,
        backlog_end=None,
        unsent=None,
        unanswered=sum(part.unanswered for part in parts),
        oldest_unanswered_us=None,
    )


def _add_connection_reports(parts: Sequence[ConnectionReport]) -> ConnectionReport:
    failed: Counter[str] = Counter()
    for part in parts:
        failed.update(part.failed)
    return ConnectionReport(
        opened=sum(part.opened for part in parts),
        replaced=sum(part.replaced for part in parts),
        failed=dict(failed),
    )
