"""`plimsoll load`: loads a database with a workload, and prints what was measured."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from rich.table import Table

from plimsoll import words
from plimsoll.cli.exporting import Exporting, export_options
from plimsoll.cli.options import NumberRange, dsn_option, parse_settings, workload_options
from plimsoll.cli.output import console, make_table
from plimsoll.errors import UsageError
from plimsoll.load_line.load import Loaded, draw_seed, loadable, run_load
from plimsoll.load_line.machine import choose_poll_us, choose_threads
from plimsoll.model.engine.answered import LoadReport, OperationReport, SelfReport
from plimsoll.model.engine.asked import POLL_MOST_US, POLL_US, ClosedLoop, LoadSpec, OpenLoop
from plimsoll.model.judging.steps import STATISTICS
from plimsoll.model.request.dsn import parse_dsn, statement_mode_notes
from plimsoll.workload import Compiled, load_workload

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
        parts.append(words.plural(errors, "error"))
    parts.extend(
        f"{operation['operation']} p99 {words.latency(operation['p99_us'])}"
        f" max {words.latency(operation['max_us'])}"
        for operation in operations
        if operation["p99_us"] is not None
    )
    return "  ".join(parts)


def print_report(report: LoadReport, compiled: Compiled, server: str, *, seed: int) -> None:
    """Print a load's report: throughput, latency, errors, and the client itself."""
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
    console().print(_operations_table(report))
    if report.nodes:
        click.echo()
        console().print(_nodes_table(report))
    errors = _errors_table(report)
    if errors.row_count:
        click.echo()
        console().print(errors)
    click.echo()
    _print_client(report)


def _operations_table(report: LoadReport) -> Table:
    with_records = any(o.records != o.succeeded for o in report.operations.values())
    figures = [
        *("count", "errors", "ops/s"),
        *(["records/s"] if with_records else []),
        *map(words.statistic, STATISTICS),
    ]
    table = make_table("operation", *figures, right=figures)
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


def _nodes_table(report: LoadReport) -> Table:
    figures = ("of the ring", "of operations", "count", "errors", "p99", "taken over", "lost")
    table = make_table("node", *figures, right=figures)
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


def _errors_table(report: LoadReport) -> Table:
    table = make_table("operation", "error", "times", "the server said", right=("times",))
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
        polled = f"; busy-polled for {words.duration(client.polled_s)}, not included"
    click.echo(f"client: {cost} ({user} user, {system} system), busy {busy} of the window{polled}")
    if client.send_lateness_us is not None:
        late = client.send_lateness_us
        click.echo(
            f"sends: late by {words.latency(late.p50)} at the median,"
            f" {words.latency(late.p99)} at p99, {words.latency(late.max)} at most;"
            f" backlog at most {client.backlog_max or 0:,},"
            f" {client.backlog_end or 0:,} at the end; never sent {client.unsent or 0:,}"
        )
    if client.unanswered and (report.rate_ops_per_second or _hangs(client)):
        click.echo(
            f"unanswered at the end: {client.unanswered:,}, the oldest"
            f" {words.latency(client.oldest_unanswered_us)} old"
        )
    connections = report.connection_report
    if connections.replaced:
        click.echo(f"connections: {connections.opened:,} opened, {connections.replaced:,} replaced")


def _hangs(client: SelfReport) -> bool:
    """Return whether an operation hangs; at the end of a closed loop each connection has one."""
    return (client.oldest_unanswered_us or 0) > 1_000_000


def _per_second(count: int, window_s: float) -> str:
    return words.rate(count / window_s if window_s > 0 else None)


