"""Does a derived statement make the server do what the original does? Counts of each.

    .venv/bin/python -m benchmarks.derive_counts CASES           # three minutes
    .venv/bin/python -m benchmarks.derive_counts CASES --only my-wiki

CASES is a folder of files `my-*.sql` (MariaDB) and `pg-*.sql` (PostgreSQL): a schema after
`-- schema`, statements after `-- send N`. Each statement is sent alone while the server logs all;
a workload is derived from that log, gets tables of its own, and is sent as often. ycsb-b and
tpcb-like are recorded from Plimsoll's own load and derived whole. Compared are rows examined, pages
requested and bytes of log for each operation. The results are in docs/evidence/derive.md.
"""

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plimsoll
import plimsoll_engine
from plimsoll.databases.counting import Totals, open_work_counter
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.observing import describe_tables, open_tables
from plimsoll.databases.postgres import session as postgres_session
from plimsoll.databases.trying import open_trial
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineOperation, LoadSpec
from plimsoll.model.gate import Count
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import Compiled, load_workload
from plimsoll.workload.derive.derived import Derived, derive
from plimsoll.workload.derive.document import dump_document
from plimsoll.workload.logs.reading import read_log

BAR = 0.10
COMPARED: tuple[Count, ...] = ("rows_examined", "pages_requested", "log_bytes")
# below these, a difference is that of a page's split or of a look into a cache
LEAST: dict[Count, float] = {"rows_examined": 0.5, "pages_requested": 1.0, "log_bytes": 8.0}
OPERATIONS = 300
FEW = 8
# records of each
BUILT_IN = {"ycsb-b": 5000, "tpcb-like": 1}


@dataclass
class Server:
    """A server that logs what it is told to.

    Attributes:
        dsn: The address of a database on it, with the password.
        log: The file to which it logs.
        create: Creates a database.
        open_session: Opens a session that is logged; gives what sends a statement.
        log_all: Switches the log of all new sessions.
    """

    dsn: str
    log: Path
    create: Callable[[str], None]
    open_session: Callable[[str, bool], Any]
    log_all: Callable[[bool], None]

    def database(self, name: str) -> str:
        """Make a database; gives its DSN."""
        self.create(name)
        return f"{self.dsn.rpartition('/')[0]}/{name}"


@contextmanager
def mariadb(folder: Path) -> Iterator[Server]:
    """Start a MariaDB with a slow log."""
    log = folder / "slow.log"
    settings: dict[str, str | int] = {"slow_query_log_file": str(log), "slow_query_log": 1}
    with MariaDbServer.start(directory=folder / "server", settings=settings) as server:
        control = connect(parse_dsn(server.dsn))

        @contextmanager
        def open_session(dsn: str, logged: bool) -> Iterator[Callable[[str], object]]:
            with closing(connect(parse_dsn(dsn))) as connection, connection.cursor() as cursor:
                cursor.execute(f"SET long_query_time = {0 if logged else 100}")
                yield cursor.execute

        def create(name: str) -> None:
            execute(control, f"CREATE DATABASE `{name}`")

        def log_all(on: bool) -> None:
            execute(control, f"SET GLOBAL long_query_time = {0 if on else 100}")

        yield Server(
            server.dsn,
            log,
            create,
            open_session,
            log_all,
        )


@contextmanager
def postgres(folder: Path) -> Iterator[Server]:
    """Start a PostgreSQL that logs what its sessions ask for."""
    with PostgresServer.start(
        directory=folder / "server", settings={"autovacuum": "off"}
    ) as server:
        control = postgres_session.connect(parse_dsn(server.dsn))

        @contextmanager
        def open_session(dsn: str, logged: bool) -> Iterator[Callable[[str], object]]:
            with closing(postgres_session.connect(parse_dsn(dsn))) as connection:
                connection.run(f"SET log_min_duration_statement = {0 if logged else -1}")
                yield connection.run

        def log_all(on: bool) -> None:
            control.run(f"ALTER SYSTEM SET log_min_duration_statement = {0 if on else -1}")
            control.run("SELECT pg_reload_conf()")

        yield Server(
            server.dsn,
            folder / "server" / "server.log",
            lambda name: control.run(f"CREATE DATABASE {name}"),
            open_session,
            log_all,
        )


