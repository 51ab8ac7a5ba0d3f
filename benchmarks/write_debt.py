"""What lasts on a demo's database: `python -m benchmarks.write_debt 4000-iops 6:300 8:120`.

Makes the database of one run of a scenario anew, on its emulated volume, and holds loads on it, one
after the other without a pause: `CLIENTS:SECONDS` in a closed loop, `RATE/s:SECONDS` in an open
one. The whole of each load is judged, from its first second: what a log lends at first is part of
it, and is soon outweighed. Does nothing but this on the machine.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

import plimsoll
import plimsoll_engine
from benchmarks.volume_fio import table
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.mysql.watching import find_write_debt
from plimsoll.library.arguments import load_named_workload, parse_database
from plimsoll.load_line.load import run_load
from plimsoll.load_line.options import LoadOptions
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.resources.rds_mariadb_settings import server_settings
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.requests.experiment_file import read_file
from plimsoll.volumes import EmulatedVolume

ROOT = Path(__file__).resolve().parents[1]
MEMORY_BYTES = 2**28  # of no effect where a scenario sets the buffer pool
EVERY_S = 0.5
SPAN_S = 30  # the slowest such span of a load is told
OPEN_CONNECTIONS = 64


@dataclass
class Held:
    """One load that was held.

    Attributes:
        report: The whole load's figures.
        seconds: Successful operations of each second.
        debts: The server's write debt, read twice a second.
    """

    report: LoadReport
    seconds: list[int]
    debts: list[WriteDebt]


@dataclass
class Database:
    """A fresh database that is watched.

    Attributes:
        server: The server.
        records: The number of records of its workload.
        debts: The readings since the present load began.
    """

    server: MariaDbServer
    workload: str
    records: int
    debts: list[WriteDebt] = field(default_factory=list)

    def hold(self, load: str) -> Held:
        """Hold one load, such as `6:300` or `2000/s:300`."""
        how, _, seconds = load.partition(":")
        rate = float(how.removesuffix("/s")) if how.endswith("/s") else None
        options = LoadOptions(
            records=self.records,
            connections=OPEN_CONNECTIONS if rate else int(how),
            threads=1,
            rate=rate,
            warmup_s=1.0,
            duration_s=float(seconds),
        )
        target = parse_database(self.server.dsn, None)
        _, workload = load_named_workload(self.workload)
        done: list[int] = []

        def count(second: str) -> None:
            done.append(sum(each["succeeded"] for each in json.loads(second)))

        self.debts.clear()
        token = plimsoll_engine.CancelToken()
        loaded = run_load(target, workload, {}, options, on_second=count, token=token)
        return Held(loaded.report, done, list(self.debts))

    def watch(self, ended: threading.Event) -> None:
        """Read write debt until it is told to end."""
        with closing(connect(parse_database(self.server.dsn, None))) as connection:
            while not ended.wait(EVERY_S):
                rows = execute(connection, "SHOW GLOBAL STATUS LIKE 'Innodb%%'", ())
                debt = find_write_debt({n: int(v) for n, v in rows if str(v).isdigit()})
                if debt is not None:
                    self.debts.append(debt)


@contextmanager
def make_database(request: Request, scratch: Path) -> Iterator[Database]:
    """Make the database of a request: its volume, its server with its settings, its rows."""
    target, workload = request.target, request.workload
    if not isinstance(target, RdsTarget) or target.engine == "postgres" or workload.name is None:
        sys.exit("not a MariaDB on RDS with a built-in workload")
    parameters = {name: str(value) for name, value in target.parameters.items()}
    with EmulatedVolume.create(scratch / "v", target.volume, service=target.service) as volume:
        settings = server_settings(parameters, memory_bytes=MEMORY_BYTES, limits=volume.limits)
        directory = scratch / "v" / "server"
        environment = volume.environment()
        with MariaDbServer.start(
            directory=directory, settings=settings, environment=environment
        ) as server:
            plimsoll.prepare(
                server.dsn, workload=workload.name, records=workload.records, connections=1
            )
            database = Database(server, workload.name, workload.records)
            ended = threading.Event()
            watch = threading.Thread(target=database.watch, args=(ended,))
            watch.start()
            try:
                yield database
            finally:
                ended.set()
                watch.join()


def describe(load: str, held: Held) -> tuple[object, ...]:
    """Return a row of the table."""
    operations = held.report.operations
    succeeded = sum(operation.succeeded for operation in operations.values())
    sums = [sum(held.seconds[at : at + SPAN_S]) for at in range(len(held.seconds) - SPAN_S)]
    debts = held.debts
    levels = [debt.owed_bytes / debt.limit_bytes for debt in debts]
    grown = debts[-1].owed_bytes - debts[0].owed_bytes
    written = debts[-1].written_bytes - debts[0].written_bytes
    return (
        load,
        f"{succeeded / (held.report.window_s or 1):,.0f}",
        f"{min(sums, default=0) / SPAN_S:,.0f} to {max(sums, default=0) / SPAN_S:,.0f}",
        *(f"{(operations[o].latency_us.mean or 0) / 1e3:.2f}" for o in ("read", "update")),
        f"{min(levels):.0%} to {max(levels):.0%}",
        f"{grown / max(1, written):.1%}",
    )


@click.command()
@click.argument("run")
@click.argument("loads", nargs=-1, required=True)
@click.option("--scenario", default="r1-demo", show_default=True)
@click.option("--dir", "base", type=click.Path(path_type=Path), default=None)
def main(run: str, loads: tuple[str, ...], scenario: str, base: Path | None) -> None:
    """Hold LOADS on the database of one RUN of a scenario."""
    runs = read_file(ROOT / f"scenarios/{scenario}.yaml")
    if not isinstance(runs, dict) or run not in runs:
        sys.exit(f"{scenario} has no run {run}")
    request = runs[run].request
    assert isinstance(request, Request)
    with tempfile.TemporaryDirectory(prefix="plimsoll-debt-", dir=base) as scratch:
        began_s = time.monotonic()
        with make_database(request, Path(scratch)) as database:
            print(f"{run}: made in {time.monotonic() - began_s:.0f} s", flush=True)
            head = f"load | ops/s | of {SPAN_S} s | read ms | update ms | log | grew by, of written"
            table(head, [describe(load, database.hold(load)) for load in loads])


if __name__ == "__main__":
    main()
