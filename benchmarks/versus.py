"""How often `plimsoll versus` finds 3 % of a server's CPU time, and raises a false alarm.

    python -m benchmarks.versus live --family postgres --times 10 --record versus.jsonl
    python -m benchmarks.versus table versus.jsonl
    python -m benchmarks.versus example --family mariadb
    python -m benchmarks.versus example --family mariadb -- --load-lines

`live` has three schemas with the same rows on a server of its own. A view in each of them keeps the
server busy by a function's loop. It is calibrated so that in one schema an operation costs the
planted share more of the server's CPU time; the other two are alike. Each comparison is a line of
the file, and those that are there already are not made again. `example` compares two versions as a
user does. Servers are of their own, on this machine, in the folder for temporary files.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import expm1, log, sqrt
from pathlib import Path
from statistics import fmean, median, stdev

import click

from benchmarks.gate import wilson_interval
from plimsoll.cli.versus import describe
from plimsoll.databases.counting import open_work_counter
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.load_line.load import run_load
from plimsoll.load_line.options import PASSWORD, LoadOptions
from plimsoll.load_line.versus import Comparison, Rules, VersusResult, run_versus
from plimsoll.local.databases.database_server import SqlServer
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.machine import TICKS_PER_S, cpu_times
from plimsoll.model.base import Model
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload
from tests.support.debian_programs import list_debian_libraries

FAMILIES = ("mariadb", "postgres")
RECORDS = 1_000
WORKLOAD = """\
about: Looks up a row, of which the server computes something.
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      name: {type: varchar(50), value: {text: 50}}
operations:
  compute:
    weight: 1
    statements:
      - {sql: "SELECT name FROM {item} WHERE id = ?", binds: [{key: item}]}
"""
ALIKE, BASE, WORSE = "alike", "base", "worse"
FIRST_TURNS = 3_000  # with a loop of so many, an operation is nearly all the server's work
FUNCTIONS = {
    "mariadb": "CREATE OR REPLACE FUNCTION burn(id INT) RETURNS INT DETERMINISTIC"
    " RETURN BENCHMARK({turns}, MD5(id))",
    "postgres": "CREATE OR REPLACE FUNCTION burn(id int) RETURNS int LANGUAGE plpgsql STABLE AS $$"
    " DECLARE made text := id; BEGIN FOR turn IN 1..{turns} LOOP made := md5(made); END LOOP;"
    " RETURN 0; END $$",
}
VIEW = (
    "ALTER TABLE item RENAME TO item_rows",
    "CREATE VIEW item AS SELECT id, CONCAT(name, burn(id)) AS name FROM item_rows",
)
MARIADB_OLD = Path(".cache/debian/mariadb-server-core/usr/sbin/mariadbd")  # 10.11


class Compared(Model):
    """One comparison: a line of the file."""

    family: str
    planted_share: float  # added to an operation's CPU time in the server; 0 for nothing planted
    cpu_share: float  # measured: share of CPU time that `WORSE` takes more than `BASE`
    cpu_share_error: float  # standard error of `cpu_share`
    seconds: float
    result: VersusResult


@dataclass(frozen=True)
class Bench:
    """A server with three schemas.

    Attributes:
        family: The family of the server.
        server: The server.
        workload: The path of the workload's file.
    """

    family: str
    server: SqlServer
    workload: Path

    def dsn(self, schema: str) -> str:
        """Return the address of a schema, password included."""
        return f"{self.server.dsn.rpartition('/')[0]}/{schema}"

    def target(self, schema: str) -> EngineTarget:
        """Return the connection settings of a schema."""
        return parse_dsn(self.dsn(schema))

    def set_up(self) -> None:
        """Make the schemas, each with the same rows and a view of them."""
        compiled = load_workload(str(self.workload)).compile(
            RECORDS, {}, parse_dsn(self.server.dsn).protocol
        )
        for schema in (ALIKE, BASE, WORSE):
            with open_work_counter(parse_dsn(self.server.dsn)) as counter:
                counter.create_copy(schema)
                prepare_dataset(self.target(schema), compiled, connections=1)
                counter.refresh_statistics(self.target(schema))
            self.set_turns(schema, FIRST_TURNS)
            self.execute(schema, VIEW)

    def set_turns(self, schema: str, turns: float) -> None:
        """Set how long the loop of a schema's function is."""
        self.execute(schema, [FUNCTIONS[self.family].format(turns=round(turns))])

    def execute(self, schema: str, statements: Sequence[str]) -> None:
        """Execute SQL in a schema."""
        target = self.target(schema)
        with open_work_counter(target) as counter:
            counter.execute_in(target, statements)

    def measure_cpu_us(self, schema: str, operations: int) -> float:
        """Return the server's CPU time for each operation, in microseconds."""
        before = self._read_ticks()
        loaded = run_load(
            self.target(schema),
            load_workload(str(self.workload)),
            {},
            LoadOptions(
                connections=1, warmup_s=0, duration_s=600, operations_most=operations, seed=1
            ),
            on_second=lambda _: None,
        )
        used = self._read_ticks() - before
        return 1e6 * used / TICKS_PER_S / loaded.report.operations_sent

    def _read_ticks(self) -> int:
        read = cpu_times((), servers=(self.server.pid,))
        assert read is not None
        assert read.server is not None
        return read.server

    def calibrate(self, share: float, operations: int, rounds: int) -> tuple[float, float]:
        """Have an operation of `WORSE` cost a share more than one of `BASE`.

        A loop of twice as many turns says what a turn costs: a large difference scatters less,
        relative to itself, than the small one that is planted.

        Returns:
            The share as measured afterwards, and its standard error.
        """
        self.set_turns(WORSE, 2 * FIRST_TURNS)
        doubled, error = self._compare_cpu(operations, rounds)
        click.echo(
            f"twice the loop: {100 * doubled:.1f} % more of the server's CPU time (standard error"
            f" {100 * error:.1f} %)",
            err=True,
        )
        self.set_turns(WORSE, FIRST_TURNS * (1 + share / doubled))
        measured, error = self._compare_cpu(operations, rounds)
        click.echo(
            f"planted: {100 * measured:.2f} % more (standard error {100 * error:.2f} %)", err=True
        )
        return measured, error

    def _compare_cpu(self, operations: int, rounds: int) -> tuple[float, float]:
        """Return by which share `WORSE` costs more than `BASE`, and its standard error."""
        logs, base_us = [], []
        for number in range(rounds):
            order = (BASE, WORSE) if number % 2 else (WORSE, BASE)
            used = {schema: self.measure_cpu_us(schema, operations) for schema in order}
            logs.append(log(used[WORSE] / used[BASE]))
            base_us.append(used[BASE])
        span = f"{median(base_us):.0f} us ({min(base_us):.0f} to {max(base_us):.0f})"
        click.echo(f"an operation takes {span} of the server's CPU time", err=True)
        return expm1(fmean(logs)), stdev(logs) / sqrt(rounds)

    def compare(self, second: str, options: LoadOptions, rules: Rules) -> VersusResult:
        """Compare a schema with `BASE`."""
        return run_versus(
            Comparison(
                dsns=(self.dsn(BASE), self.dsn(second)),
                targets=(self.target(BASE), self.target(second)),
                workload_name=str(self.workload),
                workload=load_workload(str(self.workload)),
                parameters={},
                options=options,
                search=None,
                order="turns",
                rules=rules,
            ),
            on_figure=lambda *_: None,
            say=lambda _: None,
        )


