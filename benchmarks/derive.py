"""A workload and the one derived from its log, side by side: have they the same load line?

    .venv/bin/python -m benchmarks.derive                 # ten minutes on two calm cores
    .venv/bin/python -m benchmarks.derive --pairs 1       # half of that
    .venv/bin/python -m benchmarks.derive --storage       # data of four times the buffer pool
    .venv/bin/python -m benchmarks.derive --loads         # without searches: three minutes

ycsb-b and sysbench's oltp_read_write run on a private MariaDB whose slow log has everything. A
workload is derived from that log, and gets tables of its own. Both are searched in turns
(original, derived, derived, original, ...), so that what changes on the machine meets both; then
both are loaded by as many connections, in turns too. Where sysbench is on the PATH, its own
oltp_read_write is derived too: its operation has to be the same as that of the engine's log.

Which rows are asked for is fitted to the log. `told` is the derived workload
with the original's distribution, as one who knows it would set it: what it gains is what the guess
costs. The results are in docs/evidence/derive.md.
"""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import plimsoll
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.observing import describe_tables, open_tables
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.volumes import EmulatedVolume
from plimsoll.workload.derive.derived import Derived, derive
from plimsoll.workload.derive.document import dump_document
from plimsoll.workload.logs.reading import read_log

BAR = 0.05
LOAD_S = 8.0
CONNECTIONS = 8
LOADS = 6
LIMIT = "50ms"
IOPS = 2_000

Arm = Callable[[], float | None]


@dataclass(frozen=True)
class Case:
    """One workload.

    Attributes:
        name: Of the original.
        records: Of its dataset; four times the pool's size with `--storage`.
        told: How its rows are drawn.
    """

    name: str
    records: int
    records_storage: int
    told: str


CASES = (
    Case("ycsb-b", 20_000, 150_000, "zipfian"),
    Case("sysbench-oltp-read-write", 50_000, 700_000, "special"),
)


@contextmanager
def server_on(folder: Path, *, storage: bool) -> Iterator[MariaDbServer]:
    """Start a MariaDB with a slow log; with `storage` on an emulated volume."""
    log = log_of(folder)
    settings: dict[str, str | int] = {"slow_query_log": 1, "slow_query_log_file": str(log)}
    if not storage:
        with MariaDbServer.start(directory=folder / "server", settings=settings) as server:
            yield server
        return
    settings |= {"innodb_buffer_pool_size": "48M"}
    volume = Volume(type="io1", size_gib=100, iops=IOPS)
    with EmulatedVolume.create(folder / "volume", volume) as on:
        directory = folder / "volume" / "server"
        with MariaDbServer.start(
            directory=directory, settings=settings, environment=on.environment()
        ) as server:
            yield server


def database(server: MariaDbServer, name: str) -> str:
    """Make a database; gives its DSN."""
    connection = connect(parse_dsn(server.dsn))
    execute(connection, f"CREATE DATABASE `{name}`")
    connection.close()
    return f"{server.dsn.rpartition('/')[0]}/{name}"


def log_of(folder: Path) -> Path:
    """Return the file of the server's slow log."""
    return folder / "slow.log"


def derived_under(folder: Path, dsn: str, load: Callable[[], object]) -> Derived:
    """Derive a workload from the log of a load."""
    target = parse_dsn(dsn)
    log_of(folder).write_bytes(b"")  # the server appends to it
    connection = connect(target)
    execute(connection, "SET GLOBAL long_query_time = 0")
    load()
    execute(connection, "SET GLOBAL long_query_time = 10")
    connection.close()
    with open_tables(target) as reader:
        read = read_log(log_of(folder), database=target.database)
        seen = read.combine(describe_tables(reader, target, [one.text for one in read.digests]))
    return derive(seen, writes=True)


def sysbench(server: MariaDbServer, dsn: str, records: int) -> None:
    """Run sysbench's own oltp_read_write."""
    subprocess.run(
        [
            "sysbench",
            "oltp_read_write",
            "--db-driver=mysql",
            f"--mysql-host={server.host}",
            f"--mysql-port={server.port}",
            f"--mysql-user={server.user}",
            f"--mysql-password={server.password}",
            f"--mysql-db={dsn.rpartition('/')[2]}",
            "--tables=1",
            f"--table-size={records}",
            f"--threads={CONNECTIONS}",
            f"--time={LOAD_S:g}",
            "run",
        ],
        capture_output=True,
        check=True,
    )


