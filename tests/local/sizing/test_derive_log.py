"""`plimsoll workload derive` of a shop: its transactions, from the server's history or its log."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pymysql
import pytest

import plimsoll
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.postgres import session as postgres_session
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload
from tests.support import shop
from tests.support.command import Output
from tests.support.postgres_connection import connected

Call = Callable[..., Output]
VISITS = 100
ORDERS = VISITS // shop.ORDER_EVERY
APART = {
    "select_product_by_id": 3 * VISITS,
    "select_product_by_category": VISITS,
    "select_customer_by_email": ORDERS,
}
SENT = {**APART, "transaction": ORDERS}
MYSQL_SCHEMA = (
    "-- Server version\t11.4.5-MariaDB-log\n"
    "/*!40101 SET character_set_client = utf8 */;\nDROP TABLE IF EXISTS `product`;\n"
    + ";\n".join(statement for statement in shop.MYSQL if statement.startswith("CREATE"))
    + ";\nDELIMITER ;;\nCREATE TRIGGER a BEFORE INSERT ON product FOR EACH ROW BEGIN END ;;\n"
    "DELIMITER ;\n"
)
POSTGRES_SCHEMA = (
    "-- Dumped from database version 16.4\nSET statement_timeout = 0;\n"
    + ";\n".join(statement for statement in shop.POSTGRES if statement.startswith("CREATE"))
    + ";\nALTER TABLE product OWNER TO nobody_here;\n"
)


def calls(call: Call, *arguments: str) -> tuple[dict[str, int], dict[str, Any]]:
    """Return the operations with their calls, and all that was printed."""
    code, out, err = call("workload", "derive", "--writes", "--json", *arguments)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return {one["name"]: one["calls"] for one in found["operations"]}, found


@contextmanager
def shop_on(server: MariaDbServer, name: str) -> Iterator[tuple[str, pymysql.cursors.Cursor]]:
    """Make a shop's database; gives its DSN, and a visitor's cursor."""
    with closing(connect(parse_dsn(server.dsn))) as connection:
        execute(connection, f"CREATE DATABASE `{name}`")
    dsn = f"{server.dsn.rpartition('/')[0]}/{name}"
    with closing(connect(parse_dsn(dsn))) as connection, connection.cursor() as cursor:
        for statement in shop.MYSQL:
            cursor.execute(statement)
        yield dsn, cursor


def visit_all(send: Callable[[str], object]) -> None:
    random = Random(7)
    for number in range(VISITS):
        shop.visit(send, random, number)


def test_reads_that_commit_by_themselves_are_no_part_of_a_transaction(
    plimsoll_command: Call, counting_mariadb: MariaDbServer
) -> None:
    with shop_on(counting_mariadb, "shop_seen") as (dsn, cursor):
        visit_all(cursor.execute)
    found, whole = calls(plimsoll_command, dsn)
    assert {name: count for name, count in found.items() if name in SENT} == SENT
    (transaction,) = [one for one in whole["operations"] if one["name"] == "transaction"]
    assert [one["times"] for one in transaction["statements"]] == [1, 2, 2]
    apart, _ = calls(plimsoll_command, dsn, "--transactions", "none")
    assert "transaction" not in apart
    assert apart["update_product_by_id"] == 2 * ORDERS


@pytest.fixture
def slow_log(mariadb: MariaDbServer, tmp_path: Path) -> Iterator[Path]:
    """Where a server without performance_schema logs what is slow."""
    path = tmp_path / "slow.log"
    with closing(connect(parse_dsn(mariadb.dsn))) as connection:
        execute(connection, f"SET GLOBAL slow_query_log_file = '{path}'")
        execute(connection, "SET GLOBAL slow_query_log = ON")
        yield path
        execute(connection, "SET GLOBAL slow_query_log = OFF")


def test_a_slow_log_of_everything_is_a_workload(
    plimsoll_command: Call, mariadb: MariaDbServer, slow_log: Path, tmp_path: Path
) -> None:
    with shop_on(mariadb, "shop_slow") as (dsn, cursor):
        cursor.execute("SET long_query_time = 0")
        visit_all(cursor.execute)
    found, whole = calls(plimsoll_command, dsn, "--log", str(slow_log))
    assert found == SENT
    assert whole["server"].startswith("11.4")
    path = tmp_path / "shop.yaml"
    schema = tmp_path / "schema.sql"
    schema.write_text(MYSQL_SCHEMA)
    options = "--log", str(slow_log), "--schema", str(schema), "--out", str(path)
    found, _ = calls(plimsoll_command, *options)
    assert found == SENT
    with closing(connect(parse_dsn(mariadb.dsn))) as connection:
        execute(connection, "CREATE DATABASE shop_again")
    scratch = f"{mariadb.dsn.rpartition('/')[0]}/shop_again"
    plimsoll.prepare(scratch, workload=path, records=300)
    again = plimsoll.load(scratch, workload=path, connections=1, warmup_s=0, duration_s=0.5)
    assert not any(one.errors for one in again.report.operations.values())


def test_prepared_statements_have_their_transactions_in_a_slow_log(
    plimsoll_command: Call, mariadb: MariaDbServer, slow_log: Path
) -> None:
    with closing(connect(parse_dsn(mariadb.dsn))) as connection:
        execute(connection, "CREATE DATABASE sysbench_slow")
        dsn = f"{mariadb.dsn.rpartition('/')[0]}/sysbench_slow"
        plimsoll.prepare(dsn, workload="sysbench-oltp-read-write", records=2000)
        execute(connection, "SET GLOBAL long_query_time = 0")
        try:
            plimsoll.load(dsn, workload="sysbench-oltp-read-write", warmup_s=0, duration_s=1)
        finally:
            execute(connection, "SET GLOBAL long_query_time = 10")
    _, whole = calls(plimsoll_command, dsn, "--log", str(slow_log))
    (transaction,) = [one for one in whole["operations"] if one["name"] == "transaction"]
    assert whole["operations"][0] == transaction
    original = load_workload("sysbench-oltp-read-write").compile(2000).engine.operations[0]
    assert [(_plain(one["text"]), one["times"]) for one in transaction["statements"]] == [
        (_plain(one.sql[0]).replace("k+1", "k+?"), one.repeat) for one in original.statements
    ]


def _plain(text: str) -> str:
    return re.sub(r"[ `{}]", "", text)


def test_a_log_of_slow_statements_alone_names_its_cure_from_the_server(
    plimsoll_command: Call, mariadb: MariaDbServer, slow_log: Path
) -> None:
    with shop_on(mariadb, "shop_slower") as (dsn, cursor):
        cursor.execute("SET long_query_time = 0.001")
        for _ in range(20):
            cursor.execute("SELECT id, SLEEP(0.006) FROM product WHERE id = 5")
    code, _, err = plimsoll_command("workload", "derive", dsn, "--log", str(slow_log))
    assert code == 2
    assert "a log of slow statements alone is no workload" in err
    assert "SET GLOBAL long_query_time = 10.000000" in err


def test_a_log_of_postgresql_is_a_workload(
    plimsoll_command: Call, postgres: PostgresServer, tmp_path: Path
) -> None:
    with closing(connected(postgres)) as connection:
        connection.run("CREATE DATABASE shop_logged")
    dsn = f"{postgres.dsn.rpartition('/')[0]}/shop_logged"
    with closing(postgres_session.connect(parse_dsn(dsn))) as connection:
        for statement in shop.POSTGRES:
            connection.run(statement)
        log = postgres.directory / "server.log"
        before = log.stat().st_size
        connection.run("SET log_min_duration_statement = 0")
        visit_all(connection.run)
        connection.run("SET log_min_duration_statement = -1")
    path, schema = tmp_path / "shop.log", tmp_path / "schema.sql"
    path.write_bytes(log.read_bytes()[before:])
    schema.write_text(POSTGRES_SCHEMA)
    for tables in ((dsn,), ("--schema", str(schema))):
        found, _ = calls(plimsoll_command, "--log", str(path), *tables)
        assert found == SENT


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--schema", "a.sql"), "--schema: is for the file of --log"),
        (("--log", "a.log"), "with --log, --schema can stand in for it"),
        (("--log", "a.log", "--for", "10s"), "--for: is for a server's statistics"),
        (("mysql://a@b/c", "--log", "a.log", "--schema", "a.sql"), "are those of DSN"),
        (("--log", "missing.log", "--schema", "a.sql"), "missing.log: No such file"),
    ],
)
def test_options_that_do_not_go_together(
    plimsoll_command: Call, options: tuple[str, ...], said: str
) -> None:
    code, _, err = plimsoll_command("workload", "derive", *options)
    assert code == 2
    assert said in err