@contextmanager
def start_bench(family: str) -> Iterator[Bench]:
    """Start a server with its schemas."""
    with tempfile.TemporaryDirectory(prefix="versus-") as folder, ExitStack() as started:
        server = MariaDbServer if family == "mariadb" else PostgresServer
        running = started.enter_context(server.start(directory=Path(folder) / family))
        workload = Path(folder) / "workload.yaml"
        workload.write_text(WORKLOAD)
        bench = Bench(family, running, workload)
        bench.set_up()
        yield bench


def read_record(file: Path) -> list[Compared]:
    """Read the comparisons that a file has; none if there is no file."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [Compared.model_validate_json(line) for line in lines]


def tabulate(compared: Sequence[Compared]) -> None:
    """Print in how many comparisons a difference was found, and how long they took."""
    click.echo(
        "| server | planted | they differ | 95 % interval | too small to matter | not decided |"
        " pairs, median | median, longest |"
    )
    click.echo("|---|---|---|---|---|---|---|---|")
    kinds = dict.fromkeys((one.family, one.planted_share) for one in compared)
    for family, share in sorted(kinds, reverse=True):
        those = [one for one in compared if (one.family, one.planted_share) == (family, share)]
        measured = 100 * median(one.cpu_share for one in those)
        error = 100 * median(one.cpu_share_error for one in those)
        what = (
            f"{100 * share:g} % of CPU, measured {measured:.2f} % (standard error {error:.2f} %)"
            if share
            else "nothing"
        )
        outcomes = [one.result.outcome for one in those]
        differ = outcomes.count("they differ")
        low, high = wilson_interval(differ, len(those))
        seconds = [one.seconds for one in those]
        click.echo(
            f"| {family} | {what} | {differ} of {len(those)} | {100 * low:.0f} to"
            f" {100 * high:.0f} % | {outcomes.count('too small to matter')} |"
            f" {outcomes.count('not decided')} |"
            f" {median(len(one.result.pairs) for one in those):.0f} |"
            f" {median(seconds):.0f} s, {max(seconds):.0f} s |"
        )


@click.group()
def cli() -> None:
    """Measure `versus`."""


_FAMILY = click.option("--family", type=click.Choice(FAMILIES), required=True)


@cli.command()
@_FAMILY
@click.option("--times", default=10, show_default=True, help="Comparisons of each kind.")
@click.option("--planted", default=3.0, show_default=True, help="Percent of the server's CPU time.")
@click.option("--connections", default=2, show_default=True)
@click.option("--warmup", default=0.5, show_default=True, help="Seconds of each load.")
@click.option("--duration", default=2.0, show_default=True, help="Seconds of each window.")
@click.option("--pairs-max", default=150, show_default=True)
@click.option("--operations", default=3000, show_default=True, help="Operations to calibrate by.")
@click.option("--rounds", default=10, show_default=True, help="Pairs to calibrate by.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File of comparisons, one a line.",
)
def live(
    *,
    family: str,
    times: int,
    planted: float,
    connections: int,
    warmup: float,
    duration: float,
    pairs_max: int,
    operations: int,
    rounds: int,
    record: Path,
) -> None:
    """Compare schemas with something and with nothing planted, in turns of one of each."""
    done = [one for one in read_record(record) if one.family == family]
    missing = [
        (number, kind)
        for number in range(times)
        for kind in (planted / 100, 0.0)
        if number >= sum(one.planted_share == kind for one in done)
    ]
    with ExitStack() as started:
        if missing:
            bench = started.enter_context(start_bench(family))
            share, error = bench.calibrate(planted / 100, operations, rounds)
        for number, kind in missing:
            options = LoadOptions(connections=connections, warmup_s=warmup, duration_s=duration)
            began = time.monotonic()
            result = bench.compare(WORSE if kind else ALIKE, options, Rules(0.03, pairs_max))
            seconds = time.monotonic() - began
            one = Compared(
                family=family,
                planted_share=kind,
                cpu_share=share,
                cpu_share_error=error,
                seconds=seconds,
                result=result,
            )
            with record.open("a") as lines:
                lines.write(f"{one.model_dump_json()}\n")
            what = "planted" if kind else "nothing"
            click.echo(f"{number} {what}, {seconds:.0f} s: {describe(result)}", err=True)
    tabulate(read_record(record))


@cli.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
def table(*, file: Path) -> None:
    """Print the table of recorded comparisons."""
    tabulate(read_record(file))


# Examples: two versions, as a user compares them.


@contextmanager
def start_versions(family: str, folder: Path) -> Iterator[tuple[SqlServer, SqlServer]]:
    """Start an older and a newer server with the same settings."""
    with ExitStack() as started:
        if family == "postgres":
            old, new = (
                started.enter_context(PostgresServer.start(directory=folder / f"{n}", major=n))
                for n in (16, 18)
            )
            yield old, new
            return
        # the server that is fetched goes without Debian's libraries
        os.environ["PLIMSOLL_MARIADBD"] = str(MARIADB_OLD.resolve())
        libraries = {"LD_LIBRARY_PATH": list_debian_libraries()}
        os.environ.update(libraries)
        try:
            first = started.enter_context(MariaDbServer.start(directory=folder / "old"))
        finally:
            for name in ("PLIMSOLL_MARIADBD", *libraries):
                del os.environ[name]
        yield first, started.enter_context(MariaDbServer.start(directory=folder / "new"))


def run_plimsoll(*arguments: str) -> str:
    """Run the command, and return what it printed; its messages go to standard error."""
    program = "from plimsoll.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode not in (0, 3):
        raise click.ClickException(f"plimsoll {shlex.join(arguments)}: exit {ended.returncode}")
    return ended.stdout


@cli.command(context_settings={"ignore_unknown_options": True})
@_FAMILY
@click.option("--workload", default="ycsb-b", show_default=True)
@click.option("--records", default=50_000, show_default=True)
@click.argument("further", nargs=-1, type=click.UNPROCESSED)
def example(*, family: str, workload: str, records: int, further: tuple[str, ...]) -> None:
    """Compare two versions of a family, and print the command and its report.

    Further arguments are options of `plimsoll versus`.
    """
    with (
        tempfile.TemporaryDirectory(prefix="versus-") as folder,
        start_versions(family, Path(folder)) as servers,
    ):
        addresses = []
        for server in servers:
            os.environ[PASSWORD] = server.password
            scheme = server.dsn.partition(":")[0]
            address = f"{scheme}://{server.user}@{server.host}:{server.port}/{server.database}"
            addresses.append(address)
            prepared = ("--workload", workload, "--records", str(records))
            run_plimsoll("prepare", "--dsn", address, *prepared)
        usual = {"--warmup": "1", "--duration": "3", "--pairs-max": "60"}
        own = [text for name in usual if name not in further for text in (name, usual[name])]
        command = ("versus", *addresses, "--workload", workload, *own, *further)
        click.echo(f"plimsoll {shlex.join(command)}\n")
        click.echo(run_plimsoll(*command))


if __name__ == "__main__":
    cli()
