"""`plimsoll workload`: makes a workload of what a database was sent."""

import os
import time
from pathlib import Path

import click

from plimsoll.cli.output import refuse_used_file
from plimsoll.cli.workload_text import as_json_text, print_derived
from plimsoll.errors import UsageError
from plimsoll.families.observing import looks_for, open_statements, statements_seen
from plimsoll.finding.asked import PASSWORD
from plimsoll.model.dsn import FORM, parse_dsn
from plimsoll.model.quantities import duration_s
from plimsoll.report.folder import write_whole
from plimsoll.workload.derive.derived import derive
from plimsoll.workload.derive.document import text_of

FOR_MOST_S = 86_400


@click.group("workload")
def command() -> None:
    """Make a workload of what a database was sent."""


@command.command("derive")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The workload's file, a new one; its name is the workload's. Without it: standard output.",
)
@click.option(
    "--for",
    "for_text",
    metavar="TIME",
    help="Watch for so long: 10m. Without it: all that the server has counted so far.",
)
@click.option("--tables", metavar="A,B", help="What names at least one of these tables alone.")
@click.option(
    "--writes",
    is_flag=True,
    help="Take statements that change or lock rows too. `find` sends them to tables that Plimsoll"
    " did not make with --allow-writes alone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the workload and what is not in it.")
def derive_verb(
    dsn: str | None,
    *,
    out: Path | None,
    for_text: str | None,
    tables: str | None,
    writes: bool,
    as_json: bool,
) -> None:
    """Make a workload of the statements that the database DSN was sent; nothing is changed in it.

    MySQL and MariaDB count them in performance_schema, PostgreSQL in pg_stat_statements. Neither
    keeps values, and none of your data is in the workload; what is guessed for that is said.
    """
    if dsn is None:
        raise UsageError(f"DSN: is missing; the form is {FORM}; or set PLIMSOLL_DSN")
    target = parse_dsn(dsn, option="DSN", password=os.environ.get(PASSWORD, ""))
    for_s = duration_s(for_text, "--for") if for_text else 0.0
    if for_s > FOR_MOST_S:
        raise UsageError("--for: a day at most")
    if out is not None:
        refuse_used_file(out)
    only = [name.strip() for name in (tables or "").split(",") if name.strip()]
    with open_statements(target) as reader:
        looks = looks_for(reader, for_s, time.sleep) if for_s else [reader.look()]
        seen = statements_seen(reader, target, looks)
    name = out.name.removesuffix(".yaml") if out else "derived"
    derived = derive(seen, name=name, writes=writes, only=only)
    text = text_of(derived.document)
    if out is not None:
        write_whole(out, text)
    if as_json:
        click.echo(as_json_text(derived, seen))
        return
    if out is None:
        click.echo(text.rstrip())
    print_derived(derived, seen, out)
