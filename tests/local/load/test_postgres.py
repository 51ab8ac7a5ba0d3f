"""The engine on a real PostgreSQL: what it counts, what it leaves, what it makes of failures."""

import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pg8000.native
import pytest

import plimsoll_engine
from plimsoll.local.databases.certificates import Authority
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.local.resources.rds_settings import list_tls_settings
from plimsoll.model.engine.answered import LoadReport
from plimsoll_engine import EngineError

ROWS = 1000
KEY = {"kind": "key", "key_space": "rows"}
TARGET = "CREATE TABLE t (id int PRIMARY KEY, k bigint NOT NULL, c varchar(60) NOT NULL)"
COLUMNS: dict[str, Any] = {
    "id": {"kind": "row"},
    "k": {"kind": "literal", "value": 0},
    "c": {"kind": "pattern", "pattern": "it's ## \\ @@"},
}

Operation = dict[str, Any]
Target = dict[str, Any]


def operation(
    name: str, *statements: tuple[str, list[Any]], transaction: bool = False
) -> Operation:
    """Describe an operation of these statements and binds."""
    return {
        "name": name,
        "weight": 1,
        "transaction": transaction,
        "statements": [{"sql": [sql], "binds": binds} for sql, binds in statements],
    }


READ = operation("read", ("SELECT c FROM t WHERE id = $1", [KEY]))
UPDATE = operation("update", ("UPDATE t SET k = k + 1 WHERE id = $1", [KEY]))
TRANSFER = operation(
    "transfer",
    ("SELECT k FROM t WHERE id = $1", [KEY]),
    ("UPDATE t SET k = k + 1 WHERE id = $1", [KEY]),
    ("SELECT count(*) FROM t WHERE id BETWEEN $1 AND $2", [KEY, {"kind": "literal", "value": 9}]),
    transaction=True,
)
TEXT = {"kind": "text", "length": 50}
NEW = operation(
    "new",
    ("INSERT INTO t VALUES ($1, $2, $3)", [{"kind": "next_key", "key_space": "rows"}, KEY, TEXT]),
)


def connected(server: PostgresServer, database: str) -> pg8000.native.Connection:
    return pg8000.native.Connection(
        server.user,
        host=server.host,
        port=server.port,
        database=database,
        password=server.password,
    )


