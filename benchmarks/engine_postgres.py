"""The engine on PostgreSQL beside pgbench: `python -m benchmarks.engine_postgres SECTION`.

SECTION: database, canned. One CHAR(120) by its key, prepared statements. Needs two cores: the
client runs on one, the server on the other. Clients run in turn, again and again; every figure is
the median of the repetitions. pgbench is Debian's (postgresql-contrib), one thread for all its
connections.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
import pg8000.native

from benchmarks.comparison import Client, compare
from benchmarks.engine_clients import ROWS, echo, engine
from benchmarks.engine_loads import (
    build_examples,
    canned,
    length,
    pinned,
    point_select,
    repeat,
)
from benchmarks.measuring import CLIENT_CORE, SERVER_CORE, Outcome, measure
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn

# what is asked and answered for one row, on the wire
ECHO_BYTES = ("42", "156")
SCRIPT = f"\\set id random(1, {ROWS})\nSELECT c FROM sbtest1 WHERE id=:id;\n"


def pgbench(
    target: EngineTarget,
    script: Path,
    *,
    connections: int,
    seconds: int,
    program: str = "pgbench",
    options: Sequence[str] = (),
) -> Outcome:
    """Run pgbench, which sends statements as the target says: prepared, or as text."""
    command = ["env", f"PGPASSWORD={target.password}", program, "-n", "-M", target.statement_mode]
    command += ["-f", str(script), "-c", str(connections), "-j", "1", "-T", str(seconds), *options]
    command += ["-h", target.host, "-p", str(target.port), "-U", target.user, target.database]
    counted = re.compile(r"transactions actually processed: (\d+)")
    outcome = measure(command, count=counted, seconds=seconds)
    rate = re.search(r"^tps = ([\d.]+) \(without initial", outcome.output, re.MULTILINE)
    assert rate is not None, outcome.output
    # -T counts from before the logins, which the engine does before its time begins
    return replace(outcome, wall_s=outcome.operations / float(rate[1]))


@contextmanager
def serve(**settings: str | int) -> Iterator[EngineTarget]:
    """A PostgreSQL on its core, which keeps 512 MB in memory."""
    with tempfile.TemporaryDirectory() as directory:
        with pinned(SERVER_CORE):
            server = PostgresServer.start(
                directory=Path(directory) / "data", settings={"shared_buffers": "512MB", **settings}
            )
        with server:
            yield parse_dsn(server.dsn)


@contextmanager
def database() -> Iterator[EngineTarget]:
    """A PostgreSQL on its core, all rows in memory."""
    with serve() as target:
        connection = pg8000.native.Connection(
            target.user,
            host=target.host,
            port=target.port,
            database=target.database,
            password=target.password,
        )
        connection.run("CREATE TABLE sbtest1 (id int PRIMARY KEY, c char(120) NOT NULL)")
        connection.run(
            "INSERT INTO sbtest1 SELECT id, repeat(md5(id::text), 4)::char(120)"  # noqa: S608 - ours
            f" FROM generate_series(1, {ROWS}) AS id"
        )
        connection.run("VACUUM ANALYZE sbtest1")
        connection.close()
        yield target


def install_pgbench() -> None:
    """Install Debian's pgbench if there is none."""
    if shutil.which("pgbench") is None:
        apt = ["apt-get", "install", "-qq", "-y", "postgresql-contrib"]
        subprocess.run(apt, check=True, capture_output=True)


@click.group()
def main() -> None:
    """Measures the engine beside pgbench."""
    install_pgbench()
    build_examples()


def both(target: EngineTarget, script: Path, n: int, seconds: int) -> dict[str, Client]:
    """The engine and pgbench at so many connections."""
    script.write_text(SCRIPT)
    return {
        "engine": partial(engine, point_select(target, n, seconds)),
        "pgbench": partial(pgbench, target, script, connections=n, seconds=seconds),
    }


@main.command("database")
@repeat
@length
def against_database(repetitions: int, seconds: int) -> None:
    """Reads by primary key from PostgreSQL."""
    with database() as target, tempfile.TemporaryDirectory() as directory:
        runs: dict[tuple[str, int], Client] = {}
        for n in (1, 8, 64):
            clients = both(target, Path(directory) / "script", n, seconds)
            runs |= {(name, n): client for name, client in clients.items()}
        compare("PostgreSQL", "connections", runs, repetitions)


@main.command("canned")
@repeat
@length
def against_canned(repetitions: int, seconds: int) -> None:
    """The clients alone: a server that answers at once."""
    with (
        canned("postgres", "canned_postgres", "120") as target,
        canned("postgres", "canned", "echo", *ECHO_BYTES) as bare,
        tempfile.TemporaryDirectory() as directory,
    ):
        runs: dict[tuple[str, int], Client] = {}
        for n in (8, 64):
            clients = both(target, Path(directory) / "script", n, seconds)
            runs |= {(name, n): client for name, client in clients.items()}
            runs["bare echo", n] = partial(
                echo, bare.port, connections=n, sizes=ECHO_BYTES, seconds=seconds
            )
        compare("canned server", "connections", runs, repetitions)


if __name__ == "__main__":
    assert len(os.sched_getaffinity(0) & {CLIENT_CORE, SERVER_CORE}) == 2, "it needs two cores"
    main()
