"""`plimsoll workload`: lists and shows workloads; derives one from a database's statements."""

from __future__ import annotations

import json
import os
import re
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.exit_codes import FAILURE, MET, NO_ANSWER
from plimsoll.cli.options import (
    WholeRange,
    dsn_option,
    parse_settings,
    tell_new_name,
    workload_options,
)
from plimsoll.cli.output import console, make_table, print_figures, refuse_used_file
from plimsoll.errors import UsageError
from plimsoll.files import resolve_links, write_whole
from plimsoll.load_line.options import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from plimsoll.model.engine.asked import EngineTarget
    from plimsoll.model.run.statements_seen import StatementsSeen
    from plimsoll.workload.derive.derived import Derived, Transactions
    from plimsoll.workload.logs.reading import LogSeen
    from plimsoll.workload.pgbench.workload import ScriptWorkload


# Output of `plimsoll workload derive`.


LEFT_OUT_SHOWN = 12
_NO_NAME = re.compile(r"[^a-z0-9]+")


def print_derived(derived: Derived, seen: StatementsSeen, out: Path | None) -> None:
    """Describe on standard error what the workload does, what it omits, and what is guessed."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    rates = ["ops/s"] if seen.interval_s else []
    figures = ["share", *rates, "mean in the server", "statements"]
    table = make_table("operation", *figures, right=figures)
    total = sum(one.calls for one in derived.operations)
    for one in derived.operations:
        rate = [words.format_rate(one.calls / seen.interval_s)] if seen.interval_s else []
        table.add_row(
            one.name,
            words.format_percent(one.calls / total),
            *rate,
            words.format_latency(1e6 * one.time_s / one.calls if derived.time_s else None),
            str(sum(times for _, times in one.statements)),
        )
    print_figures(console, table)
    if seen.interval_s and seen.busiest_minute:
        busiest, mean = seen.busiest_minute / 60, derived.calls / seen.interval_s
        console.print(
            f"\n{words.format_rate(mean)} statements/s on average, {words.format_rate(busiest)} in"
            " the busiest"
            " minute."
        )
    of_time = f" and {words.format_percent(derived.share_of_time)} of the time in the server"
    console.print(
        f"\nIt covers {words.format_percent(derived.share_of_calls)} of the calls"
        f"{of_time if derived.time_s else ''}."
    )
    for note in derived.notes:
        console.print(f"- {note}")
    _print_left_out(derived, console)
    if out is not None:
        click.echo(f"{out}: plimsoll find DSN --workload {out} --prepare", err=True)


def find_peak_rate(derived: Derived, seen: StatementsSeen) -> float | None:
    """Return the operations per second of the busiest minute, or else of the whole time.

    None if the source has no times.
    """
    if not seen.interval_s:
        return None
    mean = sum(one.calls for one in derived.operations) / seen.interval_s
    statements = derived.calls / seen.interval_s
    busiest = (seen.busiest_minute or 0) / 60
    return mean * max(1.0, busiest / statements if statements else 1.0)


def make_request(
    derived: Derived, seen: StatementsSeen, workload: Path, request: Path, limits: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Return a request for a derived workload as YAML, and notes on what was chosen in it.

    Args:
        derived: The workload.
        seen: The statements and tables that it was derived from.
        workload: The file of the workload.
        request: The file of the request.
        limits: The given latency limits.

    Raises:
        UsageError: A limit is invalid.
    """
    from plimsoll.load_line.options import parse_limits_us, split_limits
    from plimsoll.requests.checked_request import validate_request
    from plimsoll.workload.derive.document import dump_document
    from plimsoll.workload.derive.request import write_request

    operations = [one.name for one in derived.operations]
    made, notes = write_request(
        seen,
        str(_relate(workload, request)),
        name=_NO_NAME.sub("-", request.name.removesuffix(".yaml").lower()).strip("-") or "derived",
        records=derived.document["default_records"],
        limits_us=parse_limits_us(split_limits(limits), operations),
        today=datetime.now(UTC).date(),
    )
    inlined = {"definition": derived.document, "records": made["workload"]["records"]}
    validate_request({**made, "workload": inlined})
    return dump_document(made), notes


