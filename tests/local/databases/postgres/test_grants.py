"""The user of a load, on a real server: rows of its own schema, and nothing else."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from plimsoll.databases import postgres as family
from plimsoll.databases.load_user import LOAD_USER, derive_load_password, switch_to_load_user
from plimsoll.databases.postgres.session import Connection, connect, execute
from plimsoll.databases.watching import open_watcher
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn

OWN = "load_own"


@pytest.fixture(scope="module")
def master(postgres: PostgresServer) -> Iterator[EngineTarget]:
    root = parse_dsn(postgres.dsn)
    target = root.model_copy(update={"database": OWN})
    with closing(connect(root)) as connection:
        execute(connection, f"CREATE DATABASE {OWN}")
        with closing(connect(target)) as inside:
            execute(inside, "CREATE TABLE t (a INT PRIMARY KEY)")
            execute(inside, "CREATE SCHEMA other")
            execute(inside, "CREATE TABLE other.t (a INT PRIMARY KEY)")
        for _ in range(2):  # a repeated call of the function
            family.make_load_user(target, "run-1")
        with closing(connect(target)) as inside:
            execute(inside, "CREATE TABLE later (a INT PRIMARY KEY)")
        yield target
        execute(connection, f"DROP DATABASE {OWN} WITH (FORCE)")
        execute(connection, f"DROP ROLE {LOAD_USER}")


@pytest.fixture
def load(master: EngineTarget) -> Iterator[Connection]:
    with closing(connect(switch_to_load_user(master, "run-1"))) as connection:
        yield connection


def test_it_reads_and_writes_rows_of_its_own_tables(load: Connection) -> None:
    execute(load, "INSERT INTO t VALUES (1), (2)")
    execute(load, "UPDATE t SET a = 3 WHERE a = 2")
    assert execute(load, "SELECT a FROM t ORDER BY a") == ((1,), (3,))
    execute(load, "DELETE FROM t")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM other.t",
        "SELECT * FROM later",
        "SELECT rolpassword FROM pg_authid",
        "CREATE TABLE mine (a INT)",
        "DROP TABLE t",
        "TRUNCATE t",
        "CREATE SCHEMA mine",
        "CREATE ROLE mine",
        "COPY t TO '/tmp/x'",
        "SELECT pg_read_file('/etc/passwd')",
        "ALTER SYSTEM SET work_mem = '1GB'",
        "CHECKPOINT",
    ],
)
def test_it_does_nothing_else(load: Connection, sql: str) -> None:
    with pytest.raises(PlimsollError, match=r"\(42501\)"):
        execute(load, sql)


def test_a_schema_is_its_own_and_reaches_nothing_else(
    postgres: PostgresServer, master: EngineTarget
) -> None:
    """The statements of a request's schema have no further rights than the load has."""
    with closing(connect(parse_dsn(postgres.dsn))) as root:
        execute(root, "CREATE DATABASE schema_own")
        target = master.model_copy(update={"database": "schema_own"})
        owner = switch_to_load_user(target, "run-1")
        statements = (
            "BEGIN",
            "CREATE TABLE made (a INT PRIMARY KEY, b TEXT)",
            "INSERT INTO made SELECT g, ':b' FROM generate_series(1, 9) g",
        )
        family.make_schema(target, owner, statements)
        for forbidden in ("CREATE ROLE mine", "SELECT pg_read_file('/etc/passwd')"):
            with pytest.raises(PlimsollError, match=r"\(42501\)"):
                family.make_schema(target, owner, (forbidden,))
        with closing(connect(owner)) as load:
            execute(load, "UPDATE made SET b = 'seen' WHERE a = 1")
            assert execute(load, "SELECT count(*), count(DISTINCT b) FROM made") == ((9, 2),)
            vacuumed = "SELECT relallvisible > 0 FROM pg_class WHERE relname = 'made'"
            assert execute(load, vacuumed) == ((True,),)
        execute(root, "DROP DATABASE schema_own")


def test_another_run_cannot_log_in_as_it(master: EngineTarget) -> None:
    with pytest.raises(PlimsollError, match="wrong user or password"):
        connect(switch_to_load_user(master, "run-2"))


def test_its_password_is_in_no_statement_that_the_server_keeps(master: EngineTarget) -> None:
    with closing(connect(master)) as connection:
        kept = execute(connection, "SELECT query FROM pg_stat_statements WHERE query LIKE '%ROLE%'")
    assert kept
    password = derive_load_password(master.password, "run-1")
    assert not [query for (query,) in kept if password in query]


def test_it_may_look_at_the_load_and_read_what_counts_it(master: EngineTarget) -> None:
    load_user = switch_to_load_user(master, "run-1")
    counters = family.read_counters(load_user)
    assert counters is not None
    assert {"commits", "statements", "wal_bytes", "max_connections"} <= counters.values.keys()
    watching = open_watcher(load_user)
    assert watching is not None
    with watching as watcher:
        assert watcher.look().row_lock_waiters == 0


def test_it_reads_what_the_next_checkpoint_owes(master: EngineTarget) -> None:
    """Write debt grows with what is written, and is paid by a checkpoint."""
    watching = open_watcher(switch_to_load_user(master, "run-1"))
    assert watching is not None
    with watching as watcher, closing(connect(master)) as connection:
        execute(connection, "CHECKPOINT")
        before = watcher.look().debt
        execute(connection, "CREATE TABLE owed AS SELECT g FROM generate_series(1, 20000) g")
        grown = watcher.look().debt
        execute(connection, "CHECKPOINT")
        paid = watcher.look().debt
        execute(connection, "DROP TABLE owed")
    assert before is not None
    assert grown is not None
    assert paid is not None
    written = grown.written_bytes - before.written_bytes
    assert written > 500_000
    assert paid.owed_bytes < written
    assert paid.owed_pages is not None
    assert paid.limit_bytes > paid.owed_bytes
    counters = family.read_counters(master)
    assert counters is not None
    assert family.write_debt(counters) is not None
