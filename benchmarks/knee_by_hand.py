"""A knee found by hand beside `plimsoll find`: `python -m benchmarks.knee_by_hand TOOL`.

TOOL is sysbench (point_select or read_write on MariaDB), pgbench (-S on PostgreSQL) or go-tpc (tpcc
on MariaDB; one warehouse that Plimsoll makes, and the server's settings of
`scenarios/tpcc-demo.yaml`). Its tables, some times the server's memory, lie on an emulated volume.
By hand: the tool runs with more and more threads, and the most throughput whose p99 (of go-tpc,
new_order's, or its mean) is within the limit is the knee. Then `plimsoll find` is asked the same
about the same tables, and then the tool again, so that a drift shows. Does nothing but this on the
machine. Needs sysbench or pgbench (on Debian: sysbench, postgresql-contrib), or go-tpc
(benchmarks/tpcc.py).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import yaml

from benchmarks.tpcc import SUMMARY, call_go_tpc, count_transactions
from benchmarks.volume_fio import table
from benchmarks.volume_mariadb import sysbench
from benchmarks.volume_postgres import pgbench, printed
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.aws.volumes import Volume, rates
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.volumes import EmulatedVolume, VolumeSettings
from plimsoll.workload import load_workload

THREADS = (1, 2, 3, 4, 6, 8, 10, 12, 16)
ROWS = 400_000  # of sysbench: about 95 MB
SCALE = 10  # of pgbench: 1 million rows, about 150 MB with their index
WAREHOUSES = 1  # as in scenarios/tpcc-demo.yaml: about 100 MB
PGBENCH_READ = """\
about: "pgbench -S: one account by its key"
dataset: pgbench
operations:
  read:
    weight: 1
    statements:
      - sql: SELECT abalance FROM {pgbench_accounts} WHERE aid = ?
        binds: [{key: pgbench_accounts}]
"""


@dataclass(frozen=True)
class Step:
    """What the tool printed: threads, operations a second, p99 or mean latency in ms."""

    threads: int
    ops_per_second: float
    latency_ms: float


@dataclass(frozen=True)
class Subject:
    """A server with its tables, and how each of the two asks it.

    Attributes:
        run: Runs the tool with so many threads for so many seconds.
        dsn: For `plimsoll find`, without its password.
        password: That.
        find: The options of `find` that say what is asked.
        limits: How the options of `find` name the limit, of which `{}` is the latency.
        statistic: What the limit is of: p99, or mean.
    """

    run: Callable[[int, int], Step]
    dsn: str
    password: str
    find: tuple[str, ...]
    limits: tuple[str, ...] = ("{}",)
    statistic: str = "p99"


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        sys.exit(f"no {pattern} in: {text}")
    return float(found[1])


@contextmanager
def mariadb(
    volume: EmulatedVolume,
    load: Callable[[MariaDbServer], object],
    settings: dict[str, str | int],
) -> Iterator[MariaDbServer]:
    """MariaDB on a volume, with rows that were loaded before it was on that."""
    directory = volume.directory / "server"
    loading: dict[str, str | int] = {
        "innodb_buffer_pool_size": "512M",
        "innodb_flush_log_at_trx_commit": 0,
    }
    loader = MariaDbServer.start(directory=directory, settings=loading)
    load(loader)
    loader.stop()
    with MariaDbServer.start(
        directory=directory, settings=settings, environment=volume.environment()
    ) as server:
        yield server


@contextmanager
def with_sysbench(volume: EmulatedVolume, script: str) -> Iterator[Subject]:
    """MariaDB with sysbench's own tables."""
    size = ("--tables=1", f"--table-size={ROWS}")

    def load(server: MariaDbServer) -> None:
        sysbench(server, script, *size, "prepare")

    with mariadb(volume, load, {"innodb_buffer_pool_size": "16M"}) as server:
        yield _of_sysbench(server, script, size)