def count(dsn: str, send: Callable[[], int]) -> dict[str, float]:
    """Return the counts of each operation that `send` sends."""
    target = parse_dsn(dsn)
    with open_work_counter(target) as counter:
        counter.settle(target, longest_s=5)
        before: Totals = counter.totals(target)
        sent = send()
        counter.settle(target, longest_s=5)
        after: Totals = counter.totals(target)
    return {name: (after[name] - before[name]) / sent for name in COMPARED if name in after}


def count_operation(dsn: str, compiled: Compiled, operation: EngineOperation) -> dict[str, float]:
    """Return the counts of an operation alone; a load of a few is subtracted."""
    load = 0

    def send(operations: int) -> int:
        nonlocal load
        load += 1
        engine = compiled.engine_workload(load)
        alone = operation.model_copy(update={"weight": 1.0})
        spec = LoadSpec(
            target=parse_dsn(dsn),
            workload=engine.model_copy(update={"operations": (alone,)}),
            connections=1,
            duration_s=60,
            operations_limit=operations,
            seed=load,
        )
        report = LoadReport.model_validate_json(plimsoll_engine.run(spec.model_dump_json()))
        if errors := {k: v for one in report.operations.values() for k, v in one.errors.items()}:
            raise PlimsollError(f"errors: {errors}")
        return report.operations_sent

    send(OPERATIONS)
    few = count(dsn, lambda: send(FEW))
    return subtract_few(few, count(dsn, lambda: send(OPERATIONS)), OPERATIONS)


def subtract_few(
    few: dict[str, float], many: dict[str, float], operations: int
) -> dict[str, float]:
    """Return the counts of an operation without those of logging in and of reading the counters."""
    rest = operations - FEW
    return {name: (many[name] * operations - few[name] * FEW) / rest for name in many}


def derive_from(dsn: str, text: bytes, folder: Path) -> Derived:
    """Derive a workload from a part of a log."""
    path = folder / "part.log"
    path.write_bytes(text)
    target = parse_dsn(dsn)
    with open_tables(target) as reader, open_trial(target) as trial:
        read = read_log(path, threshold_s=0.0)
        seen = read.combine(describe_tables(reader, target, [one.text for one in read.digests]))
        return derive(seen, writes=True, trial=trial)


def judge(name: str, original: dict[str, float], derived: dict[str, float]) -> bool:
    """Print counts side by side; returns whether they are within the bar."""
    cells, held = [], True
    for count_name in COMPARED:
        if count_name not in original or count_name not in derived:
            continue
        one, other = original[count_name], derived[count_name]
        within = abs(other - one) <= max(BAR * one, LEAST[count_name])
        held &= within
        cells.append(f"{one:.1f} / {other:.1f}{'' if within else ' **'}")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return held


