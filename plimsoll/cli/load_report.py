"""What `plimsoll load` prints: a line each second, then the tables."""

from collections.abc import Sequence
from typing import Any

import click
from rich.table import Table

from plimsoll.cli.output import console
from plimsoll.model.engine_report import LoadReport, OperationReport, SelfReport
from plimsoll.workload import Compiled

_STATISTICS = ("mean", "p50", "p95", "p99", "p999", "max")


def second_line(operations: Sequence[dict[str, Any]], warmup_s: float, load_s: float) -> str:
    """Say what happened in one second: how many operations, for the last may be no whole second.

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
        parts.append(f"{errors:,} errors")
    parts.extend(
        f"{operation['operation']} p99 {_ms(operation['p99_us'])} max {_ms(operation['max_us'])} ms"
        for operation in operations
        if operation["p99_us"] is not None
    )
    return "  ".join(parts)


def print_report(report: LoadReport, compiled: Compiled, server: str) -> None:
    """Print a load's report for people: throughput, latency, errors, and the client itself."""
    loop = (
        f"closed loop, {report.connections} connections"
        if report.rate_ops_per_second is None
        else f"open loop at {report.rate_ops_per_second:,g} ops/s, {report.connections} connections"
    )
    click.echo(f"{compiled.name} on {server}, {compiled.records:,} records; {loop}")
    click.echo(f"window {report.window_s:.3f} s, ended by {report.ended}")
    click.echo()
    console().print(_operations(report))
    errors = _errors(report)
    if errors.row_count:
        click.echo()
        console().print(errors)
    click.echo()
    _print_client(report)


def _operations(report: LoadReport) -> Table:
    with_records = any(o.records != o.succeeded for o in report.operations.values())
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("operation")
    for name in ("count", "errors", "ops/s", *(["records/s"] if with_records else [])):
        table.add_column(name, justify="right")
    for name in ("mean", "p50", "p95", "p99", "p99.9", "max"):
        table.add_column(f"{name} ms", justify="right")
    for name, operation in report.operations.items():
        table.add_row(name, *_row(operation, report.window_s, with_records=with_records))
    return table


def _row(operation: OperationReport, window_s: float, *, with_records: bool) -> list[str]:
    cells = [
        f"{operation.succeeded:,}",
        f"{sum(operation.errors.values()):,}",
        _per_second(operation.succeeded, window_s),
    ]
    if with_records:
        cells.append(_per_second(operation.records, window_s))
    return cells + [_ms(getattr(operation.latency_us, statistic)) for statistic in _STATISTICS]


def _errors(report: LoadReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("operation", "error", "times", "the server said"):
        table.add_column(name, justify="right" if name == "times" else "left")
    for name, operation in report.operations.items():
        for code, count in operation.errors.items():
            table.add_row(name, code, f"{count:,}", report.error_examples.get(code, ""))
    for code, count in report.connection_report.failed.items():
        table.add_row("(connecting)", code, f"{count:,}", report.error_examples.get(code, ""))
    return table


def _print_client(report: LoadReport) -> None:
    client = report.client
    cost = (
        "no operation"
        if client.cpu_us_per_operation is None
        else f"{client.cpu_us_per_operation:.1f} us CPU per operation"
    )
    click.echo(
        f"client: {cost} ({client.cpu_user_s:.2f} s user, {client.cpu_system_s:.2f} s system),"
        f" busy {_percent(client.busy_fraction)} of the window"
    )
    if client.send_lateness_us is not None:
        late = client.send_lateness_us
        click.echo(
            f"sends: late by {_us(late.p50)} at the median, {_us(late.p99)} at p99,"
            f" {_us(late.max)} at most; backlog at most {client.backlog_max or 0:,},"
            f" {client.backlog_end or 0:,} at the end; never sent {client.unsent or 0:,}"
        )
    if client.unanswered and (report.rate_ops_per_second or _long_ago(client)):
        click.echo(
            f"unanswered at the end: {client.unanswered:,}, the oldest"
            f" {_ms(client.oldest_unanswered_us)} ms old"
        )
    connections = report.connection_report
    if connections.replaced:
        click.echo(f"connections: {connections.opened:,} opened, {connections.replaced:,} replaced")


def _long_ago(client: SelfReport) -> bool:
    """Whether an operation hangs; in a closed loop every connection waits for one at the end."""
    return (client.oldest_unanswered_us or 0) > 1_000_000


def _ms(microseconds: float | None) -> str:
    return "-" if microseconds is None else f"{microseconds / 1000:,.3f}"


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def _us(microseconds: int | None) -> str:
    return "-" if microseconds is None else f"{microseconds:,} us"


def _per_second(count: int, window_s: float) -> str:
    return f"{count / window_s:,.1f}" if window_s > 0 else "-"