def _of_sysbench(server: MariaDbServer, script: str, size: tuple[str, str]) -> Subject:
    def run(threads: int, seconds: int) -> Step:
        many = (f"--threads={threads}", f"--time={seconds}", "--percentile=99")
        text = sysbench(server, script, *size, *many, "run")
        rate = _number(r"transactions:\s+\d+\s+\(([\d.]+) per sec", text)
        return Step(threads, rate, _number(r"99th percentile:\s+([\d.]+)", text))

    workload = f"sysbench-{script.replace('_', '-')}"
    return Subject(
        run=run,
        dsn=f"mysql://{server.user}@{server.host}:{server.port}/{server.database}",
        password=server.password,
        find=(
            *("--workload", workload, "--records", str(ROWS)),
            *("--tables", "1", "--set", "distribution=uniform"),
        ),
    )


@contextmanager
def with_go_tpc(volume: EmulatedVolume, program: str, statistic: str) -> Iterator[Subject]:
    """MariaDB with TPC-C's tables and the settings of the scenario."""
    scenario = Path(__file__).parents[1] / "scenarios/tpcc-demo.yaml"
    settings = yaml.safe_load(scenario.read_text())["target"]["parameters"]
    compiled = load_workload("tpcc").compile(WAREHOUSES)

    def load(server: MariaDbServer) -> None:
        # one loader inserts in the order of the keys
        prepare_dataset(parse_dsn(server.dsn), compiled, connections=1)

    with mariadb(volume, load, settings) as server:
        yield _of_go_tpc(parse_dsn(server.dsn), program, statistic)


def _of_go_tpc(target: EngineTarget, program: str, statistic: str) -> Subject:
    def run(threads: int, seconds: int) -> Step:
        many = ("-T", str(threads), "--time", f"{seconds}s", "--weight", "44,44,4,4,4")
        (summary,) = call_go_tpc(program, target, "run", *many, found=SUMMARY)

        def read(figure: str) -> float:
            return _number(rf"NEW_ORDER - .*{figure}: ([\d.]+)", summary)

        # the mean that go-tpc prints is computed from the coarse classes of its histogram
        mean_ms = read(r"Sum\(ms\)") / read("Count")
        latency_ms = mean_ms if statistic == "mean" else read(r"99th\(ms\)")
        return Step(threads, count_transactions(summary) / seconds, latency_ms)

    return Subject(
        run=run,
        dsn=f"mysql://{target.user}@{target.host}:{target.port}/{target.database}",
        password=target.password,
        find=("--workload", "tpcc"),
        limits=("new_order={}", "60s"),
        statistic=statistic,
    )


@contextmanager
def postgres(volume: EmulatedVolume, scratch: Path) -> Iterator[Subject]:
    """PostgreSQL with pgbench's own tables."""
    directory = volume.directory / "server"
    loader = PostgresServer.start(directory=directory, settings={"shared_buffers": "256MB"})
    printed(pgbench(loader, "--initialize", "--quiet", f"--scale={SCALE}"))
    loader.stop()
    with PostgresServer.start(
        directory=directory,
        settings={"shared_buffers": "16MB"},
        environment=volume.environment(),
    ) as server:
        yield _of_pgbench(server, scratch)


def _of_pgbench(server: PostgresServer, scratch: Path) -> Subject:
    logs = scratch / "logs"
    logs.mkdir()

    def run(threads: int, seconds: int) -> Step:
        options = ("-S", "-n", "-Mprepared", f"-c{threads}", "-j1", f"-T{seconds}")
        text = printed(pgbench(server, *options, "--log", f"--log-prefix={logs / 'log'}"))
        files = list(logs.iterdir())
        took_us = sorted(
            int(line.split()[2]) for file in files for line in file.read_text().splitlines()
        )
        for file in files:
            file.unlink()
        rate = _number(r"^tps = ([\d.]+)", text)
        return Step(threads, rate, took_us[int(0.99 * len(took_us))] / 1e3)

    workload = scratch / "pgbench-read.yaml"
    workload.write_text(PGBENCH_READ)
    return Subject(
        run=run,
        dsn=f"postgres://{server.user}@{server.host}:{server.port}/{server.database}",
        password=server.password,
        find=("--workload", str(workload), "--records", str(SCALE)),
    )