def try_case(server: Server, path: Path, folder: Path) -> tuple[int, int, int]:
    """Compare each statement of a case; returns how many were held, differ, and are left out."""
    schema, _, rest = path.read_text().partition("-- send ")
    times, _, sent = rest.partition("\n")
    name = re.sub(r"\W", "_", path.stem)
    dsn = server.database(name)
    with server.open_session(dsn, False) as send:
        for statement in split(schema.replace("-- schema", "")):
            send(statement)
    held = differ = left = 0
    for number, statement in enumerate(split(sent), 1):
        at = server.log.stat().st_size if server.log.exists() else 0
        with server.open_session(dsn, True) as send:
            try:
                send(statement)
                few = count(dsn, lambda: repeat(server, dsn, statement, FEW))  # noqa: B023
                many = count(dsn, lambda: repeat(server, dsn, statement, int(times)))  # noqa: B023
            except Exception as error:  # noqa: BLE001 - the case's own statement
                print(f"| {name} {number} | the original fails: {str(error)[:80]} |")
                continue
        original = subtract_few(few, many, int(times))
        with server.log.open("rb") as log:
            log.seek(at)
            text = log.read()
        shown = f"{path.stem} {number}: {statement[:60]}".replace("|", "\\|").replace("\n", " ")
        try:
            derived = derive_from(dsn, text, folder)
        except PlimsollError as error:
            left += 1
            print(f"| {shown} | left out: {str(error)[:150]} |", flush=True)
            continue
        workload = folder / f"{name}_{number}.yaml"
        workload.write_text(dump_document(derived.document))
        other = server.database(f"{name}_{number}")
        try:
            plimsoll.prepare(other, workload=workload)
            compiled = load_workload(str(workload)).compile(protocol=parse_dsn(other).protocol)
            counts = count_operation(other, compiled, compiled.engine.operations[0])
        except PlimsollError as error:
            differ += 1
            print(f"| {shown} | FAILS: {str(error)[:150]} |", flush=True)
            continue
        if judge(shown, original, counts):
            held += 1
        else:
            differ += 1
    return held, differ, left


def repeat(server: Server, dsn: str, statement: str, times: int) -> int:
    """Send a statement so many times, in a session that ends: PostgreSQL then tells its counts."""
    with server.open_session(dsn, True) as send:
        for _ in range(times):
            send(statement)
    return times


def split(text: str) -> list[str]:
    """Split a case at the semicolons that end a statement."""
    return [part.strip() for part in re.split(r";\s*(?:\n|$)|;\s(?=[A-Z])", text) if part.strip()]


def try_built_in(server: Server, name: str, folder: Path) -> tuple[int, int, int]:
    """Compare a workload of Plimsoll's own with the one derived from its load."""
    table = re.sub(r"\W", "_", name)
    dsn, other = server.database(table), server.database(f"{table}_again")
    plimsoll.prepare(dsn, workload=name, records=BUILT_IN[name])
    at = server.log.stat().st_size if server.log.exists() else 0
    server.log_all(True)
    plimsoll.load(dsn, workload=name, connections=2, warmup_s=0, duration_s=3)
    server.log_all(False)
    with server.log.open("rb") as log:
        log.seek(at)
        text = log.read()
    workload = folder / f"{table}.yaml"
    derived = derive_from(dsn, text, folder)
    workload.write_text(dump_document(derived.document))
    print(f"{name}: {[note for note in derived.notes if 'asked for' in note]}")
    plimsoll.prepare(other, workload=workload)
    protocol = parse_dsn(dsn).protocol
    ours = load_workload(name).compile(BUILT_IN[name], protocol=protocol)
    theirs = load_workload(str(workload)).compile(protocol=protocol)
    held = differ = 0
    for one, its in zip(ours.engine.operations, theirs.engine.operations, strict=False):
        counts = count_operation(dsn, ours, one), count_operation(other, theirs, its)
        if judge(f"{name}: {one.name} / {its.name}", *counts):
            held += 1
        else:
            differ += 1
    return held, differ, len(derived.left_out)


def main() -> None:
    """Compare all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    totals: list[Sequence[int]] = []
    for kind, start in (("my", mariadb), ("pg", postgres)):
        with (
            tempfile.TemporaryDirectory(prefix="plimsoll-counts-") as folder,
            start(Path(folder)) as server,
        ):
            print(
                f"\n| {kind} | rows examined | pages requested | bytes of log |\n|---|---|---|---|"
            )
            paths = sorted(given.cases.glob(f"{kind}-*.sql"))
            totals += [
                try_case(server, path, Path(folder))
                for path in paths
                if not given.only or path.stem in given.only
            ]
            totals += [
                try_built_in(server, name, Path(folder))
                for name in BUILT_IN
                if not given.only or name in given.only
            ]
    held, differ, left = (sum(one[place] for one in totals) for place in range(3))
    print(f"{held} within {BAR:.0%}, {differ} not, {left} left out")


if __name__ == "__main__":
    main()
