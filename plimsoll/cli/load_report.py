"""What `plimsoll load` prints: a line each second, then the tables."""

from collections.abc import Sequence
from typing import Any

import click
from rich.table import Table

from plimsoll import words
from plimsoll.cli.output import console, table_of
from plimsoll.model.engine_report import LoadReport, OperationReport, SelfReport
from plimsoll.model.steps import STATISTICS
from plimsoll.workload import Compiled


def second_line(operations: Sequence[dict[str, Any]], warmup_s: float, load_s: float) -> str:
    """Say what happened in one second.

    Operations are counted, not given as a rate: the last second may be shorter than the others.

    Args:
        operations: The second's reports as JSON has them, one for each operation.
        warmup_s: Length of the warm-up in seconds.
        load_s: Length of the warm-up and the window in seconds.
    """
    if not operations:
        return ""
    second = operations[0]["second"]
    succeeded = sum(operation["succeeded"] for operation in operations)
    errors = sum(operation["errors"] for operation in operations)
    warms_up = "  warm-up" if second < warmup_s else ""
    parts = [f"{min(second + 1, load_s):>5g} s{warms_up}  {succeeded:>9,} ops"]
    if errors:
        parts.append(words.plural(errors, "error"))
    parts.extend(
        f"{operation['operation']} p99 {words.latency(operation['p99_us'])}"
        f" max {words.latency(operation['max_us'])}"
        for operation in operations
        if operation["p99_us"] is not None
    )
    return "  ".join(parts)


def print_report(report: LoadReport, compiled: Compiled, server: str, *, seed: int) -> None:
    """Print a load's report for people: throughput, latency, errors, and the client itself."""
    loop = (
        "closed loop"
        if report.rate_ops_per_second is None
        else f"open loop, {words.load(report.rate_ops_per_second, 'rate_ops_per_second')}"
    )
    connections = words.plural(report.connections, "connection")
    records = words.plural(compiled.records, "record")
    click.echo(f"{compiled.name} on {server}, {records}; {loop}, {connections}")
    window = words.duration(report.window_s)
    click.echo(f"window {window}, ended by {report.ended}; seed {seed}")
    click.echo()
    console().print(_operations(report))
    if report.nodes:
        click.echo()
        console().print(_nodes(report))
    errors = _errors(report)
    if errors.row_count:
        click.echo()
        console().print(errors)
    click.echo()
    _print_client(report)


def _operations(report: LoadReport) -> Table:
    with_records = any(o.records != o.succeeded for o in report.operations.values())
    figures = [
        *("count", "errors", "ops/s"),
        *(["records/s"] if with_records else []),
        *map(words.statistic, STATISTICS),
    ]
    table = table_of("operation", *figures, right=figures)
    for name, operation in report.operations.items():
        table.add_row(name, *_row(operation, report.window_s, with_records=with_records))
    return table


def _row(operation: OperationReport, window_s: float, *, with_records: bool) -> list[str]:
    cells = [
        words.number(operation.succeeded),
        words.number(sum(operation.errors.values())),
        _per_second(operation.succeeded, window_s),
    ]
    if with_records:
        cells.append(_per_second(operation.records, window_s))
    latencies_us = (getattr(operation.latency_us, statistic) for statistic in STATISTICS)
    return cells + [words.latency(us) for us in latencies_us]


def _nodes(report: LoadReport) -> Table:
    figures = ("of the ring", "of operations", "count", "errors", "p99", "taken over", "lost")
    table = table_of("node", *figures, right=figures)
    succeeded = sum(node.succeeded for node in report.nodes)
    for node in report.nodes:
        table.add_row(
            node.address,
            words.percent(node.ring_share),
            words.percent(node.succeeded / succeeded if succeeded else None),
            words.number(node.succeeded),
            words.number(sum(node.errors.values())),
            words.latency(node.latency_us.p99),
            words.number(node.taken_over),
            words.number(node.lost),
        )
    return table


def _errors(report: LoadReport) -> Table:
    table = table_of("operation", "error", "times", "the server said", right=("times",))
    errors = {name: operation.errors for name, operation in report.operations.items()}
    for name, counts in (*errors.items(), ("(connecting)", report.connection_report.failed)):
        for code, count in counts.items():
            table.add_row(name, code, words.number(count), report.error_examples.get(code, ""))
    return table


def _print_client(report: LoadReport) -> None:
    client = report.client
    cost = (
        "no operation"
        if client.cpu_us_per_operation is None
        else f"{words.three_figures(client.cpu_us_per_operation)} µs CPU per operation"
    )
    user, system = words.duration(client.cpu_user_s), words.duration(client.cpu_system_s)
    busy = words.percent(client.busy_fraction)
    polled = ""
    if client.polled_s:
        polled = f"; looked for answers for {words.duration(client.polled_s)}, left out of both"
    click.echo(f"client: {cost} ({user} user, {system} system), busy {busy} of the window{polled}")
    if client.send_lateness_us is not None:
        late = client.send_lateness_us
        click.echo(
            f"sends: late by {words.latency(late.p50)} at the median,"
            f" {words.latency(late.p99)} at p99, {words.latency(late.max)} at most;"
            f" backlog at most {client.backlog_max or 0:,},"
            f" {client.backlog_end or 0:,} at the end; never sent {client.unsent or 0:,}"
        )
    if client.unanswered and (report.rate_ops_per_second or _long_ago(client)):
        click.echo(
            f"unanswered at the end: {client.unanswered:,}, the oldest"
            f" {words.latency(client.oldest_unanswered_us)} old"
        )
    connections = report.connection_report
    if connections.replaced:
        click.echo(f"connections: {connections.opened:,} opened, {connections.replaced:,} replaced")


def _long_ago(client: SelfReport) -> bool:
    """Whether an operation hangs; in a closed loop every connection waits for one at the end."""
    return (client.oldest_unanswered_us or 0) > 1_000_000


def _per_second(count: int, window_s: float) -> str:
    return words.rate(count / window_s if window_s > 0 else None)
