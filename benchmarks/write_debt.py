"""What lasts beside what was claimed, on real servers: `python -m benchmarks.write_debt COMMAND`.

`hold 4000-iops 6:300 8:120` makes the database of one run of a scenario anew, on its emulated
volume, and holds loads on it, one after the other without a pause: `CLIENTS:SECONDS` in a closed
loop, `RATE/s:SECONDS` in an open one. `find mariadb` (or postgres) asks `plimsoll find` for the
load line of a server whose log holds 96 MB, and holds the answer's load on it. The whole of a load
is judged, from its first second: what a log lends at first is part of it, and is soon outweighed.
Does nothing but this on the machine.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import plimsoll
import plimsoll_engine
from benchmarks.volume_fio import table
from plimsoll.databases.watching import open_watcher
from plimsoll.library.arguments import load_named_workload, parse_database
from plimsoll.load_line.load import run_load
from plimsoll.load_line.options import LoadOptions
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.local.resources.rds_settings import plan_mariadb_settings
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.requests.experiment_file import read_file
from plimsoll.volumes import EmulatedVolume, VolumeSettings

ROOT = Path(__file__).resolve().parents[1]
MEMORY_BYTES = 2**28  # from which the buffer pool follows, unless a scenario sets it
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
        dsn: The address of the database, with the password.
        workload: The name of the workload that is prepared on it.
        records: The number of records of that workload.
        debts: The readings since the present load began.
    """

    dsn: str
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
        target = parse_database(self.dsn, None)
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
        watching = open_watcher(parse_database(self.dsn, None))
        assert watching is not None
        with watching as watcher:
            while not ended.wait(EVERY_S):
                debt = watcher.look().debt
                if debt is not None:
                    self.debts.append(debt)

    @contextmanager
    def watched(self) -> Iterator["Database"]:
        """Read write debt within the body of the `with`."""
        ended = threading.Event()
        watch = threading.Thread(target=self.watch, args=(ended,))
        watch.start()
        try:
            yield self
        finally:
            ended.set()
            watch.join()


@contextmanager
def make_database(request: Request, scratch: Path) -> Iterator[Database]:
    """Make the database of a request: its volume, its server with its settings, its rows."""
    target, workload = request.target, request.workload
    if not isinstance(target, RdsTarget) or target.engine == "postgres" or workload.name is None:
        sys.exit("not a MariaDB on RDS with a built-in workload")
    parameters = {name: str(value) for name, value in target.parameters.items()}
    with EmulatedVolume.create(scratch / "v", target.volume, service=target.service) as volume:
        settings = plan_mariadb_settings(
            parameters, memory_bytes=MEMORY_BYTES, limits=volume.limits
        )
        directory = scratch / "v" / "server"
        environment = volume.environment()
        with MariaDbServer.start(
            directory=directory, settings=settings, environment=environment
        ) as server:
            plimsoll.prepare(
                server.dsn, workload=workload.name, records=workload.records, connections=1
            )
            with Database(server.dsn, workload.name, workload.records).watched() as database:
                yield database


def describe(load: str, held: Held) -> tuple[object, ...]:
    """Return a row of the table."""
    operations = held.report.operations
    succeeded = sum(operation.succeeded for operation in operations.values())
    spans = range(len(held.seconds) - SPAN_S)
    sums = [sum(held.seconds[at : at + SPAN_S]) for at in spans]
    debts = held.debts
    levels = [debt.owed_bytes / debt.limit_bytes for debt in debts]
    grown = debts[-1].owed_bytes - debts[0].owed_bytes
    written = debts[-1].written_bytes - debts[0].written_bytes
    return (
        load,
        f"{succeeded / (held.report.window_s or 1):,.0f}",
        f"{min(sums, default=0) / SPAN_S:,.0f} to {max(sums, default=0) / SPAN_S:,.0f}",
        *(
            f"{(operations[name].latency_us.mean or 0) / 1e3:.2f}"
            f" ({(operations[name].latency_us.p99 or 0) / 1e3:.1f})"
            for name in ("read", "update")
        ),
        f"{min(levels):.0%} to {max(levels):.0%}",
        f"{grown / max(1, written):.1%}",
    )