class Database:
    """A database of the test's own, and the engine's target for it."""

    def __init__(self, server: PostgresServer, name: str) -> None:
        self.connection = connected(server, name)
        self.name = name
        self.target: Target = {
            "protocol": "postgres",
            "host": server.host,
            "port": server.port,
            "user": server.user,
            "password": server.password,
            "database": name,
        }

    def ask(self, sql: str) -> Any:
        """Ask for the first row's first value, if there is any."""
        rows = self.connection.run(sql)
        return rows[0][0] if rows else None

    def set(self, name: str, value: str) -> None:
        """Set a setting for the connections to come."""
        self.ask(f"ALTER DATABASE {self.name} SET {name} = '{value}'")

    def fill(self, *, rows: int = ROWS, columns: dict[str, Any] = COLUMNS) -> dict[str, Any]:
        """Load rows, from 0."""
        dataset = {
            "target": self.target,
            "table": "t",
            "columns": list(columns),
            "row": list(columns.values()),
            "from_row": 0,
            "to_row": rows,
            "rows_per_statement": 100,
            "connections": 2,
        }
        report: dict[str, Any] = json.loads(plimsoll_engine.load_rows(json.dumps(dataset)))
        return report

    def contents(self) -> str:
        """Digest all rows."""
        return str(self.ask("SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM t"))

    def load(self, *operations: Operation, on_second: Any = None, **spec: Any) -> LoadReport:
        """Run a load to its end."""
        space = {"name": "rows", "first": 0, "records": ROWS}
        workload = {"key_spaces": [space], "operations": operations}
        given = {"connections": 4, "duration_s": 120, "target": self.target, **spec}
        text = json.dumps({"workload": workload, **given})
        return LoadReport.model_validate_json(plimsoll_engine.run(text, on_second))

    def calls(self) -> dict[str, int]:
        """Count what the server has carried out since this was asked last, by the first word."""
        rows = self.connection.run(
            "SELECT split_part(query, ' ', 1), sum(calls) FROM pg_stat_statements"
            " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND query NOT LIKE '%pg_stat%' GROUP BY 1"
        )
        self.connection.run("SELECT pg_stat_statements_reset()")
        return {str(word): int(calls) for word, calls in rows}


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    """A database with the table `t`, of 1,000 rows."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with_all = connected(postgres, postgres.database)
    with_all.run(f"CREATE DATABASE {name}")
    made = Database(postgres, name)
    made.ask(TARGET)
    made.fill()
    made.calls()
    yield made
    made.connection.close()
    with_all.run(f"DROP DATABASE {name} WITH (FORCE)")
    with_all.close()


@pytest.mark.parametrize("mode", ["prepared", "simple"])
@pytest.mark.parametrize(
    "loop",
    [{"kind": "closed"}, {"kind": "open", "rate_ops_per_second": 1500.0}],
    ids=lambda it: it["kind"],
)
def test_statements_are_counted_as_the_server_counts_them(
    database: Database, loop: dict[str, Any], mode: str
) -> None:
    database.target["statement_mode"] = mode
    report = database.load(READ, UPDATE, loop=loop, operations_limit=2000)
    read, update = report.operations["read"], report.operations["update"]
    assert (read.errors, update.errors) == ({}, {})
    assert read.succeeded + update.succeeded == report.statements_sent == 2000
    assert (read.rows, update.rows) == (read.succeeded, update.succeeded)
    assert database.calls() == {"SELECT": read.succeeded, "UPDATE": update.succeeded}
    assert database.ask("SELECT sum(k) FROM t") == update.succeeded


def test_an_operation_that_meets_no_row_succeeds_and_shows_it(database: Database) -> None:
    database.ask("DELETE FROM t")
    report = database.load(READ, UPDATE, operations_limit=200)
    for loaded in report.operations.values():
        assert loaded.succeeded > 0
        assert (loaded.rows, loaded.errors) == (0, {})


@pytest.mark.parametrize("mode", ["prepared", "simple"])
def test_transactions_are_counted_with_their_commands(database: Database, mode: str) -> None:
    database.target["statement_mode"] = mode
    report = database.load(TRANSFER, connections=1, operations_limit=300)
    assert (report.operations["transfer"].succeeded, report.statements_sent) == (300, 900)
    assert report.transaction_commands_sent == 600
    assert database.calls() == {"BEGIN": 300, "SELECT": 600, "UPDATE": 300, "COMMIT": 300}
    assert database.ask("SELECT sum(k) FROM t") == 300


def test_warm_up_and_window_together_are_all_that_was_sent(database: Database) -> None:
    report = database.load(READ, warmup_s=0.5, duration_s=1)
    assert report.ended == "duration"
    assert database.calls() == {"SELECT": report.statements_sent}


def test_the_same_seed_leaves_the_same_rows_in_either_mode(database: Database) -> None:
    def left(seed: int, mode: str) -> str:
        database.ask("TRUNCATE t")
        database.fill()
        database.target["statement_mode"] = mode
        report = database.load(NEW, UPDATE, connections=1, operations_limit=300, seed=seed)
        assert report.operations["new"].errors == {}
        return database.contents()

    first = left(1, "prepared")
    assert first == left(1, "prepared") == left(1, "simple")
    assert first != left(2, "prepared")


@pytest.mark.parametrize("mode", ["prepared", "simple"])
def test_a_failed_statement_undoes_its_transaction(database: Database, mode: str) -> None:
    database.target["statement_mode"] = mode
    fails = operation(
        "fails",
        ("UPDATE t SET k = k + 1 WHERE id = $1", [KEY]),
        ("SELECT 1 / $1::int", [{"kind": "literal", "value": 0}]),
        ("UPDATE t SET k = k + 1 WHERE id = $1", [KEY]),
        transaction=True,
    )
    report = database.load(fails, UPDATE, operations_limit=400)
    failed, updated = report.operations["fails"], report.operations["update"]
    assert failed.succeeded == 0
    assert failed.errors == {"22012": 400 - updated.succeeded}
    assert failed.errors["22012"] > 100
    assert report.error_examples["22012"] == "division by zero"
    assert database.ask("SELECT sum(k) FROM t") == updated.succeeded
    assert "COMMIT" not in database.calls()
    assert report.connection_report.replaced == 0


def test_serialization_failures_are_counted_by_their_code(database: Database) -> None:
    database.set("default_transaction_isolation", "repeatable read")
    first = {"kind": "literal", "value": 1}
    together = operation(
        "together",
        ("SELECT k, pg_sleep(0.005) FROM t WHERE id = $1", [first]),
        ("UPDATE t SET k = k + 1 WHERE id = $1", [first]),
        transaction=True,
    )
    report = database.load(together, operations_limit=200)
    seen = report.operations["together"]
    assert seen.errors == {"40001": 200 - seen.succeeded}
    assert seen.errors["40001"] > 0
    assert database.ask("SELECT sum(k) FROM t") == seen.succeeded


def test_deadlocks_are_counted_by_their_code(database: Database) -> None:
    database.set("deadlock_timeout", "10ms")
    either = {"kind": "integer", "low": 1, "high": 2}
    update = ("UPDATE t SET k = k + 1 WHERE id = $1", [either])
    report = database.load(
        operation("meet", update, ("SELECT pg_sleep(0.002)", []), update, transaction=True),
        operations_limit=400,
    )
    seen = report.operations["meet"]
    assert seen.errors == {"40P01": 400 - seen.succeeded}
    assert seen.errors["40P01"] > 0
    assert database.ask("SELECT sum(k) FROM t") == 2 * seen.succeeded


def test_a_time_out_has_its_full_length_and_its_connection_is_replaced(database: Database) -> None:
    sleeps = operation("sleeps", ("SELECT pg_sleep(30)", []))
    report = database.load(sleeps, connections=2, operations_limit=4, timeout_ms=300)
    seen = report.operations["sleeps"]
    assert (seen.succeeded, seen.errors) == (0, {"timeout": 4})
    assert seen.latency_us.p50 is not None
    assert seen.latency_us.p50 >= 300_000 * 0.999
    assert report.connection_report.replaced >= 2


def test_a_statement_that_the_server_cancels_counts_with_the_time_it_took(
    database: Database,
) -> None:
    # It holds for what a session prepares at its login as well, which a busy server delays.
    database.set("statement_timeout", "500ms")
    sleeps = operation("sleeps", ("SELECT pg_sleep(30)", []))
    report = database.load(sleeps, connections=2, operations_limit=4)
    seen = report.operations["sleeps"]
    assert seen.errors == {"57014": 4}
    assert seen.latency_us.p50 is not None
    assert seen.latency_us.p50 >= 500_000 * 0.999
    assert report.connection_report.replaced == 0


def test_backends_that_are_terminated_are_replaced_and_the_load_goes_on(database: Database) -> None:
    ended = threading.Event()

    def end_them(_seconds: str) -> None:
        if not ended.is_set():
            ended.set()
            database.ask(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE application_name = 'plimsoll' AND datname = current_database()"
            )

    report = database.load(READ, duration_s=4, on_second=end_them)
    read = report.operations["read"]
    assert ended.is_set()
    assert set(read.errors) <= {"57P01", "connection_lost"}
    assert report.connection_report.replaced == 4
    assert read.succeeded > 0


@pytest.mark.parametrize("mode", ["prepared", "simple"])
def test_rows_are_loaded_once_however_often(database: Database, mode: str) -> None:
    database.target["statement_mode"] = mode
    all_rows = database.contents()
    database.ask("DELETE FROM t WHERE id % 3 = 0")
    assert database.fill() == {"rows_sent": 1000, "rows_inserted": 334, "errors": {}}
    assert database.contents() == all_rows
    assert database.fill()["rows_inserted"] == 0
    database.ask("TRUNCATE t")
    assert database.fill()["rows_inserted"] == ROWS
    assert database.contents() == all_rows


TYPES: dict[str, tuple[str, Any]] = {
    "a": ("smallint", {"kind": "literal", "value": -7}),
    "b": ("bigint", {"kind": "literal", "value": -(2**63)}),
    "d": ("real", {"kind": "literal", "value": 1.5}),
    "e": ("double precision", {"kind": "row"}),
    "f": ("text", {"kind": "row"}),
    "g": ("char(9)", {"kind": "pattern", "pattern": "@@@'\\@"}),
    "h": ("bytea", {"kind": "text", "length": 40}),
    "i": ("text", {"kind": "literal", "value": None}),
    "j": ("text", {"kind": "literal", "value": "tab\tnew\nline\r\\N \\. \u20ac"}),
}
AS_TEXT: dict[str, tuple[str, Any]] = {
    "l": ("timestamp", {"kind": "literal", "value": "2026-11-23 01:02:03"}),
    "m": ("numeric(20, 2)", {"kind": "literal", "value": 12.5}),
    "n": ("date", {"kind": "literal", "value": "2026-11-23"}),
    "o": ("boolean", {"kind": "literal", "value": 1}),
}


@pytest.mark.parametrize("types", [TYPES, TYPES | AS_TEXT], ids=["binary", "text"])
def test_every_type_has_the_same_values_by_copy_by_insert_and_by_literal(
    database: Database, types: dict[str, tuple[str, Any]]
) -> None:
    described = ", ".join(f"{name} {of_type}" for name, (of_type, _) in types.items())
    database.ask("DROP TABLE t")
    database.ask(f"CREATE TABLE t (id int PRIMARY KEY, {described})")
    columns = {"id": {"kind": "row"}, **{name: value for name, (_, value) in types.items()}}
    database.fill(rows=100, columns=columns)
    copied = database.contents()
    database.ask("DELETE FROM t WHERE id > 0")
    assert database.fill(rows=100, columns=columns)["rows_inserted"] == 99  # by INSERT
    assert database.contents() == copied
    fixed = {name: value for name, value in columns.items() if value["kind"] == "literal"}
    names, places = ", ".join(fixed), ", ".join(f"${place}" for place in range(1, len(fixed) + 1))
    for number, mode in enumerate(("prepared", "simple")):
        database.target["statement_mode"] = mode
        sql = f"INSERT INTO t (id, {names}) VALUES ({1000 + number}, {places})"
        report = database.load(
            operation("insert", (sql, list(fixed.values()))), connections=1, operations_limit=1
        )
        assert report.operations["insert"].errors == {}
        assert database.ask(f"SELECT count(DISTINCT ({names})) FROM t") == 1


def test_what_cannot_be_bound_is_refused_by_statement_and_type(database: Database) -> None:
    with pytest.raises(EngineError, match=r'"SELECT \$1::point": \$1 is of a type .* OID 600'):
        database.load(operation("point", ("SELECT $1::point", [KEY])), operations_limit=1)
    with pytest.raises(EngineError, match="no_such") as refused:
        database.load(operation("none", ("SELECT * FROM no_such", [])), operations_limit=1)
    assert refused.value.code == "42P01"
    huge = {"kind": "literal", "value": 2**40}
    report = database.load(
        operation("huge", ("SELECT c FROM t WHERE id = $1", [huge])), operations_limit=3
    )
    assert report.operations["huge"].errors == {"22P03": 3}  # no other row is read in its place


def test_a_wrong_password_is_told_by_its_code(database: Database) -> None:
    database.target["password"] = "not it"
    with pytest.raises(EngineError, match="password authentication failed") as refused:
        database.load(READ, operations_limit=1)
    assert refused.value.code == "28P01"


def test_tls_is_verified_and_demanded(tmp_path: Path) -> None:
    authority = Authority.new()
    files = authority.sign(tmp_path / "tls", "127.0.0.1")
    with PostgresServer.start(
        directory=tmp_path / "server", settings=list_tls_settings(files), demands_tls=True
    ) as server:
        assert_tls(server, authority)


def assert_tls(server: PostgresServer, authority: Authority) -> None:
    target = {
        "protocol": "postgres",
        "host": server.host,
        "port": server.port,
        "user": server.user,
        "password": server.password,
        "database": server.database,
    }
    own = operation(
        "own", ("SELECT 1 / ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()", [])
    )
    spec = {"connections": 2, "duration_s": 60, "operations_limit": 20}
    workload = {"key_spaces": [], "operations": [own]}

    def run(tls: dict[str, Any] | None) -> LoadReport:
        text = json.dumps({"target": {**target, "tls": tls}, "workload": workload, **spec})
        return LoadReport.model_validate_json(plimsoll_engine.run(text))

    for trust in ({"ca_pem": authority.pem}, {"verify": False}):
        assert run(trust).operations["own"].succeeded == 20
    with pytest.raises(EngineError, match="certificate"):
        run({"ca_pem": Authority.new().pem})
    with pytest.raises(EngineError, match="demands TLS") as refused:
        run(None)
    assert refused.value.code == "tls_required"
