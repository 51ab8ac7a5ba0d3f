"""The clients that benchmarks/engine.py compares, each run as a process of its own."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

import plimsoll_engine
from benchmarks.surroundings import Beside, Surroundings
from plimsoll.model.engine import EngineTarget, LoadSpec
from plimsoll.model.values import FormatValue, RowValue
from plimsoll.workload import Compiled

ROWS = 100_000
GO_YCSB_TABLE = "orderedtable"
CLIENT_CORE = 0
SERVER_CORE = 1
CALM = 0.04  # share of this machine's CPU time
PATIENCE = 12  # tries
CHILD = str(Path(__file__).with_name("engine_child.py"))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one client did."""

    operations: int
    cpu_s: float  # user and system time of the client's process, from its start to its end
    wall_s: float
    output: str
    beside: Beside

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.operations / self.wall_s

    @property
    def server_us(self) -> float | None:
        """Server CPU time of one operation, in microseconds; logging in included."""
        server_s = self.beside.server_s
        return None if server_s is None else server_s * 1e6 / self.operations

    @property
    def interrupts(self) -> float | None:
        """Interrupts from one processor to another, for each operation."""
        count = self.beside.interrupts
        return None if count is None else count / self.operations

    def sample(self) -> dict[str, float | None]:
        """Everything that is kept of it."""
        return {
            "operations": self.operations,
            "ops_per_second": round(self.rate, 1),
            "client_cpu_us": round(self.cpu_us, 3),
            "server_cpu_us": self.server_us,
            "interrupts_per_operation": self.interrupts,
            "stolen_share": self.beside.stolen,
            "others_share": self.beside.others,
        }

    @property
    def cpu_us(self) -> float:
        """Client CPU time of one operation, in microseconds."""
        return self.cpu_s * 1e6 / self.operations


