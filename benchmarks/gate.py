"""How well `plimsoll gate` finds planted changes, and how often it raises a false alarm.

    python -m benchmarks.gate planted --family postgres --times 10 --record pairs
    python -m benchmarks.gate alarms pairs/postgres-*.json --comparisons 2000

`planted` compares a workload with others in which one thing is worse. All of them take turns, so
that each comparison of a repetition has the same turns of the unchanged workload. The time of a
comparison is that of its own turns. `alarms` takes the recorded pairs of the unchanged workload
("nothing" planted), and draws comparisons from them: some of the pairs, each in either order.
Servers are of their own, on this machine. `--hogs` keeps each processor busy meanwhile.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

import click

from plimsoll.gate.sql_file import split_statements
from plimsoll.gate.states import StateSetup
from plimsoll.gate.turns import Extent, measure_states
from plimsoll.gate.verdict import COUNT_WORDS, compare_states
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.base import Model
from plimsoll.model.gate import MIX, GateResult, State, Turn
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
  few:  # a single page
    rows: 1
    primary_key: [id]
    columns:
      id: {type: int, value: row}
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


def _add_column(letters: int) -> dict[str, str]:
    """Return SQL that adds a column, which takes a byte more than its letters, by family."""
    text = "x" * letters
    column = f"ALTER TABLE orders ADD COLUMN more VARCHAR(100) NOT NULL DEFAULT '{text}'"
    return dict.fromkeys(("mariadb", "postgres"), column)


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
    "one more page in ten operations": (
        {},
        ("SELECT paid,", "SELECT CASE WHEN id % 10 = 0 THEN (SELECT id FROM {few}) END, paid,"),
        {},
    ),
    # Operations whose texts are longer draw other values, so that their keys are others as well.
    "texts longer by 20 % of the row": ({}, ("", ""), {"width": 123}),
    "texts longer by 10 % of the row": ({}, ("", ""), {"width": 111}),
    "texts longer by 5 % of the row": ({}, ("", ""), {"width": 106}),
    "a column more, 20 % of the row": (_add_column(23), ("", ""), {}),
    "a column more, 10 % of the row": (_add_column(11), ("", ""), {}),
    "a column more, 5 % of the row": (_add_column(5), ("", ""), {}),
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
def keep_busy(*, hogs: bool) -> Iterator[None]:
    """Run a process on each processor that uses all of it, if `hogs`."""
    running = []
    try:
        for processor in os.sched_getaffinity(0) if hogs else ():
            # also a benchmark that is killed leaves none
            until = f"while os.getppid() == {os.getpid()}: pass"
            spin = f"import os\nos.sched_setaffinity(0, [{processor}])\n{until}"
            running.append(subprocess.Popen([sys.executable, "-c", spin]))
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


class Stopwatch:
    """Times the turns of each state: `measure_states` calls it before each one."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._running = ""
        self._since = time.monotonic()

    def __call__(self, state: str, _pair: int) -> None:
        """End the turn before, and begin one of this state."""
        now = time.monotonic()
        self.seconds[self._running] += now - self._since
        self._running, self._since = state, now


@dataclass
class Tally:
    """What became of the comparisons with one planted change."""

    found: int = 0
    seconds: list[float] = field(default_factory=list)
    by: Counter[str] = field(default_factory=Counter)

    def add(self, result: GateResult, seconds: float) -> None:
        """Count one comparison."""
        self.found += result.verdict == "more work"
        self.seconds.append(seconds)
        self.by.update(
            f"{one.operation}: {COUNT_WORDS[one.count]}"
            for one in result.changes
            if one.outcome == "more" and one.operation != MIX
        )

    def row(self, change: str) -> str:
        """Write a row of the table."""
        counts = ", ".join(f"{name} {count}" for name, count in self.by.most_common(6))
        lasted = f"{median(self.seconds):.0f} s, {max(self.seconds):.0f} s"
        return f"| {change} | {self.found} of {len(self.seconds)} | {lasted} | {counts} |"