def _relate(workload: Path, request: Path) -> Path:
    """Return a workload's path relative to the folder of a request that names it.

    Raises:
        UsageError: It does not lie in that folder or below.
    """
    folder = resolve_links(request.parent)
    file = resolve_links(workload)
    if not file.is_relative_to(folder):
        raise UsageError(f"--request: {workload} has to lie in the folder of {request}, or below")
    return file.relative_to(folder)


def _print_left_out(derived: Derived, console: Console) -> None:
    if not derived.left_out:
        return
    alike: dict[tuple[str, str], tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for one in derived.left_out:
        calls, time_s = alike[one.statement, one.why]
        alike[one.statement, one.why] = calls + one.calls, time_s + one.time_s
    console.print("\nLeft out:")
    for (statement, why), (calls, time_s) in list(alike.items())[:LEFT_OUT_SHOWN]:
        of_calls = words.format_percent(calls / derived.calls if derived.calls else None)
        of_time = (
            f", {words.format_percent(time_s / derived.time_s)} of the time"
            if derived.time_s
            else ""
        )
        console.print(f"- {of_calls} of the calls{of_time}: {statement}: {why}")
    if len(alike) > LEFT_OUT_SHOWN:
        console.print(f"- {len(alike) - LEFT_OUT_SHOWN} more, listed by --json")


def format_derivation(derived: Derived, seen: StatementsSeen) -> str:
    """Return the derivation as JSON."""
    total = sum(one.calls for one in derived.operations)
    whole = {
        "server": seen.server,
        "interval_s": seen.interval_s,
        "workload": derived.document,
        "share_of_calls": derived.share_of_calls,
        "share_of_time": derived.share_of_time,
        "operations": [
            {
                "name": one.name,
                "calls": one.calls,
                "share": one.calls / total,
                "ops_per_second": one.calls / seen.interval_s if seen.interval_s else None,
                "mean_us": 1e6 * one.time_s / one.calls,
                "statements": [{"text": text, "times": times} for text, times in one.statements],
            }
            for one in derived.operations
        ],
        "left_out": [
            {
                "statement": one.statement,
                "why": one.why,
                "calls": one.calls,
                "time_s": one.time_s,
                "share_of_calls": one.calls / derived.calls if derived.calls else None,
                "share_of_time": one.time_s / derived.time_s if derived.time_s else None,
            }
            for one in derived.left_out
        ],
        "notes": list(derived.notes),
    }
    return json.dumps(whole, indent=2)


FOR_MOST_S = 86_400


@click.group("workload")
def command() -> None:
    """List, show, derive or check workloads."""


@command.command("derive")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="New file to write; its name becomes the workload's. Without it: standard output.",
)
@click.option(
    "--request",
    type=click.Path(path_type=Path, dir_okay=False),
    help="New file to write: a request that measures the workload of --out on a database as RDS has"
    " it, with `plimsoll run FILE --local` or on AWS.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="[OPERATION=]LATENCY",
    help="Latency limit of the request, in p99: 20ms, or of one operation.",
)
@click.option(
    "--log",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read the statements from this file rather than from the server's statistics: a slow log"
    " or general log of MySQL or MariaDB, PostgreSQL's log, pt-query-digest's JSON, or a dump of"
    " statement statistics as CSV. Its tables are those of DSN, or of --schema.",
)
@click.option(
    "--schema",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --log, and without DSN: the tables, as `mysqldump --no-data` or `pg_dump -s` writes"
    " them.",
)
@click.option(
    "--threshold",
    metavar="TIME",
    help="With --log: the duration from which statements were logged; 0s if all were. Default:"
    " judged by the log.",
)
@click.option(
    "--one-in",
    type=WholeRange(1, 1_000_000),
    help="With --log: one in so many statements was logged (log_slow_rate_limit). Default: what the"
    " log or the server says.",
)
@click.option(
    "--transactions",
    type=click.Choice(["none", "seen"]),
    default="seen",
    show_default=True,
    help="Whether the transactions that a log or the server's history shows become operations; with"
    " `none` each statement is an operation by itself.",
)
@click.option(
    "--for",
    "for_text",
    metavar="TIME",
    help="How long to watch: 10m. Without it: all that the server has counted so far.",
)
@click.option(
    "--tables", metavar="A,B", help="Keep only statements that name at least one of these tables."
)
@click.option(
    "--writes",
    is_flag=True,
    help="Include statements that change or lock rows. `find` sends them to tables that Plimsoll"
    " did not create only with --allow-writes.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the workload, and what it leaves out, as JSON."
)
def derive_verb(
    dsn: str | None,
    *,
    out: Path | None,
    request: Path | None,
    limits: tuple[str, ...],
    log: Path | None,
    schema: Path | None,
    threshold: str | None,
    one_in: int | None,
    transactions: Transactions,
    for_text: str | None,
    tables: str | None,
    writes: bool,
    as_json: bool,
) -> None:
    """Derive a workload from the statements that a database received.

    The database DSN is not changed. The server prepares each statement of the workload on temporary
    tables that no other session sees; what it refuses is left out.

    MySQL and MariaDB count statements in performance_schema, PostgreSQL in pg_stat_statements.
    Neither keeps values, so the workload contains none of your data; guesses in their place are
    listed. Where a server counts none, --log reads its log, of which no value is kept either.
    """
    from plimsoll.databases.trying import open_trial
    from plimsoll.model.request.dsn import parse_dsn
    from plimsoll.model.request.quantities import parse_duration_s
    from plimsoll.workload.derive.derived import derive
    from plimsoll.workload.derive.document import dump_document

    for_s = parse_duration_s(for_text, "--for") if for_text else 0.0
    asked = _Asked(log, schema, threshold, one_in)
    if dsn and Path(dsn).is_file():
        raise UsageError(f"DSN: {dsn} is a file: give a log of statements as --log {dsn}")
    _refuse_options(dsn, asked, for_s=for_s)
    target = parse_dsn(dsn, option="DSN", password=os.environ.get(PASSWORD, "")) if dsn else None
    _refuse_impossible_files(out, request, limits)
    only = [name.strip() for name in (tables or "").split(",") if name.strip()]
    with (
        _open_source(target, asked, for_s) as (seen, beside),
        open_trial(beside) as trial,
    ):
        name = out.name.removesuffix(".yaml") if out else "derived"
        derived = derive(
            seen, name=name, writes=writes, only=only, trial=trial, transactions=transactions
        )
    text = dump_document(derived.document)
    notes: tuple[str, ...] = ()
    if out is not None:
        if request is not None:
            made, notes = make_request(derived, seen, out, request, limits)
            write_whole(request, made)
        write_whole(out, text)
    if as_json:
        click.echo(format_derivation(derived, seen))
        return
    if out is None:
        click.echo(text.rstrip())
    print_derived(derived, seen, out)
    for note in notes:
        click.echo(f"- {note}", err=True)
    if request is not None:
        folder = request.with_suffix("")
        click.echo(f"{request}: plimsoll run {request} --local --out {folder}", err=True)
        if (want := find_peak_rate(derived, seen)) is not None:
            told = "".join(f" --limit {limit}" for limit in limits)
            click.echo(f"then: plimsoll size {folder} --want {want:.0f}{told}", err=True)


