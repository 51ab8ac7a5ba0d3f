"""`plimsoll load`: loads a database with a workload, and prints what was measured."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from plimsoll import words
from plimsoll.cli.exporting import Exporting, export_options
from plimsoll.cli.options import dsn_option, parse_settings, table_options, workload_options
from plimsoll.cli.output import console, make_table
from plimsoll.load_line.options import PASSWORD, LoadOptions

if TYPE_CHECKING:
    from rich.table import Table

    from plimsoll.model.engine.answered import LoadReport, OperationReport, SelfReport
    from plimsoll.model.engine.asked import LoadSpec
    from plimsoll.workload import Compiled


# Output: a line each second, then the tables.


def format_second(operations: Sequence[dict[str, Any]], warmup_s: float, load_s: float) -> str:
    """Describe one second of the load.

    Operations are counted rather than given as a rate, since the last second may be shorter.

    Args:
        operations: The second's reports from JSON, one for each operation.
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
        parts.append(words.format_count(errors, "error"))
    parts.extend(
        f"{operation['operation']} p99 {words.format_latency(operation['p99_us'])}"
        f" max {words.format_latency(operation['max_us'])}"
        for operation in operations
        if operation["p99_us"] is not None
    )
    return "  ".join(parts)


def print_report(report: LoadReport, compiled: Compiled, server: str, *, seed: int) -> None:
    """Print a load's report: throughput, latency, errors, and the client itself."""
    loop = (
        "closed loop"
        if report.rate_ops_per_second is None
        else f"open loop, {words.format_load(report.rate_ops_per_second, 'rate_ops_per_second')}"
    )
    connections = words.format_count(report.connections, "connection")
    records = f", {words.format_count(compiled.records, 'record')}" if compiled.tables else ""
    click.echo(f"{compiled.name} on {server}{records}; {loop}, {connections}")
    window = words.format_duration(report.window_s)
    click.echo(f"window {window}, ended by {report.ended}; seed {seed}")
    click.echo()
    console().print(_make_operations_table(report))
    for line in _describe_logic(report, compiled):
        click.echo(line)
    if any(operation.statements for operation in report.operations.values()):
        click.echo()
        console().print(_make_statements_table(report))
    if report.nodes:
        click.echo()
        console().print(_make_nodes_table(report))
    errors = _make_errors_table(report)
    if errors.row_count:
        click.echo()
        console().print(errors)
    for doubt in _list_doubts(report):
        click.echo(f"\nthis load does not count: {doubt}")
    click.echo()
    _print_client(report)


def _describe_logic(report: LoadReport, compiled: Compiled) -> list[str]:
    """Describe figures per minute, rollbacks that were meant, and tries that were repeated."""
    lines = [
        f"{name} {words.format_number(rate)}: {compiled.per_minute[name]} committed per minute"
        for name, rate in report.per_minute(compiled.per_minute).items()
    ]
    for name, operation in report.operations.items():
        if operation.rolled_back:
            share = words.format_percent(operation.rolled_back / operation.succeeded)
            lines.append(
                f"{name}: {words.format_number(operation.rolled_back)} rolled back as meant,"
                f" {share}"
            )
        if operation.retries:
            counted = ", ".join(f"{code}: {n:,}" for code, n in operation.retries.items())
            lines.append(f"{name}: tried again after deadlocks or conflicts ({counted})")
    return lines


def _list_doubts(report: LoadReport) -> list[str]:
    """Describe what a server's successes hide: rows that are missing, writes that are not kept."""
    from plimsoll.capacity.steps.audits import audit_rows_met, audit_writes
    from plimsoll.model.judging.capacity import Rules
    from plimsoll.model.judging.steps import Step
    from plimsoll.model.run.results import split_known_rows

    meant, missing = split_known_rows(report.operations)
    read_back = report.read_back
    step = Step(
        rows_meant=meant,
        rows_missing=missing,
        written_back=read_back.written if read_back else None,
        read_back=read_back.kept if read_back else None,
    )
    audits = audit_rows_met(step, Rules().errors_max_share), audit_writes(step)
    return [audit.detail for audit in audits if audit.passed is False]


def _make_operations_table(report: LoadReport) -> Table:
    from plimsoll.model.judging.steps import STATISTICS

    with_rows = any(o.rows is not None for o in report.operations.values())
    with_records = any(o.records != o.succeeded for o in report.operations.values())
    figures = [
        *("count", "errors"),
        *(["rows met"] if with_rows else []),
        "ops/s",
        *(["records/s"] if with_records else []),
        *map(words.name_statistic, STATISTICS),
    ]
    table = make_table("operation", *figures, right=figures)
    for name, operation in report.operations.items():
        cells = _make_row(
            operation, report.window_s, with_rows=with_rows, with_records=with_records
        )
        table.add_row(name, *cells)
    return table


def _make_row(
    operation: OperationReport, window_s: float, *, with_rows: bool, with_records: bool
) -> list[str]:
    from plimsoll.model.judging.steps import STATISTICS

    cells = [
        words.format_number(operation.succeeded),
        words.format_number(sum(operation.errors.values())),
        *([words.format_number(operation.rows)] if with_rows else []),
        _format_rate(operation.succeeded, window_s),
    ]
    if with_records:
        cells.append(_format_rate(operation.records, window_s))
    latencies_us = (getattr(operation.latency_us, statistic) for statistic in STATISTICS)
    return cells + [words.format_latency(us) for us in latencies_us]


