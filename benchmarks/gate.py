"""How well `plimsoll gate` finds planted changes, and how often it raises a false alarm.

    python -m benchmarks.gate planted --family postgres --times 10 --record pairs
    python -m benchmarks.gate table pairs/postgres-*.json
    python -m benchmarks.gate power pairs/postgres-*.json --comparisons 2000
    python -m benchmarks.gate alarms pairs/postgres-*.json --comparisons 2000
    python -m benchmarks.gate noise pairs/postgres-*.json

`planted` compares a workload with others in which one thing is worse. All of them take turns, so
that each comparison of a repetition has the same turns of the unchanged workload. A repetition is
one file of the folder; those that are there already are not measured again. The other commands
read these files. A comparison takes the time of its own turns. `power` and `alarms` draw others
from these pairs: some of the pairs with one change, or with "nothing", each of these in
either order. Servers are of their own, on this machine, in the folder for temporary files.
`--hogs` keeps each processor busy meanwhile.
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
from statistics import median, stdev

import click

from plimsoll.files import write_whole
from plimsoll.gate.sql_file import split_statements
from plimsoll.gate.states import StateSetup
from plimsoll.gate.turns import Extent, measure_states
from plimsoll.gate.verdict import COUNT_WORDS, compare_states
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.base import Model
from plimsoll.model.gate import MIX, Counts, GateResult, Setting, State, Turn
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
_WIDER = "a row twice as wide"
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
    _WIDER: ({}, ("", ""), {"width": 226}),
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


Pair = tuple[Turn, ...]


class Repetition(Model):
    """What one repetition measured."""

    load_averages: tuple[float, float]  # 1-minute averages at the beginning and at the end
    seconds: dict[str, float]  # how long all turns of a state took, by its name
    states: tuple[State, ...]  # "before" and the planted changes

    @property
    def before(self) -> State:
        """The unchanged workload."""
        return self.states[0]


def read_repetitions(files: Sequence[Path]) -> list[Repetition]:
    """Read what `planted` recorded."""
    return [Repetition.model_validate_json(file.read_text()) for file in files]


def tabulate(repetitions: Sequence[Repetition]) -> None:
    """Print in how many comparisons each change was found."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for one in repetitions:
        for after in one.states[1:]:
            seconds = one.seconds["before"] + one.seconds[after.name]
            tallies[after.name].add(compare_states(one.before, after), seconds)
    click.echo("| planted | found | median, longest | found by, in how many comparisons |")
    click.echo("|---|---|---|---|")
    for change, tally in tallies.items():
        click.echo(tally.row(change))
    loads = [load for one in repetitions for load in one.load_averages]
    click.echo(f"load averages: {min(loads):.1f} to {max(loads):.1f}, median {median(loads):.1f}")


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
    required=True,
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
    record: Path,
) -> None:
    """Plant changes and record what was counted."""
    record.mkdir(parents=True, exist_ok=True)
    files = {number: record / f"{family}-{number}.json" for number in range(times)}
    missing = {number: file for number, file in files.items() if not file.exists()}
    with start_server(family) as dsn, keep_busy(hogs=hogs), tempfile.TemporaryDirectory() as folder:
        for number, file in missing.items():
            extent = Extent(pairs, operations, connections=1, seed=1000 * number + 1)
            states = [set_up("before", dsn, "nothing", Path(folder))]
            states += [set_up(name, dsn, name, Path(folder)) for name in only or PLANTED]
            busy = os.getloadavg()[0]
            watch = Stopwatch()
            measured = measure_states(tuple(states), extent, watch)
            watch("", 0)
            repetition = Repetition(
                load_averages=(busy, os.getloadavg()[0]), seconds=watch.seconds, states=measured
            )
            write_whole(file, repetition.model_dump_json())
            for after in measured[1:]:
                said = compare_states(measured[0], after).sentences
                click.echo(f"{number} {after.name}: {'; '.join(said) or 'nothing found'}", err=True)
    tabulate(read_repetitions(list(files.values())))


_FILES = click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True)
)


@cli.command()
@_FILES
def table(*, files: tuple[Path, ...]) -> None:
    """Print in how many recorded comparisons each change was found, and how long they took."""
    tabulate(read_repetitions(files))


def collect_pairs(repetitions: Sequence[Repetition], change: str) -> list[Pair]:
    """Return all recorded pairs of the unchanged workload and a change."""
    return [
        turns
        for one in repetitions
        for after in one.states[1:]
        if after.name == change
        for turns in zip(one.before.turns, after.turns, strict=True)
    ]


def scale_change(repetitions: Sequence[Repetition], change: str, share: float) -> list[Pair]:
    """Return pairs with a share of a recorded change: "nothing", and the share of what it added."""
    pairs: list[Pair] = []
    for one in repetitions:
        states = {state.name: state.turns for state in one.states}
        if change in states and "nothing" in states:
            sides = (states["before"], states["nothing"], states[change])
            pairs += [
                (before, _add_share(unchanged, before, changed, share))
                for before, unchanged, changed in zip(*sides, strict=True)
            ]
    return pairs


