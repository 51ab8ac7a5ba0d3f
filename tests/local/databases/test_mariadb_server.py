"""The private server: there when started, gone when stopped, whatever became of its owner."""

import os
import signal
from pathlib import Path

import psutil
import pymysql
import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from tests.local.conftest import MariaDbFactory
from tests.local.workflow.conftest import PATIENCE_S
from tests.support.mariadb_connection import connected
from tests.support.owner import owner_of


def query(server: MariaDbServer, sql: str) -> tuple[tuple[object, ...], ...]:
    with connected(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return tuple(cursor.fetchall())


def test_it_answers_on_loopback_with_settings_that_the_emulated_volume_can_see(
    mariadb: MariaDbServer,
) -> None:
    assert query(
        mariadb,
        "SELECT @@bind_address, @@port, @@innodb_use_native_aio, @@innodb_flush_method, @@log_bin",
    ) == (("127.0.0.1", mariadb.port, 0, "O_DIRECT", 0),)


def test_no_account_without_a_password_is_left(mariadb: MariaDbServer) -> None:
    accounts = query(mariadb, "SELECT User FROM mysql.user WHERE User <> 'mariadb.sys'")
    assert accounts == (("plimsoll",),)
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        pymysql.connect(host=mariadb.host, port=mariadb.port, user="root")


def test_settings_and_account_are_as_asked(tmp_path: Path) -> None:
    with MariaDbServer.start(
        directory=tmp_path / "s",
        settings={"innodb_buffer_pool_size": "16M", "max_connections": 77},
        user="o'hara",
        password='it\'s 100% \\ "safe"@:/',
        database="my-db",
    ) as server:
        assert query(server, "SELECT @@max_connections, @@innodb_buffer_pool_size, database()") == (
            (77, 16 << 20, "my-db"),
        )


def test_a_buffer_pool_full_of_changed_pages_has_shrunk_once_its_size_is_changed(
    tmp_path: Path,
) -> None:
    large = {"innodb_buffer_pool_size": "48M", "innodb_max_dirty_pages_pct": "99"}
    with MariaDbServer.start(directory=tmp_path / "s", settings=large) as server:
        rows = "SELECT seq AS id, REPEAT('x', 1000) AS c FROM seq_1_to_30000"
        query(server, f"CREATE TABLE t (id INT PRIMARY KEY) {rows}")
        for mib in (48, 8, 8, 48, 8):
            query(server, "UPDATE t SET c = REVERSE(c)")
            server.change({"innodb_buffer_pool_size": str(mib << 20)})
            assert query(server, "SELECT @@innodb_buffer_pool_size") == ((mib << 20,),)


def test_data_outlives_a_kill_and_is_served_again_on_the_same_port(
    mariadb_factory: MariaDbFactory,
) -> None:
    first = mariadb_factory()
    query(first, "CREATE TABLE t (a INT) SELECT 42 AS a")
    first.kill()
    assert not first.running
    second = mariadb_factory(directory=first.directory, port=first.port)
    assert query(second, "SELECT a FROM t") == ((42,),)


def test_a_server_that_starts_leaves_the_temporary_tables_of_another_alone(
    mariadb_factory: MariaDbFactory,
) -> None:
    """A server clears its folder for temporary tables at its start."""
    first = mariadb_factory()
    with connected(first, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE t (a INT) ENGINE = Aria SELECT 42 AS a")
        mariadb_factory()
        cursor.execute("DROP TEMPORARY TABLE t")


def test_a_removed_server_leaves_neither_process_nor_files(
    mariadb_factory: MariaDbFactory,
) -> None:
    server = mariadb_factory()
    process = psutil.Process(server.pid)
    server.remove()
    assert not process.is_running()
    assert not server.directory.exists()


def test_a_clean_stop_ends_with_code_0(mariadb_factory: MariaDbFactory) -> None:
    server = mariadb_factory()
    server.stop()
    assert server._process.poll() == 0


def test_a_setting_that_does_not_exist_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=r"unknown variable 'inodb_x=1'.*its log is") as error:
        MariaDbServer.start(directory=tmp_path / "s", settings={"inodb_x": 1})
    assert "\n" not in str(error.value)


def test_a_port_in_use_is_named(mariadb: MariaDbServer, tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=f"port {mariadb.port}: Address already in use"):
        MariaDbServer.start(directory=tmp_path / "s", port=mariadb.port)


OWNER = """
import sys
from pathlib import Path
from plimsoll.local.databases.mariadb_server import MariaDbServer
server = MariaDbServer.start(directory=Path(sys.argv[1]))
print(server.pid, server._process._guard.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("victim", ["owner", "guard"])
def test_sudden_death_leaves_no_server_behind(tmp_path: Path, victim: str) -> None:
    directory = tmp_path / "s"
    with owner_of(OWNER, directory) as (owner, pids):
        server, guard = (psutil.Process(int(pid)) for pid in pids)
        assert server.name() == "mariadbd"
        os.kill(owner.pid if victim == "owner" else guard.pid, signal.SIGKILL)
        # a dead guard stays a zombie until its owner collects it
        psutil.wait_procs([server, guard] if victim == "owner" else [server], timeout=PATIENCE_S)
        assert not server.is_running()
        if victim == "owner":
            assert not guard.is_running()
            assert not (directory / "data").exists()
        owner.kill()