@click.command("load")
@dsn_option
@workload_options
@click.option(
    "--records",
    type=int,
    metavar="N",
    help="Number of rows of the dataset. Default: as `plimsoll prepare` has created it.",
)
@click.option("--connections", type=click.IntRange(1, 20_000), default=8, show_default=True)
@click.option(
    "--threads",
    type=click.IntRange(1, 64),
    help="Number of threads that send.  [default: 2 if the database is on this machine, without"
    " --rate; else 1]",
)
@click.option(
    "--poll-us",
    type=click.IntRange(0, POLL_MOST_US),
    help="Maximum time to busy-poll for replies before sleeping, in microseconds, where polling"
    f" pays.  [default: {POLL_US} if the database is elsewhere and a CPU is free; else 0]",
)
@click.option(
    "--warmup",
    "warmup_s",
    type=NumberRange(0, 86_400),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Duration of unmeasured load before the measured window.",
)
@click.option(
    "--duration",
    "duration_s",
    type=NumberRange(0.001, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Duration of the measured window.",
)
@click.option(
    "--rate",
    type=NumberRange(0, 10_000_000, min_open=True),
    metavar="OPS/S",
    help="Arrival rate in operations per second (open loop); latency counts from the due time."
    " Without it: closed loop.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["constant", "poisson"]),
    help="Distribution of the due times (open loop).  [default: constant]",
)
@click.option(
    "--operations",
    type=click.IntRange(1),
    metavar="N",
    help="Stop earlier, after this many operations in total.",
)
@click.option(
    "--timeout-ms",
    type=click.IntRange(1, 300_000),
    default=60_000,
    show_default=True,
    help="Time-out of an operation; a slower one counts as timed out, with its full latency.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    metavar="N",
    help="Random seed; the one that an earlier load printed repeats its operations and keys."
    "  [default: a new one]",
)
@export_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    *,
    dsn: str,
    workload_name: str,
    tables: int | None,
    settings: tuple[str, ...],
    records: int | None,
    connections: int,
    threads: int | None,
    poll_us: int | None,
    warmup_s: float,
    duration_s: float,
    rate: float | None,
    arrivals: str | None,
    operations: int | None,
    timeout_ms: int,
    seed: int | None,
    exporting: Exporting,
    as_json: bool,
) -> int:
    """Load a database and measure it.

    Exits with 1 if no operation succeeded, with 130 if it was interrupted; the report is printed in
    either case.
    """
    if arrivals is not None and rate is None:
        raise UsageError("--arrivals: goes with --rate (an open loop) only")
    target = parse_dsn(dsn)
    workload = load_workload(workload_name)
    given = parse_settings(workload, settings, tables)
    there = loadable(target, workload, records, given)
    threads = threads or choose_threads(target, connections, rate)
    spec = LoadSpec(
        target=target,
        workload=there.sent,
        connections=connections,
        threads=threads,
        poll_us=choose_poll_us(target, threads) if poll_us is None else poll_us,
        loop=_choose_loop(rate, arrivals),
        warmup_s=warmup_s,
        duration_s=duration_s,
        operations_limit=operations,
        timeout_ms=timeout_ms,
        seed=draw_seed() if seed is None else seed,
    )
    report = run_load(spec, partial(_show_second, spec))
    if as_json:
        click.echo(json.dumps(Loaded(there, spec, report).as_json(), indent=2))
    else:
        print_report(report, there.compiled, there.server, seed=spec.seed)
        for note in statement_mode_notes(target):
            click.echo(note)
    exporting.tell_load(report, there.compiled.name)
    if not report.window_s:
        click.echo(f"plimsoll: nothing was measured: {_explain_no_window(report, spec)}", err=True)
    if report.ended == "cancelled":
        return 130
    return 0 if any(operation.succeeded for operation in report.operations.values()) else 1


def _explain_no_window(report: LoadReport, spec: LoadSpec) -> str:
    """Explain why there was no window."""
    warmup = words.duration(spec.warmup_s)
    if report.ended == "operations":
        done = f"all {report.operations_sent:,} operations were done"
        return f"{done} in the warm-up of {warmup}; --warmup 0 measures them"
    return f"interrupted in the warm-up of {warmup}"


def _choose_loop(rate: float | None, arrivals: str | None) -> ClosedLoop | OpenLoop:
    if rate is None:
        return ClosedLoop()
    return OpenLoop(
        rate_ops_per_second=rate, arrivals="poisson" if arrivals == "poisson" else "constant"
    )


def _show_second(spec: LoadSpec, text: str) -> None:
    load_s = spec.warmup_s + spec.duration_s
    click.echo(format_second(json.loads(text), spec.warmup_s, load_s), err=True)