@click.group()
def cli() -> None:
    """Measure the gate."""


@cli.command()
@click.option("--family", type=click.Choice(["mariadb", "postgres"]), required=True)
@click.option("--hogs", is_flag=True, help="Keep each processor busy meanwhile.")
@click.option("--operations", default=1000, show_default=True)
@click.option("--times", default=10, show_default=True, help="Comparisons of each change.")
@click.option("--pairs", default=8, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(PLANTED)), help="Changes to plant.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for what was counted.",
)
def planted(
    *,
    family: str,
    hogs: bool,
    operations: int,
    times: int,
    pairs: int,
    only: tuple[str, ...],
    record: Path | None,
) -> None:
    """Plant changes and count in how many comparisons they are found; a table each time."""
    changes = only or tuple(PLANTED)
    tallies = {change: Tally() for change in changes}
    with start_server(family) as dsn, keep_busy(hogs=hogs), tempfile.TemporaryDirectory() as folder:
        for repetition in range(times):
            extent = Extent(pairs, operations, connections=1, seed=1000 * repetition + 1)
            states = [set_up("before", dsn, "nothing", Path(folder))]
            states += [set_up(change, dsn, change, Path(folder)) for change in changes]
            watch = Stopwatch()
            before, *measured = measure_states(tuple(states), extent, watch)
            watch("", 0)
            for after in measured:
                if record is not None and after.name == "nothing":
                    record.mkdir(parents=True, exist_ok=True)
                    file = record / f"{family}-{os.getpid()}-{repetition}.json"
                    file.write_text(_Pairs(before=before, after=after).model_dump_json())
                result = compare_states(before, after)
                seconds = watch.seconds["before"] + watch.seconds[after.name]
                tallies[after.name].add(result, seconds)
                said = "; ".join(result.sentences) or "nothing found"
                click.echo(f"{after.name}: {seconds:.0f} s; {said}", err=True)
            click.echo("| planted | found | median, longest | found by, in how many comparisons |")
            click.echo("|---|---|---|---|")
            for change, tally in tallies.items():
                click.echo(tally.row(change))


class _Pairs(Model):
    """Recorded pairs of an unchanged state."""

    before: State
    after: State


@cli.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--pairs", default=8, show_default=True, help="Pairs in a comparison.")
@click.option("--comparisons", default=2000, show_default=True)
def alarms(*, files: tuple[Path, ...], pairs: int, comparisons: int) -> None:
    """Count the alarms of comparisons that are drawn from recorded pairs."""
    recorded = [_Pairs.model_validate_json(file.read_text()) for file in files]
    setting = recorded[0].before.setting
    both = [
        turns for one in recorded for turns in zip(one.before.turns, one.after.turns, strict=True)
    ]
    draws = Random(1)  # noqa: S311 - a resampling, no secret

    def raises_alarm(drawn: Sequence[tuple[Turn, ...]]) -> bool:
        sides = [
            State(name=name, setting=setting, turns=turns)
            for name, turns in zip(("before", "after"), zip(*drawn, strict=True), strict=True)
        ]
        return bool(compare_states(*sides).sentences)

    found = sum(
        raises_alarm([tuple(draws.sample(pair, 2)) for pair in draws.sample(both, pairs)])
        for _ in range(comparisons)
    )
    draws.shuffle(both)
    apart = [both[start : start + pairs] for start in range(0, len(both) - pairs + 1, pairs)]
    found_apart = sum(map(raises_alarm, apart))
    for count, of, what in (
        (found, comparisons, f"comparisons of {pairs} pairs, drawn from {len(both)}"),
        (found_apart, len(apart), "comparisons without a common pair"),
    ):
        low, high = wilson_interval(count, of)
        click.echo(
            f"{count} of {of:,} {what}, found a change: 95 % interval"
            f" {100 * low:.2f} to {100 * high:.2f} %"
        )


def wilson_interval(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share: Wilson 1927, J. American Statistical Association 22."""
    z, share = 1.959964, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), middle + half


if __name__ == "__main__":
    cli()
