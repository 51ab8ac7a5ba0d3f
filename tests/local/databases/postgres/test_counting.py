"""What the gate's counter reads of a PostgreSQL server: the work on the copy's tables alone."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from plimsoll.databases.postgres.counting import PostgresCounter, open_postgres_counter
from plimsoll.databases.postgres.session import connect, execute
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.gate import Count
from plimsoll.model.request.dsn import parse_dsn
from tests.support.interrupted import interrupted

NAME = "plimsoll_gate_counting"
ROWS = 500
TABLE = (
    "CREATE TABLE orders (id INT PRIMARY KEY, note TEXT)",
    f"INSERT INTO orders SELECT id, 'a note' FROM generate_series(1, {ROWS}) AS id",
)
OF_TABLES: tuple[Count, ...] = (
    "pages_requested",
    "pages_read",
    "rows_examined",
    "rows_changed",
    "log_bytes",
    "log_records",
    "log_page_images",
)


@pytest.fixture
def counter(postgres: PostgresServer) -> Iterator[PostgresCounter]:
    with open_postgres_counter(parse_dsn(postgres.dsn)) as opened:
        opened.create_copy(NAME)
        try:
            yield opened
        finally:
            opened.drop_copy(NAME)


@pytest.fixture
def copy(postgres: PostgresServer, counter: PostgresCounter) -> EngineTarget:
    target = parse_dsn(postgres.dsn).model_copy(update={"database": NAME})
    counter.execute_in(target, TABLE)
    counter.refresh_statistics(target)
    return target


def counted(counter: PostgresCounter, copy: EngineTarget, *statements: str) -> dict[Count, float]:
    """Return what statements in the copy add to the counts of its tables."""
    before = counter.totals(copy)
    counter.execute_in(copy, statements)
    after = counter.totals(copy)
    return {name: after[name] - before[name] for name in OF_TABLES}


def test_what_autovacuum_does_to_catalogs_is_not_the_operations(
    postgres: PostgresServer, counter: PostgresCounter, copy: EngineTarget
) -> None:
    before = counter.totals(copy)
    # as its workers do in every database that they visit, in the copy and beside it
    for place in (copy, parse_dsn(postgres.dsn)):
        counter.execute_in(place, ("SELECT COUNT(*) FROM pg_class", "VACUUM (ANALYZE) pg_class"))
    after = counter.totals(copy)
    assert {name: after[name] - before[name] for name in OF_TABLES} == dict.fromkeys(OF_TABLES, 0)


def test_pages_and_rows_of_tables_and_their_indexes_are_counted(
    counter: PostgresCounter, copy: EngineTarget
) -> None:
    whole = counted(counter, copy, "SELECT COUNT(note) FROM orders")
    assert whole["rows_examined"] == ROWS
    by_key = counted(counter, copy, "SET enable_seqscan = off", "SELECT * FROM orders WHERE id = 7")
    assert by_key["rows_examined"] == 1
    assert by_key["pages_requested"] >= 3  # two of the index, one of the table
    assert whole["log_bytes"] == 0


def test_log_of_changes_and_their_commits_is_counted(
    counter: PostgresCounter, copy: EngineTarget
) -> None:
    # the second time, no page is new to the log since the last checkpoint
    change = "UPDATE orders SET note = 'another note' WHERE id = 7"
    counted(counter, copy, change)
    once = counted(counter, copy, change)
    assert once["rows_changed"] == 1
    assert 2 <= once["log_records"] <= 3  # the update and its commit; before it, dead rows may go
    assert 80 < once["log_bytes"] < 400
    several = counted(counter, copy, *[change] * 4)
    assert several["rows_changed"] == 4
    assert 8 <= several["log_records"] <= 12


@pytest.mark.parametrize("kind", ["TABLE", "MATERIALIZED VIEW"])
def test_autovacuum_leaves_the_copys_tables_and_their_long_values_alone(
    counter: PostgresCounter, copy: EngineTarget, kind: str
) -> None:
    counter.execute_in(copy, (f"CREATE {kind} more AS SELECT id, note FROM orders",))
    counter.refresh_statistics(copy)
    with closing(connect(copy)) as connection:
        options = execute(
            connection,
            "SELECT relname, reloptions FROM pg_class WHERE oid >= 16384 AND relkind IN"
            " ('r', 'm', 't') ORDER BY relname",
        )
    assert len(options) == 4  # two relations, each with its table of long values
    assert all(chosen == ["autovacuum_enabled=false"] for _, chosen in options)


def test_a_copy_is_dropped_though_a_statement_before_was_interrupted(
    postgres: PostgresServer, counter: PostgresCounter, copy: EngineTarget
) -> None:
    with interrupted():
        counter.settings()
    counter.drop_copy(copy.database)
    with closing(connect(parse_dsn(postgres.dsn))) as connection:
        assert (NAME,) not in execute(connection, "SELECT datname FROM pg_database")


def test_statements_that_do_not_commit_are_told(
    counter: PostgresCounter, copy: EngineTarget
) -> None:
    assert not counter.execute_in(copy, ("BEGIN", "DELETE FROM orders"))
    assert counter.execute_in(copy, ("BEGIN", "DELETE FROM orders", "COMMIT"))
