"""`plimsoll observe`: the present load of a production database."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.output import console, make_table, print_figures
from plimsoll.errors import UsageError
from plimsoll.load_line.options import PASSWORD

if TYPE_CHECKING:
    from rich.table import Table

    from plimsoll.sizing.production import Observation, Rates, Spread


SERVER_FOR, RDS_FOR = "10m", "14d"
SERVER_MOST_S = 86_400  # longest observation of a server, in seconds
# field of `Rates`, its name for people, its unit
_SHOWN = (
    ("operations", "operations", "ops/s"),
    ("statements", "statements", "a second"),
    ("read_iops", "reads", "IOPS"),
    ("write_iops", "writes", "IOPS"),
    ("iops", "reads and writes", "IOPS"),
    ("mib", "read and written", "MiB/s"),
    ("log_flushes", "flushes of the log", "a second"),
    ("row_lock_wait_s", "waiting for row locks", "s in each second"),
    ("cpu_percent", "CPU", "%"),
    ("queue", "I/Os waiting", ""),
)


@click.command("observe")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@click.option("--for", "for_text", metavar="TIME", help="How long to observe: 10m; for rds:// 14d.")
@click.option(
    "--line",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Run whose load line production is compared with.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(dsn: str | None, *, for_text: str | None, line: Path | None, as_json: bool) -> int:
    """Measure the present load of the production database DSN, without changing it.

    DSN is mysql://USER@HOST/DATABASE, postgres:// or similar, or rds://INSTANCE for CloudWatch's
    metrics (docs/observing.md). Keep a password in the variable PLIMSOLL_PASSWORD, or the whole DSN
    in PLIMSOLL_DSN.
    """
    from plimsoll.model.request.dsn import FORM
    from plimsoll.sizing.production_on_rds import SCHEME

    if dsn is None:
        raise UsageError(f"DSN: is missing; the form is {FORM}, or {SCHEME}INSTANCE")
    return observe(dsn, for_text, line, as_json)


def observe(
    dsn: str, duration: str | None, line: Path | None, json: bool, option: str = "DSN"
) -> int:
    """Observe a database and print its load; return the exit code.

    Args:
        dsn: The source: `mysql://...`, `postgres://...`, or `rds://INSTANCE` for CloudWatch.
        duration: How long to observe, `10m`; for an RDS instance, how far back, `14d`; None for the
            defaults.
        line: The folder of a finished run of the derived workload; None to compare with none.
        json: Whether to print JSON.
        option: The name of the address in errors.

    Raises:
        UsageError: An argument is invalid.
        PlimsollError: The database or AWS refuses.
    """
    from plimsoll.report.folder import read_run
    from plimsoll.sizing.production import compare_with_line

    run = read_run(line)[0] if line is not None else None
    seen = _observe_source(dsn, duration, option)
    if run is not None:
        seen = seen.model_copy(update={"line": compare_with_line(seen, run)})
    if json:
        click.echo(seen.model_dump_json(indent=2))
    else:
        print_observation(seen)
    return 0


def _observe_source(dsn: str, duration: str | None, option: str) -> Observation:
    from plimsoll.model.request.dsn import FORM, parse_dsn
    from plimsoll.model.request.quantities import parse_duration_s
    from plimsoll.sizing.production_on_rds import SCHEME, observe_rds, parse_instance
    from plimsoll.sizing.production_server import observe_server

    try:
        instance = parse_instance(dsn)
    except UsageError as error:
        raise error.within(option) from None
    if instance is not None:
        return observe_rds(
            instance, parse_duration_s(duration or RDS_FOR, "--for"), datetime.now(UTC)
        )
    if "://" not in dsn:
        raise UsageError(f"{option}: the form is {FORM}, or {SCHEME}INSTANCE")
    target = parse_dsn(dsn, option=option, password=os.environ.get(PASSWORD, ""))
    for_s = parse_duration_s(duration or SERVER_FOR, "--for")
    if for_s > SERVER_MOST_S:
        raise UsageError("--for: of a server a day at most")
    if sys.stderr.isatty():
        click.echo(f"observing for {words.format_duration(for_s)}; nothing is changed", err=True)
    return observe_server(target, for_s, time.sleep)


def print_observation(seen: Observation) -> None:
    """Print what was observed."""
    out = console()
    sample = words.format_duration(seen.sample_s)
    out.print(
        f"{words.escape_controls(seen.database)}, {words.format_moment(seen.began)} to"
        f" {words.format_moment(seen.ended)}"
        f" ({words.format_duration(seen.window_s)}, samples of {sample}); measured, not predicted",
        highlight=False,
        markup=False,
    )
    if seen.line is not None:
        out.print(_describe_standing(seen), highlight=False, markup=False)
    print_figures(out, _make_rates_table(seen.rates))
    if seen.operations:
        table = make_table(
            "operation", "ops/s", "share", "mean in the server", right=("ops/s", "share")
        )
        for one in seen.operations:
            table.add_row(
                one.name,
                words.format_rate(one.ops_per_second),
                words.format_percent(one.share),
                words.format_latency(one.mean_us),
            )
        print_figures(out, table)
    for each in _describe_operations(seen):
        out.print(each, highlight=False, markup=False)
    caveats = seen.line.caveats if seen.line else ()
    for note in (*caveats, *seen.notes):
        out.print(
            f"- {words.escape_controls(note)}",
            highlight=False,
            markup=False,
            soft_wrap=not out.is_terminal,
        )


def _describe_standing(seen: Observation) -> str:
    line = seen.line
    assert line is not None  # noqa: S101 - the caller has looked
    figure = words.prepend_bound(words.format_throughput(line.line_ops_per_second), line.bound)
    peak = f", at its peak at {words.format_percent(line.peak_share)}" if line.peak_share else ""
    return (
        f"production runs at {words.format_percent(line.mean_share)} of its load line{peak}"
        f" ({figure} in"
        f" the run {line.run_id})"
    )


def _make_rates_table(rates: Rates) -> Table:
    figures = ("mean", "p50", "p95", "peak")
    table = make_table("a second", *figures, "unit", right=figures)
    for field, name, unit in _SHOWN:
        spread: Spread | None = getattr(rates, field)
        if spread is not None:
            values = (spread.mean, spread.p50, spread.p95, spread.peak)
            table.add_row(name, *(words.format_three_figures(value) for value in values), unit)
    return table


def _describe_operations(seen: Observation) -> list[str]:
    demand = seen.demand
    if demand is None:
        return []
    figures = {
        "I/Os": demand.ios,
        "KiB": None if demand.mib is None else demand.mib * 1024,
        "log flushes": demand.log_flushes,
        "ms waiting for locks": None if demand.lock_wait_s is None else demand.lock_wait_s * 1e3,
    }
    told = [
        f"{words.format_three_figures(value)} {name}"
        for name, value in figures.items()
        if value is not None
    ]
    return [f"an operation takes {', '.join(told)}"] if told else []