HEAD = f"load | ops/s | of {SPAN_S} s | read ms (p99) | update ms (p99) | log | grew by, of written"
LOG_MB = 96
FIND = ("--warmup", "2", "--duration", "10", "--time-limit", "540")


@contextmanager
def start_server(engine: str, volume: EmulatedVolume, records: int) -> Iterator[str]:
    """Start a server whose log holds 96 MB, with its rows, on a volume; give its DSN."""
    directory = volume.directory / "server"
    if engine == "mariadb":
        log = {"innodb_log_file_size": f"{LOG_MB}M"}
        loading: dict[str, str | int] = {
            **log,
            "innodb_buffer_pool_size": "512M",
            "innodb_flush_log_at_trx_commit": 0,
        }
        loader = MariaDbServer.start(directory=directory, settings=loading)
        plimsoll.prepare(loader.dsn, workload="ycsb-a", records=records)
        loader.stop()  # it keeps its data
        settings = {**log, "innodb_buffer_pool_size": "96M"}
        with MariaDbServer.start(
            directory=directory, settings=settings, environment=volume.environment()
        ) as server:
            yield server.dsn
        return
    first = PostgresServer.start(directory=directory, settings={"shared_buffers": "256MB"})
    plimsoll.prepare(first.dsn, workload="ycsb-a", records=records)
    first.stop()
    with PostgresServer.start(
        directory=directory,
        settings={"shared_buffers": "96MB", "max_wal_size": f"{LOG_MB}MB"},
        environment=volume.environment(),
    ) as second:
        yield second.dsn


def find_load_line(dsn: str, records: int, limit: str, options: Sequence[str]) -> dict[str, Any]:
    """Ask `plimsoll find` for the load line; give its capacity."""
    program = str(Path(sys.executable).parent / "plimsoll")
    command = [program, "find", dsn, "--workload", "ycsb-a"]
    command += ["--records", str(records), "--allow-writes", "--max-connections", "64"]
    command += ["--limit", limit, *FIND, "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)["capacity"]
    return answer


@click.group()
def main() -> None:
    """Hold loads for minutes."""


@main.command()
@click.argument("run")
@click.argument("loads", nargs=-1, required=True)
@click.option("--scenario", default="r1-demo", show_default=True)
@click.option("--dir", "base", type=click.Path(path_type=Path), default=None)
def hold(run: str, loads: tuple[str, ...], scenario: str, base: Path | None) -> None:
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
            table(HEAD, (describe(load, database.hold(load)) for load in loads))


@main.command()
@click.argument("engine", type=click.Choice(["mariadb", "postgres"]))
@click.option("--iops", default=2_000, show_default=True)
@click.option("--records", default=150_000, show_default=True)
@click.option("--limit", default="25ms", show_default=True, help="Of p99.")
@click.option("--seconds", default=600, show_default=True, help="For which the answer is held.")
@click.argument("options", nargs=-1)
def find(engine: str, iops: int, records: int, limit: str, **rest: Any) -> None:
    """Find the load line of a server that writes, and hold the answer's load on it.

    OPTIONS, after `--`, are those of `plimsoll find`.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-debt-") as directory:
        scratch = Path(directory)
        scratch.chmod(0o755)  # PostgreSQL does not run as root
        volume = Volume(type="io1", size_gib=200, iops=iops)
        cache = VolumeSettings(page_cache_mib=32 if engine == "postgres" else 0)
        with (
            EmulatedVolume.create(scratch / "volume", volume, settings=cache) as on,
            start_server(engine, on, records) as dsn,
        ):
            options = ("--out", str(scratch / "find"), *rest["options"])
            answer = find_load_line(dsn, records, limit, options)
            print(json.dumps({name: answer[name] for name in ("verdict", "summary", "notes")}))
            print(f"interval {answer['interval']}", flush=True)
            if answer["at"] is None:
                sys.exit("no load to hold")
            with Database(dsn, "ycsb-a", records).watched() as database:
                load = f"{answer['at']:.0f}:{rest['seconds']}"
                table(HEAD, [describe(load, database.hold(load))])


if __name__ == "__main__":
    main()