def measure(
    command: list[str],
    *,
    stdin: str = "",
    count: "re.Pattern[str]",
    seconds: float | None = None,
    port: int | None = None,
    pinned: bool = True,
) -> Outcome:
    """Runs a client on its core and reads its CPU time from the kernel.

    Args:
        command: What to run.
        stdin: What it reads.
        count: Finds the number of operations in its output, and where it says so their `seconds`.
        seconds: How long it sent; None: as it says, else as long as it ran.
        port: Of the server, whose work is read too.
        pinned: To its core; else it shares all of them with the server.

    Raises:
        RuntimeError: It failed; with the end of what it said.
    """
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said:
        given.write(stdin)
        given.seek(0)
        place = ["taskset", "-c", str(CLIENT_CORE)] if pinned else []
        before = Surroundings.now(port)
        started = time.monotonic()
        process = subprocess.Popen([*place, *command], stdin=given, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        after = Surroundings.now(port)
        said.seek(0)
        output = said.read()
    found = count.search(output)
    if status != 0 or found is None:
        raise RuntimeError(f"{command[0]}: {output[-400:]}")
    told = found.groupdict()
    return Outcome(
        operations=int(told.get("count") or found[1]),
        cpu_s=used.ru_utime + used.ru_stime,
        wall_s=seconds or float(told.get("seconds") or wall_s),
        output=output,
        beside=Beside.between(before, after),
    )


def undisturbed(client: Callable[[], Outcome]) -> Outcome | None:
    """What a client did while this machine had its cores to itself; None if it never had.

    CPU time of a virtual machine that others disturb is not the client's: the same exchange was
    seen to cost 6 and 700 us. A measurement is repeated for as long as more than `CALM` was stolen.
    """
    for _ in range(PATIENCE):
        outcome = client()
        stolen = outcome.beside.stolen
        if stolen is None or stolen <= CALM:  # None: nobody can tell
            return outcome
    return None


def engine(spec: LoadSpec, *, pinned: bool = True) -> Outcome:
    """This project's engine; every operation that it sent, warm-up included."""
    command = [sys.executable, CHILD, "engine"]
    return measure(
        command,
        stdin=spec.model_dump_json(),
        count=re.compile(r'"operations_sent":(\d+)'),
        seconds=spec.warmup_s + spec.duration_s,
        port=spec.target.port,
        pinned=pinned,
    )


def sysbench(
    target: EngineTarget,
    *,
    connections: int,
    seconds: int,
    script: str = "oltp_point_select",
    pinned: bool = True,
) -> Outcome:
    """A script of sysbench's own, prepared statements, uniform keys."""
    command = ["sysbench", script, *_sysbench_options(target)]
    command += [f"--threads={connections}", f"--time={seconds}", "--rand-type=uniform", "run"]
    counted = re.compile(r"transactions: +(\d+)")
    return measure(command, count=counted, seconds=seconds, port=target.port, pinned=pinned)


def sysbench_prepare(target: EngineTarget) -> None:
    """Makes sysbench's table of `ROWS` rows."""
    command = ["sysbench", "oltp_point_select", *_sysbench_options(target), "prepare"]
    subprocess.run(command, check=True, capture_output=True)


def _sysbench_options(target: EngineTarget) -> list[str]:
    return [
        "--db-driver=mysql",
        f"--mysql-host={target.host}",
        f"--mysql-port={target.port}",
        f"--mysql-user={target.user}",
        f"--mysql-password={target.password}",
        f"--mysql-db={target.database}",
        "--tables=1",
        f"--table-size={ROWS}",
    ]


def pymysql_threads(target: EngineTarget, *, connections: int, seconds: int) -> Outcome:
    """PyMySQL, one thread a connection, the same statement."""
    command = [sys.executable, CHILD, "pymysql", target.host]
    command += [str(target.port), target.user, target.password, target.database]
    command += [str(connections), str(seconds), str(ROWS)]
    return measure(command, count=re.compile(r"(\d+)"), seconds=seconds, port=target.port)


def go_ycsb(
    program: Path,
    target: EngineTarget,
    *,
    connections: int,
    operations: int,
    pinned: bool = True,
) -> Outcome:
    """Workload C of go-ycsb."""
    properties = {
        "mysql.host": target.host,
        "mysql.port": target.port,
        "mysql.user": target.user,
        "mysql.password": target.password,
        "mysql.db": target.database,
        "recordcount": ROWS,
        "operationcount": operations,
        "threadcount": connections,
        "dotransactions": "true",
        "command": "run",
        "table": GO_YCSB_TABLE,
        "insertorder": "ordered",
        "readproportion": 1,
        "updateproportion": 0,
        "scanproportion": 0,
        "insertproportion": 0,
        "requestdistribution": "zipfian",
    }
    command = [str(program), *(f"{name}={value}" for name, value in properties.items())]
    # its own time: it takes a while to start
    counted = re.compile(r"READ +- .*Takes\(s\): (?P<seconds>[\d.]+), Count: (?P<count>\d+)")
    return measure(command, count=counted, port=target.port, pinned=pinned)


def ycsb_tables(target: EngineTarget, compiled: Compiled) -> None:
    """Makes YCSB's table for the engine, and one of the same size for go-ycsb."""
    connection: Any = pymysql.connect(
        host=target.host,
        port=target.port,
        user=target.user,
        password=target.password,
        database=target.database,
    )
    (table,) = compiled.tables
    with connection.cursor() as cursor:
        cursor.execute(table.create_sql)
        cursor.execute(f"CREATE TABLE {GO_YCSB_TABLE} LIKE {table.name}")
    spec = table.dataset_spec(target, share=0, shares=1, connections=4, seed=1)
    plimsoll_engine.load_rows(spec.model_dump_json())
    # go-ycsb hashes the bytes of a number in another order than YCSB: its keys are not hashed here
    key = FormatValue(template="user{}", of=(RowValue(),))
    ordered = spec.model_copy(update={"table": GO_YCSB_TABLE, "row": (key, *spec.row[1:])})
    plimsoll_engine.load_rows(ordered.model_dump_json())


def echo(port: int, *, connections: int, sizes: tuple[str, str], seconds: int) -> Outcome:
    """The bare exchange of as many bytes (engine/examples/echo.rs)."""
    program = Path("engine/target/release/examples/echo").absolute()
    command = [str(program), str(port), str(connections), *sizes, str(seconds)]
    return measure(command, count=re.compile(r"(\d+)"), seconds=seconds)


def bare(spec: LoadSpec) -> Outcome:
    """The bare exchange with the real server (engine/examples/bare.rs)."""
    program = Path("engine/target/release/examples/bare").absolute()
    seconds = spec.warmup_s + spec.duration_s
    return measure(
        [str(program)],
        stdin=spec.model_dump_json(),
        count=re.compile(r"(\d+)"),
        seconds=seconds,
    )


def install() -> list[str]:
    """Installs what is missing; returns what could not be, and why."""
    missing = []
    if shutil.which("sysbench") is None:
        apt = ["apt-get", "install", "-qq", "-y", "sysbench"]
        if subprocess.run(apt, capture_output=True, check=False).returncode != 0:
            missing.append("sysbench (apt-get install sysbench failed)")
    if build_go_ycsb() is None:
        missing.append("go-ycsb (needs Go and its module proxy)")
    missing.append("YCSB (Java): its MySQL binding is not on Maven Central")
    return missing


def build_go_ycsb() -> Path | None:
    """go-ycsb's program, built when it is not there yet."""
    program = Path(".cache/benchmarks/go-ycsb").absolute()
    if not program.exists() and shutil.which("go"):
        build = ["go", "build", "-o", str(program), "."]
        source = Path(__file__).with_name("go_ycsb")
        subprocess.run(build, cwd=source, check=False, capture_output=True)
    return program if program.exists() else None
