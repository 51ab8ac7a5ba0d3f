"""A step as capacity judges it, from all of its clients and the server's own counters."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.capacity.trends import trend
from plimsoll.families.family import family_of
from plimsoll.fleet import merge
from plimsoll.fleet.failures import refusal, told_together
from plimsoll.model.fleet import ClientResult, FailedClient, ServerCounters, StepPlan
from plimsoll.model.results import FleetFigures, OperationTotals, ServerFigures, StepResult
from plimsoll.model.steps import STATISTICS, Step


def merged_step(
    plan: StepPlan,
    results: Sequence[ClientResult],
    failed: Sequence[FailedClient],
    *,
    server_after: ServerCounters | None,
) -> StepResult:
    """Put a step together.

    Args:
        plan: What was planned.
        results: Of the clients that ran.
        failed: Clients whose invocation ended in an error.
        server_after: The server's counters after the load; None where it did not answer.
    """
    fleet = merge.fleet_figures(plan, results, failed)
    server = _server(plan, results, server_after)
    operations = merge.operations(results)
    to_completion = plan.operations is not None
    window = merge.Window(results, to_completion=to_completion) if results else None
    if window is not None and to_completion:  # it lasted as long as it took
        plan = plan.model_copy(update={"duration_s": window.length_s})
    return StepResult(
        plan=plan,
        window_start_epoch_ms=window.start_epoch_ms if window else None,
        window_end_epoch_ms=window.end_epoch_ms if window else None,
        operations=operations,
        fleet=fleet,
        server=server,
        problems=tuple(_problems(plan, fleet, server, window)),
        step=_step(plan, results, operations=operations, window=window, fleet=fleet, server=server),
        seconds=merge.seconds(plan, results),
    )


def _server(
    plan: StepPlan, results: Sequence[ClientResult], after: ServerCounters | None
) -> ServerFigures | None:
    if plan.server_before is None or after is None:
        return None
    complete = len(results) == plan.clients
    sent = sum(result.report.statements_sent for result in results) if complete else None
    family = family_of(after.family)
    figures = family.server_figures(plan.server_before, after, statements_by_clients=sent)
    looks = [look for result in results for look in result.looks]
    return figures.model_copy(update={"looks": merge.server_looks(looks)})


def _step(
    plan: StepPlan,
    results: Sequence[ClientResult],
    *,
    operations: dict[str, OperationTotals],
    window: merge.Window | None,
    fleet: FleetFigures,
    server: ServerFigures | None,
) -> Step:
    succeeded = sum(totals.succeeded for totals in operations.values())
    failed = sum(sum(totals.errors.values()) for totals in operations.values())
    reports = [result.report for result in results]
    lateness = [
        report.client.send_lateness_us.p99
        for report in reports
        if report.client.send_lateness_us and report.client.send_lateness_us.p99 is not None
    ]
    backlogs = [r.client.backlog_end for r in reports if r.client.backlog_end is not None]
    throughput = merge.throughput(plan, window, results) if window else None
    refused = refusal(fleet.failed, plan.clients)
    if refused is not None and not results:
        throughput = 0.0  # nobody was let in
    return Step(
        index=plan.index,
        source=f"steps/{plan.index}",
        purpose=None if plan.purpose in {"warm", "phase"} else plan.purpose,
        clients=plan.clients,
        connections=plan.connections,
        rate_ops_per_second=plan.rate_ops_per_second,
        throughput_ops_per_second=throughput,
        refused=refused,
        operations=succeeded if results else None,
        errors=failed if results else None,
        window_s=window.length_s or None if window else None,
        latency_us={name: _latency(totals) for name, totals in operations.items()},
        shares={name: t.succeeded / succeeded for name, t in operations.items() if succeeded},
        operation_counts={name: totals.succeeded for name, totals in operations.items()},
        clients_ran=fleet.ran,
        clients_late=sum(late_ms > plan.warmup_s * 1000 for late_ms in fleet.late.values()),
        client_busy=min(fleet.busiest_client, 1.0) if fleet.busiest_client is not None else None,
        send_lateness_us=max(lateness, default=None),
        backlog_end=sum(backlogs) if backlogs else None,
        halves=merge.halves(plan, window, results) if window else None,
        trend=trend(merge.second_by_second(plan, window, results)) if window else None,
        window_factor=plan.window_factor,
        recovered=plan.recovered,
        statements_sent=server.statements_by_clients if server else None,
        statements_served=server.statements_by_server if server else None,
    )


def _latency(totals: OperationTotals) -> dict[str, float]:
    summary = totals.latency_us.model_dump()
    return {name: summary[name] for name in STATISTICS if summary[name] is not None}


def _problems(
    plan: StepPlan,
    fleet: FleetFigures,
    server: ServerFigures | None,
    window: merge.Window | None,
) -> list[str]:
    """Say in plain words what a reader has to know of a step."""
    problems = told_together(fleet.failed)
    if fleet.missing:
        named = ", ".join(str(client) for client in fleet.missing[:10])
        problems.append(f"{words.plural(len(fleet.missing), 'client')} never answered: {named}")
    if fleet.late:
        worst = words.duration(max(fleet.late.values()) / 1000)
        late = words.plural(len(fleet.late), "client was", "clients were")
        problems.append(f"{late} late, at most by {worst}")
    if window is not None and not window.whole:
        problems.append(
            f"all clients ran together for {words.duration(window.length_s)} only, not"
            f" {words.duration(plan.duration_s)}: throughput is of that time, latencies are of each"
            " client's own window"
        )
    if server is None:
        problems.append("the server's own counters could not be read")
    elif server.restarted:
        problems.append("the server was restarted during the step")
    if plan.recovered is False:
        why = f": {plan.recovery}" if plan.recovery else ""
        problems.append(f"the target had not recovered from the step before{why}")
    elif plan.recovery:
        problems.append(f"before it the target recovered as far as it does: {plan.recovery}")
    return problems