@dataclass(frozen=True)
class _Asked:
    """The options of a log."""

    log: Path | None
    schema: Path | None
    threshold: str | None
    one_in: int | None

    def read(
        self, database: str | None = None, settings: Mapping[str, str] | None = None
    ) -> LogSeen:
        """Read the log."""
        from plimsoll.model.request.quantities import parse_duration_s
        from plimsoll.workload.logs.reading import read_log

        if self.log is None:
            raise UsageError("--log: is missing")
        threshold_s = None
        if self.threshold is not None:
            none = self.threshold.strip() in {"0", "0s", "0ms"}
            threshold_s = 0.0 if none else parse_duration_s(self.threshold, "--threshold")
        return read_log(
            self.log,
            database=database,
            server_settings=settings,
            threshold_s=threshold_s,
            one_in=self.one_in,
        )


@contextmanager
def _open_source(
    target: EngineTarget | None, asked: _Asked, for_s: float
) -> Iterator[tuple[StatementsSeen, EngineTarget]]:
    """Read the statements and tables; also gives the server that tries statements."""
    if target is None:
        with _read_log_of_schema(asked) as found:
            yield found
    elif asked.log is not None:
        yield _read_log_of_server(target, asked), target
    else:
        yield _watch(target, for_s), target


def _watch(target: EngineTarget, for_s: float) -> StatementsSeen:
    """Read a server's statement statistics."""
    from plimsoll.databases.observing import combine_looks, look_repeatedly, open_statements

    with open_statements(target) as reader:
        looks = look_repeatedly(reader, for_s, time.sleep) if for_s else [reader.look()]
        return combine_looks(reader, target, looks)


