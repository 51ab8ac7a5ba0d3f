"""The engine beside other clients: `python -m benchmarks.engine SECTION` prints Markdown tables.

SECTION: database, tls, canned, open, memory (benchmarks/engine_waiting.py has how clients wait).
Needs two cores: the client runs on one, the server on the other. Every figure is the median of
interleaved repetitions; the tables are in docs/evidence/performance.md.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import click

from benchmarks import engine_clients as clients
from benchmarks.comparison import Client, compare
from benchmarks.engine_clients import ROWS
from benchmarks.engine_loads import (
    PROJECT,
    build_examples,
    canned,
    closed,
    length,
    pinned,
    point_select,
    repeat,
)
from benchmarks.measuring import CLIENT_CORE, SERVER_CORE
from plimsoll.local.databases.certificates import Authority
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, OpenLoop, Tls
from plimsoll.workload import load_workload

# oltp_point_select's row: one CHAR(120); the size of its question and of its answer on the wire
CANNED_ROW = ("1", "120")
ECHO_BYTES = ("27", "198")


@contextmanager
def database(
    authority: Authority | None = None, *, pinned_server: bool = True
) -> Iterator[EngineTarget]:
    """A MariaDB server, all rows in memory; with an authority, its TLS is verified.

    It has a core of its own, or shares all of them with its clients.
    """
    settings: dict[str, str | int] = {"innodb_buffer_pool_size": "1G", "max_connections": 2000}
    with tempfile.TemporaryDirectory() as directory:
        if authority is not None:
            settings |= authority.sign(Path(directory) / "tls", "127.0.0.1").settings
        with pinned(SERVER_CORE) if pinned_server else nullcontext():
            server = MariaDbServer.start(directory=Path(directory) / "data", settings=settings)
        with server:
            yield EngineTarget(
                protocol="mysql",
                host=server.host,
                port=server.port,
                user=server.user,
                password=server.password,
                database=server.database,
                tls=None if authority is None else Tls(ca_pem=authority.pem),
            )


@click.group()
def main() -> None:
    """Measures the engine beside other clients."""
    for problem in clients.install():
        click.echo(f"not measured: {problem}", err=True)
    build_examples()


@main.command("database")
@repeat
@length
def against_database(repetitions: int, seconds: int) -> None:
    """Reads by primary key from MariaDB."""
    with database() as target:
        clients.sysbench_prepare(target)
        compiled = load_workload("ycsb-c").compile(ROWS)
        clients.ycsb_tables(target, compiled)
        runs: dict[tuple[str, int], Client] = {}
        for n in (1, 8, 32, 64):
            spec = point_select(target, n, seconds)
            runs["engine", n] = partial(clients.engine, spec)
            runs["sysbench", n] = partial(clients.sysbench, target, connections=n, seconds=seconds)
            runs["PyMySQL", n] = partial(
                clients.pymysql_threads, target, connections=n, seconds=seconds
            )
            runs["bare exchange", n] = partial(clients.bare, spec)
        compare("oltp_point_select", "connections", runs, repetitions)
        runs = {}
        for n in (1, 8, 64):
            spec = closed(target, compiled.engine_workload(), n, seconds)
            runs["engine", n] = partial(clients.engine, spec)
            if (program := clients.build_go_ycsb()) is not None:
                operations = seconds * (8_000 if n == 1 else 25_000)
                runs["go-ycsb", n] = partial(
                    clients.go_ycsb, program, target, connections=n, operations=operations
                )
        compare("ycsb-c", "connections", runs, repetitions)


@main.command("tls")
@repeat
@length
def with_tls(repetitions: int, seconds: int) -> None:
    """What TLS costs the client: the same server, reached with it and without."""
    with database(Authority.new()) as target:
        open_target = target.model_copy(update={"tls": None})
        clients.sysbench_prepare(open_target)
        runs: dict[tuple[str, int], Client] = {}
        for n in (1, 8, 64):
            for name, towards in (("with TLS", target), ("without", open_target)):
                runs[name, n] = partial(clients.engine, point_select(towards, n, seconds))
        compare("oltp_point_select", "connections", runs, repetitions)


@main.command("canned")
@repeat
@length
def against_canned(repetitions: int, seconds: int) -> None:
    """The clients alone: a server that answers at once."""
    with (
        canned("mysql", "canned", *CANNED_ROW) as target,
        canned("mysql", "canned", "echo", *ECHO_BYTES) as echo,
    ):
        runs: dict[tuple[str, int], Client] = {}
        for n in (8, 64):
            spec = point_select(target, n, seconds)
            runs["engine", n] = partial(clients.engine, spec)
            runs["sysbench", n] = partial(clients.sysbench, target, connections=n, seconds=seconds)
            runs["PyMySQL", n] = partial(
                clients.pymysql_threads, target, connections=n, seconds=seconds
            )
            runs["bare echo", n] = partial(
                clients.echo, echo.port, connections=n, sizes=ECHO_BYTES, seconds=seconds
            )
        compare("canned server", "connections", runs, repetitions)


@main.command("open")
@repeat
def open_loop(repetitions: int) -> None:
    """2,000 operations a second over 64 connections."""
    click.echo(
        "| arrivals | lateness p50, p99, max us | latency p50, p99, p99.9 us | CPU of a core |"
    )
    click.echo("|---|---|---|---|")
    with database() as target:
        clients.sysbench_prepare(target)
        for _ in range(repetitions):
            for arrivals in ("constant", "poisson"):
                loop = OpenLoop(arrivals=arrivals, rate_ops_per_second=2_000)
                update = {"loop": loop, "warmup_s": 1.0}
                spec = point_select(target, 64, 8).model_copy(update=update)
                report = LoadReport.model_validate_json(clients.engine(spec).output.splitlines()[0])
                late = report.client.send_lateness_us
                latency = report.operations["point_select"].latency_us
                cpu = (report.client.cpu_user_s + report.client.cpu_system_s) / report.window_s
                assert late is not None
                click.echo(
                    f"| {arrivals} | {late.p50}, {late.p99}, {late.max} "
                    f"| {latency.p50}, {latency.p99}, {latency.p999} | {cpu:.0%} |"
                )


@main.command("memory")
def memory() -> None:
    """The memory of 1,000 connections, and the wheel's size."""
    with database() as target:
        clients.sysbench_prepare(target)
        outputs = (clients.engine(point_select(target, n, 3)).output for n in (1, 1_000))
        one, many = (int(re.findall(r"VmHWM:\s+(\d+)", output)[0]) for output in outputs)
    wheel = max(PROJECT.glob(".cache/wheels/*.whl"), key=lambda path: path.stat().st_mtime)
    click.echo(
        json.dumps(
            {
                "one_connection_mib": round(one / 1024, 1),
                "thousand_connections_mib": round(many / 1024, 1),
                "wheel_mib": round(wheel.stat().st_size / 2**20, 2),
            }
        )
    )


if __name__ == "__main__":
    assert len(os.sched_getaffinity(0) & {CLIENT_CORE, SERVER_CORE}) == 2, "it needs two cores"
    main()