def line(dsn: str, workload: str, parameters: dict[str, str]) -> float | None:
    """Search for the load line: the median at its load; None: the verdict has no figure."""
    result = plimsoll.find(
        dsn,
        workload=workload,
        parameters=parameters,
        limits=LIMIT,
        max_connections=32,
        quick=True,
        warm_s=2,
        time_limit_s=120,
    )
    found = result.capacity
    figure = found.max_sustainable_throughput_ops_per_second if found else None
    if found and figure:
        figure = found.median_ops_per_second or figure
    at = f"at {found.at:g}" if found and found.at else ""
    verdict = found.verdict if found else "no verdict"
    print(
        f"    {Path(workload).stem} {parameters or ''}: {verdict} {figure or '-'} {at}", flush=True
    )
    return figure


def loaded(dsn: str, workload: str, parameters: dict[str, str]) -> float | None:
    """Load it by a fixed number of connections; gives operations a second."""
    done = plimsoll.load(
        dsn,
        workload=workload,
        parameters=parameters,
        connections=CONNECTIONS,
        warmup_s=1,
        duration_s=4,
    )
    return done.throughput_ops_per_second


def in_turns(case: Case, what: str, arms: Mapping[str, Arm], turns: int) -> None:
    """Measure each arm so many times, in turns, and print how it stands to the original."""
    found: dict[str, list[float]] = {arm: [] for arm in arms}
    order = list(arms)
    for turn in range(turns):
        for arm in order if turn % 2 == 0 else order[::-1]:
            figure = arms[arm]()
            found[arm] += [] if figure is None else [figure]
    own = found.pop("original")
    for arm, figures in found.items():
        if not figures or not own:
            print(f"{case.name}, {what}: {arm} has no figure, or the original has none", flush=True)
            continue
        ratio = fmean(figures) / fmean(own)
        held = "within" if abs(ratio - 1) <= BAR else "OUTSIDE"
        print(
            f"{case.name}, {what}: {arm} {ratio:.3f} of the original, {held} {BAR:.0%}"
            f" ({_listed(figures)} against {_listed(own)} ops/s)",
            flush=True,
        )


def _listed(figures: Sequence[float]) -> str:
    return ", ".join(f"{value:,.0f}" for value in figures)


def compare(server: MariaDbServer, case: Case, folder: Path, given: argparse.Namespace) -> None:
    """Derive a workload, search for both load lines in turns, and print their ratio."""
    records = case.records_storage if given.storage else case.records
    name = case.name.replace("-", "_")
    own, other = database(server, name), database(server, f"{name}_derived")
    plimsoll.prepare(own, workload=case.name, records=records)
    derived = derived_under(
        folder,
        own,
        lambda: plimsoll.load(
            own, workload=case.name, connections=CONNECTIONS, warmup_s=0, duration_s=LOAD_S
        ),
    )
    print(f"{case.name}: derived from the log of the engine's load")
    for one in derived.operations:
        print(f"    {one.name} {one.calls}: {', '.join(f'{n} x {t}' for t, n in one.statements)}")
    for out in derived.left_out[:5]:
        print(f"    not in it: {out.statement}: {out.why}")
    if "oltp" in case.name and shutil.which("sysbench"):
        theirs = derived_under(folder, own, lambda: sysbench(server, own, records))
        same = [one.statements for one in theirs.operations] == [
            one.statements for one in derived.operations
        ]
        print(f"    sysbench's own log makes {'the same' if same else 'ANOTHER'} operation")
        for one in [] if same else theirs.operations:
            print(f"    {one.name} {one.calls}: {one.statements}")
    path = folder / f"{name}_derived.yaml"
    path.write_text(dump_document(derived.document))
    plimsoll.prepare(other, workload=path, records=records)
    sides: dict[str, tuple[str, str, dict[str, str]]] = {
        "original": (own, case.name, {}),
        "derived": (other, str(path), {}),
    }
    if given.told:
        sides["told"] = (other, str(path), {"distribution": case.told})
    print(f"    {next(note for note in derived.notes if 'asked for' in note)}", flush=True)
    if not given.loads:
        arms = {arm: partial(line, *side) for arm, side in sides.items()}
        in_turns(case, f"line within {LIMIT}", arms, given.pairs)
    loads = {arm: partial(loaded, *side) for arm, side in sides.items()}
    in_turns(case, f"{CONNECTIONS} connections", loads, LOADS)


def main() -> None:
    """Compare both workloads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2, help="searches of each")
    parser.add_argument("--only", choices=[case.name for case in CASES])
    parser.add_argument("--storage", action="store_true", help="data of four times the pool")
    parser.add_argument("--loads", action="store_true", help="no searches")
    parser.add_argument(
        "--told", action="store_true", help="a third search, rows drawn as they are"
    )
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-derive-") as folder,
        server_on(Path(folder), storage=given.storage) as server,
    ):
        for case in CASES:
            if given.only in {None, case.name}:
                compare(server, case, Path(folder), given)


if __name__ == "__main__":
    main()