def _read_log_of_server(target: EngineTarget, asked: _Asked) -> StatementsSeen:
    """Read a log, with the tables of the server that wrote it."""
    from plimsoll.databases.observing import describe_tables, open_tables
    from plimsoll.workload.logs.reading import compare_rates

    with open_tables(target) as reader:
        read = asked.read(target.database, reader.log_settings())
        if read.protocol != target.protocol:
            raise UsageError(f"--log: a {read.kind} is not one of the server of DSN")
        texts = [digest.text for digest in read.digests]
        seen = read.combine(describe_tables(reader, target, texts))
        return compare_rates(seen, reader.statements_per_second())


@contextmanager
def _read_log_of_schema(asked: _Asked) -> Iterator[tuple[StatementsSeen, EngineTarget]]:
    """Read a log, with the tables of a schema's dump; also gives the server that has them."""
    from plimsoll.databases.observing import describe_tables, open_tables
    from plimsoll.local.databases.dumped_schema import load_schema
    from plimsoll.workload.logs.rows import guess_rows

    if asked.schema is None:
        raise UsageError("--schema: is missing")
    read = asked.read()
    with (
        load_schema(asked.schema, read.protocol) as made,
        open_tables(made.target) as reader,
    ):
        texts = [digest.text for digest in read.digests]
        like = describe_tables(reader, made.target, texts)
        database = read.database if read.protocol == "mysql" and read.database else like.database
        named = {"server": made.server or like.server, "database": database}
        seen = guess_rows(read.combine(like.model_copy(update=named)), reader.next_numbers())
        yield seen.model_copy(update={"notes": (*seen.notes, *made.notes)}), made.target


def _refuse_options(dsn: str | None, asked: _Asked, *, for_s: float) -> None:
    """Refuse options that do not go together, or lack another.

    Raises:
        UsageError: They do not.
    """
    from plimsoll.model.request.dsn import FORM

    if for_s > FOR_MOST_S:
        raise UsageError("--for: a day at most")
    if asked.log is not None and for_s:
        raise UsageError("--for: is for a server's statistics; --log has its own time")
    given = {"--schema": asked.schema, "--threshold": asked.threshold, "--one-in": asked.one_in}
    for option, value in given.items():
        if asked.log is None and value is not None:
            raise UsageError(f"{option}: is for the file of --log")
    if asked.schema is not None and dsn is not None:
        raise UsageError("--schema: the tables are those of DSN; give one of them")
    if dsn is None and asked.schema is None:
        beside = "; with --log, --schema can stand in for it" if asked.log else ""
        raise UsageError(f"DSN: is missing; the form is {FORM}; or set PLIMSOLL_DSN{beside}")


def _refuse_impossible_files(
    out: Path | None, request: Path | None, limits: tuple[str, ...]
) -> None:
    """Refuse files that cannot be written before a server is asked.

    Raises:
        UsageError: A file is there already, the request cannot name the workload's file, or an
            option is missing.
    """
    if out is not None:
        refuse_used_file(out)
    if request is not None:
        if out is None:
            raise UsageError("--request: needs --out, the file of the workload")
        refuse_used_file(request)
        _relate(out, request)
    if limits and request is None:
        raise UsageError("--limit: is for the request that --request writes")


# `plimsoll workload list` and `show`.


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_command(*, as_json: bool) -> None:
    """List the built-in workloads."""
    from plimsoll.workload import list_builtin_names, load_workload

    workloads = [load_workload(name) for name in list_builtin_names()]
    if as_json:
        click.echo(json.dumps([workload.summary() for workload in workloads], indent=2))
        return
    table = make_table("workload", "dataset", "about")
    for workload in workloads:
        table.add_row(workload.name, workload.dataset, workload.about)
    console().print(table)


