"""The user of a load, on a real server: rows of its own database, and nothing else."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from plimsoll.databases.load_user import LOAD_USER, switch_to_load_user
from plimsoll.databases.mysql.session import Connection, connect, execute, make_load_user
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.engine.asked import EngineTarget
from tests.support.mariadb_connection import connected

OWN, LIKE_IT, OTHER = "load_own", "loadXown", "load_other"  # _ stands for any character in GRANT


@pytest.fixture(scope="module")
def master(mariadb: MariaDbServer) -> Iterator[EngineTarget]:
    target = EngineTarget(
        protocol="mysql",
        host=mariadb.host,
        port=mariadb.port,
        user=mariadb.user,
        password=mariadb.password,
        database=OWN,
    )
    connection = connected(mariadb, autocommit=True)
    with closing(connection), connection.cursor() as cursor:
        for name in (OWN, LIKE_IT, OTHER):
            cursor.execute(f"CREATE DATABASE `{name}`")
            cursor.execute(f"CREATE TABLE `{name}`.t (a INT PRIMARY KEY) ENGINE = InnoDB")
        for _ in range(2):  # a repeated call of the function
            make_load_user(target, "run-1")
        yield target
        cursor.execute(f"DROP USER '{LOAD_USER}'@'%'")
        for name in (OWN, LIKE_IT, OTHER):
            cursor.execute(f"DROP DATABASE `{name}`")


@pytest.fixture
def load(master: EngineTarget) -> Iterator[Connection]:
    with closing(connect(switch_to_load_user(master, "run-1"))) as connection:
        yield connection


def test_it_reads_and_writes_rows_of_its_own_database(load: Connection) -> None:
    execute(load, "INSERT INTO t VALUES (1), (2)")
    execute(load, "UPDATE t SET a = 3 WHERE a = 2")
    execute(load, "REPLACE INTO t VALUES (1)")
    assert execute(load, "SELECT a FROM t ORDER BY a") == ((1,), (3,))
    execute(load, "DELETE FROM t")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM mysql.global_priv",
        f"SELECT * FROM {OTHER}.t",
        f"SELECT * FROM {LIKE_IT}.t",
        f"INSERT INTO {OTHER}.t VALUES (1)",
        "CREATE TABLE mine (a INT)",
        "DROP TABLE t",
        "ALTER TABLE t ADD b INT",
        "TRUNCATE t",
        f"CREATE DATABASE {OTHER}_2",
        "CREATE USER nobody",
        f"GRANT SELECT ON {OWN}.* TO nobody",
        "SET GLOBAL max_connections = 1",
        "SELECT a FROM t INTO OUTFILE '/tmp/plimsoll-load-user'",
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
        "FLUSH TABLES",
        "SHUTDOWN",
    ],
)
def test_everything_else_is_refused_by_the_server(load: Connection, sql: str) -> None:
    with pytest.raises(PlimsollError, match=r"denied|Access|privilege"):
        execute(load, sql)


def test_it_does_not_see_that_there_is_anything_else(load: Connection) -> None:
    assert execute(load, "SHOW DATABASES") == (("information_schema",), (OWN,))
    assert execute(load, "SELECT LOAD_FILE('/etc/passwd')") == ((None,),)


def test_its_password_is_of_its_run(master: EngineTarget) -> None:
    with pytest.raises(PlimsollError, match="wrong user or password"):
        connect(switch_to_load_user(master, "run-2"))
