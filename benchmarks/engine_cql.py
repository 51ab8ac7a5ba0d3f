"""The engine on Cassandra beside other clients: `python -m benchmarks.engine_cql` prints a table.

One read by key of a row of 1 KB, everything in memory, consistency ONE. Needs two cores: the client
runs on one, the server on the other. Clients run in turn, again and again; every figure is the
median of the repetitions. LATTE=/path/to/latte measures it (`cargo install latte-cli`).

`--server HOST:PORT` measures against a server that is there already. With `--canned` the server is
`engine/examples/canned_cql.rs`, which answers at once: the client is the limit then.
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

import plimsoll_engine
from benchmarks.comparison import Client, compare
from benchmarks.engine_clients import engine
from benchmarks.engine_loads import canned, pinned
from benchmarks.measuring import SERVER_CORE, Outcome, measure
from plimsoll.databases.cassandra.session import CassandraSession
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.model.engine.asked import (
    DatasetSpec,
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    KeySpace,
    LoadSpec,
)
from plimsoll.model.engine.values import KeyValue, RowValue, TextValue
from plimsoll.model.request.dsn import parse_dsn

ROWS = 20_000
KEYSPACE = "bench"
TABLE = "items"
READ = f"SELECT * FROM {TABLE} WHERE id = ?"  # noqa: S608 - ours
IN_FLIGHT = (1, 32, 128, 250)
DRIVER = str(Path(__file__).with_name("cassandra_child.py"))
LATTE_SCRIPT = Path(__file__).with_name("engine_cql.latte.rn")


def spec(target: EngineTarget, in_flight: int, seconds: float) -> LoadSpec:
    """Reads by key, uniform, in a closed loop without warm-up."""
    statement = EngineStatement(sql=(READ,), binds=(KeyValue(key_space="rows"),))
    workload = EngineWorkload(
        key_spaces=(KeySpace(name="rows", records=ROWS),),
        operations=(EngineOperation(name="read", weight=1, statements=(statement,)),),
    )
    return LoadSpec(target=target, workload=workload, connections=in_flight, duration_s=seconds)


def fill(target: EngineTarget) -> None:
    """Makes the table of `ROWS` rows."""
    with CassandraSession(target) as session:
        replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        session.execute(f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication={replication}")
        table = f"{KEYSPACE}.{TABLE}"
        session.execute(f"CREATE TABLE IF NOT EXISTS {table} (id bigint PRIMARY KEY, value text)")
    rows = DatasetSpec(
        target=target,
        table=TABLE,
        columns=("id", "value"),
        row=(RowValue(), TextValue(length=1000)),
        from_row=0,
        to_row=ROWS,
    )
    plimsoll_engine.load_rows(rows.model_dump_json())


@contextmanager
def cassandra(server: str | None) -> Iterator[EngineTarget]:
    """A Cassandra on its core, or one that is there."""
    if server is not None:
        yield parse_dsn(f"cassandra://{server}/{KEYSPACE}")
        return
    with tempfile.TemporaryDirectory() as directory:
        with pinned(SERVER_CORE):
            started = CassandraServer.start(directory=Path(directory) / "data", heap_mib=1024)
        with started:
            yield parse_dsn(f"cassandra://{started.host}:{started.port}/{KEYSPACE}")


def latte(program: str, target: EngineTarget, *, in_flight: int, seconds: int) -> Outcome:
    """Latte, one thread; one connection for each 128 in flight, as the engine has them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            program,
            "--log-dir",
            folder,
            "run",
            str(LATTE_SCRIPT),
            f"{target.host}:{target.port}",
            "-q",
        ]
        command += ["-d", f"{seconds}s", "-t", "1", "-p", str(in_flight), "-P", f"rows={ROWS}"]
        command += ["-c", str(-(-in_flight // 128)), "-o", f"{folder}/report.json"]
        return measure(command, count=re.compile(r"Cycles\s+\[op\]\s+(\d+)"), seconds=seconds)


def driver(target: EngineTarget, kind: str, *, in_flight: int, seconds: int) -> Outcome:
    """cassandra-driver, in threads or with callbacks."""
    command = [sys.executable, DRIVER, kind, target.host, str(target.port)]
    command += [KEYSPACE, READ, str(in_flight), str(seconds), str(ROWS)]
    return measure(command, count=re.compile(r"(\d+)"), seconds=seconds)


def clients(
    target: EngineTarget, seconds: int, *, all_of_them: bool
) -> dict[tuple[str, int], Client]:
    """Each client at each number in flight."""
    program = os.environ.get("LATTE") or shutil.which("latte")
    if all_of_them and program is None:
        click.echo("not measured: latte (cargo install latte-cli, or LATTE=PATH)", err=True)
    found: dict[tuple[str, int], Client] = {}
    for n in IN_FLIGHT:
        found["engine", n] = partial(engine, spec(target, n, seconds))
        if not all_of_them:
            continue
        if program is not None:
            found["latte", n] = partial(latte, program, target, in_flight=n, seconds=seconds)
        for kind in ("threads", "callbacks"):
            found[f"cassandra-driver, {kind}", n] = partial(
                driver, target, kind, in_flight=n, seconds=seconds
            )
    return found


@click.command()
@click.option("--repetitions", default=3, show_default=True)
@click.option("--seconds", default=4, show_default=True)
@click.option("--server", metavar="HOST:PORT", help="A Cassandra without password, there already.")
@click.option("--canned", "canned_server", is_flag=True, help="Against a server that costs little.")
def main(repetitions: int, seconds: int, server: str | None, *, canned_server: bool) -> None:
    """Measures the engine on Cassandra beside other clients."""
    with canned("cql", "canned_cql", "1000") if canned_server else cassandra(server) as target:
        if not canned_server:
            fill(target)
            for _ in range(3):  # the server's compiler has seen the path before anything counts
                engine(spec(target, 64, 5))
        all_clients = clients(target, seconds, all_of_them=not canned_server)
        compare("one read by key", "in flight", all_clients, repetitions)


if __name__ == "__main__":
    main()