@command.command("check")
@dsn_option
@workload_options
@click.option(
    "--records", type=WholeRange(1), metavar="N", help="Records, if not the workload's default."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def check(
    *,
    dsn: str,
    workload_name: str,
    settings: tuple[str, ...],
    records: int | None,
    as_json: bool,
) -> int:
    """Check the conditions that a workload's rows always meet.

    Each is one query over all rows, while no load runs. Exit code 1: a condition is broken. 3: none
    is known to be, and one could not be checked.
    """
    from plimsoll.databases.conditions import check_conditions
    from plimsoll.model.request.dsn import parse_dsn
    from plimsoll.workload import load_workload

    workload = load_workload(workload_name)
    given = parse_settings(workload, settings)
    target = parse_dsn(dsn, password=os.environ.get(PASSWORD, ""))
    compiled = workload.compile(records, given, target.protocol)
    found = check_conditions(target, compiled)
    if as_json:
        checked = {one.name: one.model_dump(mode="json", exclude={"name"}) for one in found}
        click.echo(json.dumps(checked, indent=2))
    else:
        from rich.markup import escape

        table = make_table("condition", "holds", "breaches", "what is true", right=("breaches",))
        for one in found:
            holds = one.unknown or ("no" if one.breaches else "yes")
            table.add_row(
                one.name, escape(holds), words.format_number(one.breaches), escape(one.about)
            )
        print_figures(console(), table)
    if any(one.breaches for one in found):
        return FAILURE
    return NO_ANSWER if any(one.unknown for one in found) else MET


@command.command("show")
@click.argument("name", metavar="NAME|FILE.yaml")
@click.option("--json", "as_json", is_flag=True, help="Print the resolved workload as JSON.")
def show(name: str, *, as_json: bool) -> None:
    """Show a workload: its text, parameters, tables and statements."""
    from plimsoll.workload import load_workload
    from plimsoll.workload.pgbench.workload import ScriptWorkload

    workload = load_workload(name)
    if isinstance(workload, ScriptWorkload):
        _show_scripts(workload, as_json=as_json)
        return
    compiled = workload.compile(None if workload.default_records else 1000)
    if as_json:
        resolved = {
            **workload.summary(),
            "tables": {table.name: table.create_sql for table in compiled.tables},
            "operations": [
                operation.model_dump(mode="json") for operation in compiled.engine.operations
            ],
        }
        click.echo(json.dumps(resolved, indent=2))
        return
    click.echo(workload.text.rstrip())
    if workload.parameters:
        click.echo("\n# parameters (--set NAME=VALUE)")
        for parameter_name, parameter in workload.parameters.items():
            click.echo(f"#   {parameter_name} = {parameter.default}: {parameter.about}")
    click.echo(f"\n# the dataset {workload.dataset!r} with --records {compiled.records:,}")
    for table in compiled.tables:
        click.echo(f"# {table.name}: {words.format_count(table.rows, 'row')}")
        added = [f"ALTER TABLE {table.name} {sql}" for sql in table.reference_sql.values()]
        for sql in (table.create_sql, *table.index_sql.values(), *added):
            click.echo("\n".join(f"#   {line}" for line in sql.splitlines()))


def _show_scripts(workload: ScriptWorkload, *, as_json: bool) -> None:
    """Show pgbench's scripts, which have no tables, and the variables that they use."""
    if as_json:
        operations = [script.operation.model_dump(mode="json") for script in workload.scripts]
        click.echo(json.dumps({**workload.summary(), "operations": operations}, indent=2))
        return
    click.echo(workload.text.rstrip())
    given = sorted(workload.uses.keys() - workload.assigned)
    if given:
        click.echo(f"\n-- variables that it does not set (-D NAME=VALUE): {', '.join(given)}")


# `plimsoll workloads`, as both were called before.


@click.group("workloads", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def old_command(context: click.Context, *, as_json: bool) -> None:
    """List the built-in workloads; now called `plimsoll workload list`."""
    if context.invoked_subcommand is None:
        tell_new_name("workloads", "workload list")
        context.invoke(list_command, as_json=as_json)


@old_command.command("show")
@click.argument("name", metavar="NAME|FILE.yaml")
@click.option("--json", "as_json", is_flag=True, help="Print the resolved workload as JSON.")
@click.pass_context
def old_show(context: click.Context, name: str, *, as_json: bool) -> None:
    """Show a workload; now called `plimsoll workload show`."""
    tell_new_name("workloads show", "workload show")
    context.invoke(show, name=name, as_json=as_json)