def by_hand(subject: Subject, limit_ms: float, seconds: int) -> Step | None:
    """Find the knee with the tool alone: print its steps; give the best within the limit."""
    steps = [subject.run(threads, seconds) for threads in THREADS]
    table(
        f"threads | ops/s | {subject.statistic} ms",
        ((s.threads, f"{s.ops_per_second:,.0f}", f"{s.latency_ms:.2f}") for s in steps),
    )
    within = [step for step in steps if step.latency_ms <= limit_ms]
    return max(within, key=lambda step: step.ops_per_second, default=None)


def found(subject: Subject, limit_ms: float, out: Path) -> dict[str, object]:
    """Ask `plimsoll find` the same; give its capacity."""
    program = str(Path(sys.executable).parent / "plimsoll")
    command = [program, "find", subject.dsn, *subject.find]
    command += ["--allow-writes", "--max-connections", "64", "--statistic", subject.statistic]
    command += [f"--limit={limit.format(f'{limit_ms:g}ms')}" for limit in subject.limits]
    command += ["--json", "--out", str(out)]
    done = subprocess.run(
        command,
        env={**os.environ, "PLIMSOLL_PASSWORD": subject.password},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    answer: dict[str, object] = json.loads(done.stdout)["capacity"]
    return answer


@click.command()
@click.argument("tool", type=click.Choice(["point_select", "read_write", "pgbench", "go-tpc"]))
@click.option("--iops", default=1_000, show_default=True)
@click.option("--limit-ms", default=10.0, show_default=True, help="Of the statistic.")
@click.option("--seconds", default=15, show_default=True, help="Of each step by hand.")
@click.option("--keep", type=click.Path(path_type=Path), help="Where find's results go.")
@click.option("--program", default="go-tpc", show_default=True, help="go-tpc's.")
@click.option(
    "--statistic",
    type=click.Choice(["p99", "mean"]),
    default="p99",
    show_default=True,
    help="Of latency; mean for go-tpc alone.",
)
def main(
    *,
    tool: str,
    iops: int,
    limit_ms: float,
    seconds: int,
    keep: Path | None,
    program: str,
    statistic: str,
) -> None:
    """Find one knee three times: by hand, by `plimsoll find`, by hand."""
    if statistic == "mean" and tool != "go-tpc":
        raise click.UsageError("--statistic mean is for go-tpc alone")
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as directory:
        scratch = Path(directory)
        scratch.chmod(0o755)  # PostgreSQL does not run as root
        volume = Volume(type="io1", size_gib=200, iops=iops)
        cache = VolumeSettings(page_cache_mib=32 if tool == "pgbench" else 0)
        with EmulatedVolume.create(scratch / "volume", volume, settings=cache) as on:
            if tool == "pgbench":
                opened = postgres(on, scratch)
            elif tool == "go-tpc":
                opened = with_go_tpc(on, program, statistic)
            else:
                opened = with_sysbench(on, f"oltp_{tool}")
            with opened as subject:
                subject.run(8, 2 * seconds)  # until the caches are full
                first = by_hand(subject, limit_ms, seconds)
                before = on.sample()
                answer = found(subject, limit_ms, keep or scratch / "find")
                seen = rates(before, on.sample())
                second = by_hand(subject, limit_ms, seconds)
    print(f"by hand, before: {first}\nfind: {json.dumps(answer)[:2000]}\nby hand, after: {second}")
    print(f"while find ran, its pauses with it: {seen.read_iops + seen.write_iops:,.0f} I/Os per s")


if __name__ == "__main__":
    main()
