"""How well `plimsoll gate` finds planted changes, and how often it raises a false alarm.

    python -m benchmarks.gate planted --family mariadb --times 1
    python -m benchmarks.gate alarms --family postgres --turns 24 --comparisons 2000

`planted` compares a workload with the same one in which one thing is worse. `alarms` records pairs
of one unchanged state, and draws comparisons from them: some of the pairs, each in either order.
Servers are of their own, on this machine. `--hogs 2` keeps the processors busy meanwhile.
"""

import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import click

from plimsoll.gate.sql_file import split_statements
from plimsoll.gate.states import StateSetup
from plimsoll.gate.turns import Extent, measure_states
from plimsoll.gate.verdict import compare_states
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.gate import State
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload

RECORDS = 5_000
WORKLOAD = """\
about: Orders of a shop.
parameters:
  width: {about: letters of a note, default: 100, range: [1, 4000]}
tables:
  orders:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      customer: {type: int, value: {integer: [1, 500]}}
      paid: {type: int, value: {integer: [0, 1000]}}
      note: {type: varchar(4000), value: {text: $width}}
    indexes: {by_customer: [customer]}
operations:
  read:
    weight: 60
    statements:
      - {sql: "SELECT paid, note FROM {orders} WHERE id = ?", binds: [{key: orders}]}
  list:
    weight: 20
    statements:
      - sql: "SELECT id, paid FROM {orders} WHERE customer = ? ORDER BY id LIMIT 5"
        binds: [{integer: [1, 500]}]
  pay:
    weight: 20
    transaction: true
    statements:
      - sql: "UPDATE {orders} SET paid = ?, note = ? WHERE id = ?"
        binds: [{integer: [0, 1000]}, {text: $width}, {key: orders}]
      - sql: "UPDATE {orders} SET paid = ? WHERE id = ?"
        binds: [{integer: [0, 1000]}, {key: orders}]
"""
_READ = '      - {sql: "SELECT paid, note FROM {orders} WHERE id = ?", binds: [{key: orders}]}\n'
# name: SQL by family ("" for none), what is replaced in the workload by what, parameters
PLANTED: dict[str, tuple[dict[str, str], tuple[str, str], dict[str, int]]] = {
    "an index more": (
        dict.fromkeys(("mariadb", "postgres"), "CREATE INDEX more ON orders (paid)"),
        ("", ""),
        {},
    ),
    "an index lost": (
        {
            "mariadb": "DROP INDEX by_customer ON orders",
            "postgres": "DROP INDEX orders_by_customer",
        },
        ("", ""),
        {},
    ),
    "N+1": ({}, (_READ, _READ * 5), {}),
    "a row twice as wide": ({}, ("", ""), {"width": 226}),
    "a missing LIMIT": ({}, (" LIMIT 5", ""), {}),
    "a function on the column": ({}, ("WHERE customer = ?", "WHERE customer + 0 = ?"), {}),
    "autocommit": ({}, ("    transaction: true\n", ""), {}),
    "a row wider by 20 %": ({}, ("", ""), {"width": 125}),
    "a row wider by 10 %": ({}, ("", ""), {"width": 113}),
    "a row wider by 5 %": ({}, ("", ""), {"width": 106}),
    "nothing": ({}, ("", ""), {}),
}


@contextmanager
def start_server(family: str) -> Iterator[str]:
    """Start a server; yield its DSN."""
    with tempfile.TemporaryDirectory(prefix="gate-") as folder:
        server = MariaDbServer if family == "mariadb" else PostgresServer
        with server.start(directory=Path(folder) / family) as running:
            yield running.dsn


@contextmanager
def keep_busy(hogs: int) -> Iterator[None]:
    """Run so many processes that use a processor each."""
    spin = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(spin) for _ in range(hogs)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def set_up(name: str, dsn: str, planted: str, folder: Path) -> StateSetup:
    """Return a state with a planted change; "nothing" for the unchanged one."""
    sql, (old, new), parameters = PLANTED[planted]
    family = "mariadb" if dsn.startswith("mysql") else "postgres"
    text = WORKLOAD.replace(old, new) if old else WORKLOAD
    assert text != WORKLOAD or not old, planted
    file = folder / f"{name}.yaml"
    file.write_text(text)
    statements = split_statements(sql.get(family, ""))
    workload = load_workload(str(file))
    return StateSetup(name, dsn, parse_dsn(dsn), workload, parameters, RECORDS, statements)