def _add_share(unchanged: Turn, before: Turn, changed: Turn, share: float) -> Turn:
    blocks: dict[str, Counts] = {}
    for name, counts in unchanged.blocks.items():
        old, new = before.blocks[name], changed.blocks[name]
        blocks[name] = {
            count: value
            if value is None
            else max(0.0, value + share * ((new[count] or 0.0) - (old[count] or 0.0)))
            for count, value in counts.items()
        }
    return Turn(blocks=blocks)


def compare_pairs(setting: Setting, drawn: Sequence[Pair]) -> GateResult:
    """Compare both sides of some pairs."""
    sides = [
        State(name=name, setting=setting, turns=turns)
        for name, turns in zip(("before", "after"), zip(*drawn, strict=True), strict=True)
    ]
    return compare_states(*sides)


def show_share(count: int, of: int) -> str:
    """Write a share with its 95 % interval, which takes comparisons for independent."""
    low, high = wilson_interval(count, of)
    return f"{count:,} of {of:,} | {100 * low:.2f} to {100 * high:.2f} %"


@cli.command()
@_FILES
@click.option("--pairs", default=8, show_default=True, help="Pairs in a comparison.")
@click.option("--comparisons", default=2000, show_default=True)
def power(*, files: tuple[Path, ...], pairs: int, comparisons: int) -> None:
    """Count in how many comparisons drawn from recorded pairs each change is found."""
    repetitions = read_repetitions(files)
    draws = Random(1)  # noqa: S311 - a resampling, no secret
    click.echo(f"| planted | pairs | found in comparisons of {pairs} | 95 % interval |")
    click.echo("|---|---|---|---|")
    setting = repetitions[0].before.setting
    planted: dict[str, list[Pair]] = {
        change: collect_pairs(repetitions, change)
        for change in dict.fromkeys(after.name for one in repetitions for after in one.states[1:])
        if change != "nothing"
    }
    for share in (0.05, 0.1, 0.2):
        scaled = scale_change(repetitions, _WIDER, share)
        planted[f"{share:.0%} of: {_WIDER}"] = scaled
    for change, recorded in planted.items():
        if len(recorded) < pairs:
            continue
        found = sum(
            compare_pairs(setting, draws.sample(recorded, pairs)).verdict == "more work"
            for _ in range(comparisons)
        )
        click.echo(f"| {change} | {len(recorded)} | {show_share(found, comparisons)} |")


@cli.command()
@_FILES
@click.option("--pairs", default=8, show_default=True, help="Pairs in a comparison.")
@click.option("--comparisons", default=2000, show_default=True)
def alarms(*, files: tuple[Path, ...], pairs: int, comparisons: int) -> None:
    """Count the alarms of comparisons that are drawn from recorded pairs."""
    repetitions = read_repetitions(files)
    setting, recorded = repetitions[0].before.setting, collect_pairs(repetitions, "nothing")
    draws = Random(1)  # noqa: S311 - a resampling, no secret

    def raises_alarm(drawn: Sequence[Pair]) -> bool:
        return bool(compare_pairs(setting, drawn).sentences)

    found = sum(
        raises_alarm([tuple(draws.sample(pair, 2)) for pair in draws.sample(recorded, pairs)])
        for _ in range(comparisons)
    )
    draws.shuffle(recorded)
    apart = split_pairs(recorded, pairs)
    click.echo(f"drawn from {len(recorded)} pairs: {show_share(found, comparisons)}")
    click.echo(f"without a common pair: {show_share(sum(map(raises_alarm, apart)), len(apart))}")


def split_pairs(recorded: Sequence[Pair], pairs: int) -> list[Sequence[Pair]]:
    """Return as many comparisons of so many pairs as there are without a common pair."""
    return [recorded[start : start + pairs] for start in range(0, len(recorded) - pairs + 1, pairs)]


@cli.command()
@_FILES
@click.option("--pairs", default=8, show_default=True, help="Pairs in a comparison.")
def noise(*, files: tuple[Path, ...], pairs: int) -> None:
    """Print how counts of the unchanged workload scatter within pairs, and what would be found."""
    repetitions = read_repetitions(files)
    setting, recorded = repetitions[0].before.setting, collect_pairs(repetitions, "nothing")
    results = [compare_pairs(setting, drawn) for drawn in split_pairs(recorded, pairs)]
    click.echo("| count | scatter within pairs | found from |")
    click.echo("|---|---|---|")
    for told in zip(*(result.changes for result in results), strict=True):
        one = told[0]
        if not one.before or one.p_value is None or one.operation == MIX:
            continue
        sides = [
            [turn.blocks[one.operation][one.count] or 0.0 for turn in pair] for pair in recorded
        ]
        scatter = stdev(before - after for before, after in sides) / one.before
        least = [share for change in told if (share := change.detectable_share) is not None]
        click.echo(
            f"| {one.operation}: {COUNT_WORDS[one.count]} | {100 * scatter:.2f} % |"
            f" {100 * min(least):.1f} to {100 * max(least):.1f} % |"
        )


def wilson_interval(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share: Wilson 1927, J. American Statistical Association 22."""
    z, share = 1.959964, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), middle + half


if __name__ == "__main__":
    cli()
