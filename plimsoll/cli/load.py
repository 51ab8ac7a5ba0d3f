"""`plimsoll load`: loads a database with a workload, and prints what was measured."""

import json
from functools import partial

import click

from plimsoll import words
from plimsoll.cli.exporting import Exporting, export_options
from plimsoll.cli.load_report import print_report, second_line
from plimsoll.cli.number_range import NumberRange
from plimsoll.cli.options import dsn_option, parse_settings, workload_options
from plimsoll.errors import UsageError
from plimsoll.finding.host import poll_us_here, threads_here
from plimsoll.finding.loading import Loaded, a_seed, loadable, run_load
from plimsoll.model.dsn import parse_dsn, said_of_mode
from plimsoll.model.engine import POLL_MOST_US, POLL_US, ClosedLoop, LoadSpec, OpenLoop
from plimsoll.model.engine_report import LoadReport
from plimsoll.workload import load_workload


@click.command("load")
@dsn_option
@workload_options
@click.option(
    "--records",
    type=int,
    metavar="N",
    help="Records of the dataset; by default as `plimsoll prepare` has made it.",
)
@click.option("--connections", type=click.IntRange(1, 20_000), default=8, show_default=True)
@click.option(
    "--threads",
    type=click.IntRange(1, 64),
    help="That send.  [default: 2 where the database is on this machine, without --rate; else 1]",
)
@click.option(
    "--poll-us",
    type=click.IntRange(0, POLL_MOST_US),
    help="For how long to look for answers before sleeping, in microseconds, where that pays."
    f"  [default: {POLL_US} where the database is elsewhere and a processor is left; else 0]",
)
@click.option(
    "--warmup",
    "warmup_s",
    type=NumberRange(0, 86_400),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Load before the measured window.",
)
@click.option(
    "--duration",
    "duration_s",
    type=NumberRange(0.001, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Length of the measured window.",
)
@click.option(
    "--rate",
    type=NumberRange(0, 10_000_000, min_open=True),
    metavar="OPS/S",
    help="Open loop: operations fall due at this rate, and latency counts from the due time."
    " Without it: closed loop.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["constant", "poisson"]),
    help="Open loop: how the due times are spread.  [default: constant]",
)
@click.option(
    "--operations",
    type=click.IntRange(1),
    metavar="N",
    help="End earlier, after so many operations in all.",
)
@click.option(
    "--timeout-ms",
    type=click.IntRange(1, 300_000),
    default=60_000,
    show_default=True,
    help="An operation that takes longer is counted as a time-out, at its full length.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    metavar="N",
    help="Repeat a load's very sequence of operations and keys: the seed that it has told."
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

    Exits with 1 if no operation succeeded, with 130 if it was interrupted; the report comes all
    the same.
    """
    if arrivals is not None and rate is None:
        raise UsageError("--arrivals: goes with --rate (an open loop) only")
    target = parse_dsn(dsn)
    workload = load_workload(workload_name)
    given = parse_settings(workload, settings, tables)
    there = loadable(target, workload, records, given)
    threads = threads or threads_here(target, connections, rate)
    spec = LoadSpec(
        target=target,
        workload=there.sent,
        connections=connections,
        threads=threads,
        poll_us=poll_us_here(target, threads) if poll_us is None else poll_us,
        loop=_loop(rate, arrivals),
        warmup_s=warmup_s,
        duration_s=duration_s,
        operations_limit=operations,
        timeout_ms=timeout_ms,
        seed=a_seed() if seed is None else seed,
    )
    report = run_load(spec, partial(_show_second, spec))
    if as_json:
        click.echo(json.dumps(Loaded(there, spec, report).as_json(), indent=2))
    else:
        print_report(report, there.compiled, there.server, seed=spec.seed)
        for note in said_of_mode(target):
            click.echo(note)
    exporting.tell_load(report, there.compiled.name)
    if not report.window_s:
        click.echo(f"plimsoll: nothing was measured: {_end_of_warmup(report, spec)}", err=True)
    if report.ended == "cancelled":
        return 130
    return 0 if any(operation.succeeded for operation in report.operations.values()) else 1


def _end_of_warmup(report: LoadReport, spec: LoadSpec) -> str:
    """Say why there was no window."""
    warmup = words.duration(spec.warmup_s)
    if report.ended == "operations":
        done = f"all {report.operations_sent:,} operations were done"
        return f"{done} in the warm-up of {warmup}; --warmup 0 measures them"
    return f"interrupted in the warm-up of {warmup}"


def _loop(rate: float | None, arrivals: str | None) -> ClosedLoop | OpenLoop:
    if rate is None:
        return ClosedLoop()
    return OpenLoop(
        rate_ops_per_second=rate, arrivals="poisson" if arrivals == "poisson" else "constant"
    )


def _show_second(spec: LoadSpec, text: str) -> None:
    load_s = spec.warmup_s + spec.duration_s
    click.echo(second_line(json.loads(text), spec.warmup_s, load_s), err=True)