def ignore(_state: str, _pair: int) -> None:
    """Show nothing of a turn."""


@click.group()
def cli() -> None:
    """Measure the gate."""


_FAMILY = click.option("--family", type=click.Choice(["mariadb", "postgres"]), required=True)
_HOGS = click.option("--hogs", default=0, show_default=True)
_OPERATIONS = click.option("--operations", default=1000, show_default=True)


@cli.command()
@_FAMILY
@_HOGS
@_OPERATIONS
@click.option("--times", default=10, show_default=True, help="Comparisons of each change.")
@click.option("--pairs", default=8, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(PLANTED)), help="Changes to plant.")
def planted(
    *, family: str, hogs: int, operations: int, times: int, pairs: int, only: tuple[str, ...]
) -> None:
    """Plant changes and count in how many comparisons they are found."""
    click.echo("| planted | found | longest comparison | what the report says of it |")
    click.echo("|---|---|---|---|")
    with start_server(family) as dsn, keep_busy(hogs), tempfile.TemporaryDirectory() as folder:
        for change in only or PLANTED:
            found, longest, said = 0, 0.0, ""
            for repetition in range(times):
                extent = Extent(pairs, operations, connections=1, seed=1000 * repetition + 1)
                states = [
                    set_up(name, dsn, which, Path(folder))
                    for name, which in (("before", "nothing"), ("after", change))
                ]
                began = time.monotonic()
                result = compare_states(*measure_states(tuple(states), extent, ignore))
                longest = max(longest, time.monotonic() - began)
                found += result.verdict == "more work"
                said = said or next(iter(result.sentences), "")
            click.echo(f"| {change} | {found} of {times} | {longest:.0f} s | {said} |")


@cli.command()
@_FAMILY
@_HOGS
@_OPERATIONS
@click.option("--turns", default=24, show_default=True, help="Pairs to record.")
@click.option("--pairs", default=8, show_default=True, help="Pairs in a comparison.")
@click.option("--comparisons", default=2000, show_default=True)
def alarms(
    *, family: str, hogs: int, operations: int, turns: int, pairs: int, comparisons: int
) -> None:
    """Record turns of an unchanged state, and count the alarms of comparisons drawn from them."""
    extent = Extent(turns, operations, connections=1, seed=1)
    with start_server(family) as dsn, keep_busy(hogs), tempfile.TemporaryDirectory() as folder:
        states = [set_up(name, dsn, "nothing", Path(folder)) for name in ("before", "after")]
        recorded = measure_states(tuple(states), extent, ignore)
    draws = Random(1)  # noqa: S311 - a resampling, no secret
    both = list(zip(*(state.turns for state in recorded), strict=True))
    more = any_change = 0
    for _ in range(comparisons):
        drawn = [draws.sample(pair, 2) for pair in draws.sample(both, pairs)]
        sides = [
            State(name=state.name, setting=state.setting, turns=tuple(turns_of_it))
            for state, turns_of_it in zip(recorded, zip(*drawn, strict=True), strict=True)
        ]
        result = compare_states(*sides)
        more += result.verdict == "more work"
        any_change += bool(result.sentences)
    low, high = wilson_interval(any_change, comparisons)
    click.echo(
        f"{family}: {turns} pairs recorded, {comparisons:,} comparisons of {pairs} pairs:"
        f" {any_change} found any change ({more} more work);"
        f" 95 % interval {100 * low:.2f} to {100 * high:.2f} %"
    )


def wilson_interval(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share: Wilson 1927, J. American Statistical Association 22."""
    z, share = 1.959964, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), middle + half


if __name__ == "__main__":
    cli()