def _make_statements_table(report: LoadReport) -> Table:
    figures = ("count", "mean", "p50", "p99")
    table = make_table("operation", "statement", *figures, right=figures)
    for name, operation in report.operations.items():
        for statement in operation.statements:
            latency = statement.latency_us
            shown = statement.sql if len(statement.sql) <= 60 else f"{statement.sql[:59]}…"
            latencies = (latency.mean, latency.p50, latency.p99)
            table.add_row(
                name,
                shown,
                words.format_number(statement.executed),
                *map(words.format_latency, latencies),
            )
    return table


def _make_nodes_table(report: LoadReport) -> Table:
    figures = ("of the ring", "of operations", "count", "errors", "p99", "taken over", "lost")
    table = make_table("node", *figures, right=figures)
    succeeded = sum(node.succeeded for node in report.nodes)
    for node in report.nodes:
        table.add_row(
            node.address,
            words.format_percent(node.ring_share),
            words.format_percent(node.succeeded / succeeded if succeeded else None),
            words.format_number(node.succeeded),
            words.format_number(sum(node.errors.values())),
            words.format_latency(node.latency_us.p99),
            words.format_number(node.taken_over),
            words.format_number(node.lost),
        )
    return table


def _make_errors_table(report: LoadReport) -> Table:
    table = make_table("operation", "error", "times", "the server said", right=("times",))
    errors = {name: operation.errors for name, operation in report.operations.items()}
    for name, counts in (*errors.items(), ("(connecting)", report.connection_report.failed)):
        for code, count in counts.items():
            table.add_row(
                name, code, words.format_number(count), report.error_examples.get(code, "")
            )
    return table


def _print_client(report: LoadReport) -> None:
    client = report.client
    cost = (
        "no operation"
        if client.cpu_us_per_operation is None
        else f"{words.format_three_figures(client.cpu_us_per_operation)} µs CPU per operation"
    )
    user, system = (
        words.format_duration(client.cpu_user_s),
        words.format_duration(client.cpu_system_s),
    )
    busy = words.format_percent(client.busy_fraction)
    polled = ""
    if client.polled_s:
        polled = f"; busy-polled for {words.format_duration(client.polled_s)}, not included"
    click.echo(f"client: {cost} ({user} user, {system} system), busy {busy} of the window{polled}")
    if client.send_lateness_us is not None:
        late = client.send_lateness_us
        click.echo(
            f"sends: late by {words.format_latency(late.p50)} at the median,"
            f" {words.format_latency(late.p99)} at p99, {words.format_latency(late.max)} at most;"
            f" backlog at most {client.backlog_max or 0:,},"
            f" {client.backlog_end or 0:,} at the end; never sent {client.unsent or 0:,}"
        )
    if client.unanswered and (report.rate_ops_per_second or _hangs(client)):
        click.echo(
            f"unanswered at the end: {client.unanswered:,}, the oldest"
            f" {words.format_latency(client.oldest_unanswered_us)} old"
        )
    connections = report.connection_report
    if connections.replaced:
        click.echo(f"connections: {connections.opened:,} opened, {connections.replaced:,} replaced")


def _hangs(client: SelfReport) -> bool:
    """Return whether an operation hangs; at the end of a closed loop each connection has one."""
    return (client.oldest_unanswered_us or 0) > 1_000_000


def _format_rate(count: int, window_s: float) -> str:
    return words.format_rate(count / window_s if window_s > 0 else None)


@click.command("load")
@dsn_option
@workload_options
@table_options(LoadOptions)
@export_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    *,
    dsn: str,
    workload_name: str,
    settings: tuple[str, ...],
    options: LoadOptions,
    exporting: Exporting,
    as_json: bool,
) -> int:
    """Load a database and measure it.

    Exit code 1: no operation succeeded. 130: it was interrupted. Either way the report is printed.
    """
    from plimsoll.capacity.conditions import describe_broken, describe_conditions
    from plimsoll.load_line.load import run_load
    from plimsoll.model.request.dsn import note_statement_mode, parse_dsn
    from plimsoll.workload import load_workload

    target = parse_dsn(dsn, password=os.environ.get(PASSWORD, ""))
    workload = load_workload(workload_name)
    given = parse_settings(workload, settings)
    load_s = options.warmup_s + options.duration_s

    def show_second(text: str) -> None:
        click.echo(format_second(json.loads(text), options.warmup_s, load_s), err=True)

    def say(text: str) -> None:
        click.echo(text, err=True)

    measured = run_load(target, workload, given, options, on_second=show_second, say=say)
    report, compiled, spec = measured.report, measured.loadable.compiled, measured.spec
    if as_json:
        click.echo(json.dumps(measured.as_json(), indent=2))
    else:
        if broken := describe_broken(measured.conditions):
            click.echo(f"this load does not count: {broken}")
        print_report(report, compiled, measured.loadable.server, seed=spec.seed)
        for line in describe_conditions(measured.conditions):
            click.echo(line)
        for note in (*measured.notes, *note_statement_mode(target)):
            click.echo(note)
    exporting.tell_load(report, compiled.name)
    if not report.window_s:
        click.echo(f"plimsoll: nothing was measured: {_explain_no_window(report, spec)}", err=True)
    if report.ended == "cancelled":
        return 130
    return 0 if any(operation.succeeded for operation in report.operations.values()) else 1


def _explain_no_window(report: LoadReport, spec: LoadSpec) -> str:
    """Explain why there was no window."""
    warmup = words.format_duration(spec.warmup_s)
    if report.ended == "operations":
        done = f"all {report.operations_sent:,} operations were done"
        return f"{done} in the warm-up of {warmup}; --warmup 0 measures them"
    return f"interrupted in the warm-up of {warmup}"
