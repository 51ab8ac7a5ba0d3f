"""The MariaDB of Debian's package, on the PATH, as a target's server."""

import os
from pathlib import Path

import pytest

from plimsoll.local.databases.server_programs import list_server_programs
from tests.local.conftest import MariaDbFactory
from tests.support.debian_programs import find_debian_program, list_debian_libraries
from tests.support.mariadb_connection import connected


@pytest.fixture
def debian_mariadb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The server on the PATH of a machine on which Maven's was never fetched."""
    mariadbd = find_debian_program("mariadb-server-core", "usr/sbin/mariadbd")
    monkeypatch.setenv("PATH", f"{mariadbd.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LD_LIBRARY_PATH", list_debian_libraries())
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PLIMSOLL_MARIADBD", raising=False)
    return mariadbd.resolve()


@pytest.mark.usefixtures("debian_mariadb")
def test_it_starts_with_its_own_tables_and_no_account_but_the_targets(
    mariadb_factory: MariaDbFactory,
) -> None:
    server = mariadb_factory()
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT User FROM mysql.user WHERE User <> 'mariadb.sys'")
        assert cursor.fetchall() == (("plimsoll",),)
        cursor.execute("SELECT VERSION()")
        ((version,),) = cursor.fetchall()
        assert "deb" in version


def test_the_doctor_calls_it_ok_once_it_has_made_its_tables(debian_mariadb: Path) -> None:
    (program,) = list_server_programs("mysql")
    assert program.describe().endswith(f"({debian_mariadb})")
