"""How the gate's counter keeps MariaDB's purge out of what it counts."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from plimsoll.databases.mysql.counting import MySqlCounter, open_mysql_counter
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.sql_datasets import NOTES
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from tests.support.interrupted import interrupted

NAME = "plimsoll_gate_counting"
CHANGES = ["UPDATE orders SET paid = paid + 1"] * 20


@pytest.fixture
def counter(mariadb: MariaDbServer) -> Iterator[MySqlCounter]:
    with open_mysql_counter(parse_dsn(mariadb.dsn)) as opened:
        opened.create_copy(NAME)
        try:
            yield opened
        finally:
            opened.drop_copy(NAME)


@pytest.fixture
def copy(mariadb: MariaDbServer, counter: MySqlCounter) -> EngineTarget:
    target = parse_dsn(mariadb.dsn).model_copy(update={"database": NAME})
    table = "CREATE TABLE orders (id INT PRIMARY KEY, paid INT NOT NULL, INDEX (paid))"
    counter.execute_in(target, (table, "INSERT INTO orders VALUES (1, 0), (2, 0)"))
    assert counter.settle(target, longest_s=60)
    return target


def test_without_a_table_to_export_the_purge_waits_for_the_end_of_what_is_counted(
    counter: MySqlCounter, copy: EngineTarget
) -> None:
    with counter.defer_purge(copy):
        before = counter.totals(copy)
        counter.execute_in(copy, CHANGES)
        after = counter.totals(copy)
        assert not counter.settle(copy, longest_s=0)
    assert after["rows_changed"] - before["rows_changed"] == 2 * len(CHANGES)
    assert counter.settle(copy, longest_s=60)


def test_the_purge_stops_while_something_is_counted(
    mariadb: MariaDbServer, counter: MySqlCounter, copy: EngineTarget
) -> None:
    def is_stopped() -> bool:
        with closing(connect(parse_dsn(mariadb.dsn))) as connection:
            return "state: stopped" in execute(connection, "SHOW ENGINE INNODB STATUS")[0][2]

    counter.execute_in(copy, (f"CREATE TABLE {NOTES} (name INT PRIMARY KEY)",))
    with counter.defer_purge(copy):
        assert is_stopped()
    assert not is_stopped()


def test_waking_the_purge_leaves_the_servers_settings_as_they_were(
    mariadb: MariaDbServer, counter: MySqlCounter, copy: EngineTarget
) -> None:
    def read_settings() -> object:
        with closing(connect(parse_dsn(mariadb.dsn))) as connection:
            return execute(
                connection,
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN"
                " ('innodb_max_purge_lag_wait', 'max_statement_time')",
            )

    before = read_settings()
    counter.execute_in(copy, CHANGES)
    assert counter.settle(copy, longest_s=60)
    assert read_settings() == before


def test_a_copy_is_dropped_though_a_statement_before_was_interrupted(
    mariadb: MariaDbServer, counter: MySqlCounter, copy: EngineTarget
) -> None:
    with interrupted():
        counter.settings()
    counter.drop_copy(copy.database)
    with closing(connect(parse_dsn(mariadb.dsn))) as connection:
        assert (NAME,) not in execute(connection, "SHOW DATABASES")


def test_statements_that_do_not_commit_are_told(counter: MySqlCounter, copy: EngineTarget) -> None:
    assert not counter.execute_in(copy, ("BEGIN", "DELETE FROM orders"))
    assert counter.execute_in(copy, ("BEGIN", "DELETE FROM orders", "COMMIT"))
