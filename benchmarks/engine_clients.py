"""The clients that benchmarks/engine.py compares, each run as a process of its own."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymysql

import plimsoll_engine
from benchmarks.measuring import Outcome, measure
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.engine.values import FormatValue, RowValue
from plimsoll.workload import Compiled

ROWS = 100_000
GO_YCSB_TABLE = "orderedtable"
CHILD = str(Path(__file__).with_name("engine_child.py"))


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
