"""The databases that are killed in tests, each with what is its own."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pg8000.dbapi
import pymysql

from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer


@dataclass(frozen=True)
class Kind:
    """A database.

    Attributes:
        start: Starts one in a directory, with variables.
        connected: Gives a connection (PEP 249) to it, closed in the end.
        errors: What its driver raises when it is gone.
        check_table: Asserts that a table is whole.
    """

    start: Callable[[Path, Mapping[str, str]], Any]
    connected: Callable[[Any], AbstractContextManager[Any]]
    errors: tuple[type[Exception], ...]
    check_table: Callable[[Any, str], None]


def _start_mariadb(directory: Path, environment: Mapping[str, str]) -> MariaDbServer:
    settings: dict[str, str | int] = {
        "innodb_flush_log_at_trx_commit": 1,
        "innodb_buffer_pool_size": "8M",  # pages are written back all the while
        "innodb_log_file_size": "8M",
        "innodb_fast_shutdown": 0,
    }
    return MariaDbServer.start(directory=directory, settings=settings, environment=environment)


def _check_mariadb(cursor: Any, table: str) -> None:
    cursor.execute(f"CHECK TABLE {table} EXTENDED")
    assert [row[3] for row in cursor.fetchall()] == ["OK"]


def _start_postgres(directory: Path, environment: Mapping[str, str]) -> PostgresServer:
    settings: dict[str, str | int] = {
        "shared_buffers": "1MB",  # pages are written back all the while
        "max_connections": 20,
        "checkpoint_timeout": "30s",
        "max_wal_size": "32MB",
    }
    return PostgresServer.start(directory=directory, settings=settings, environment=environment)


def _check_postgres(cursor: Any, table: str) -> None:
    cursor.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
    cursor.execute("SELECT bt_index_check(%s, true)", (f"{table}_pkey",))
    cursor.execute("SELECT * FROM verify_heapam(%s)", (table,))
    assert cursor.fetchall() == ()


def _account(server: Any) -> dict[str, Any]:
    return {"user": server.user, "password": server.password, "database": server.database}


@contextmanager
def _connected_to_mariadb(server: Any) -> Iterator[Any]:
    with pymysql.connect(host=server.host, port=server.port, **_account(server)) as connection:
        yield connection


@contextmanager
def _connected_to_postgres(server: Any) -> Iterator[Any]:
    """Connect by a socket of ours: the driver leaves its own open where the server is killed."""
    with socket.create_connection((server.host, server.port)) as reached:
        connection = pg8000.dbapi.connect(sock=reached, **_account(server))
        buffers = connection._sock
        try:
            yield connection
        finally:
            for one in (connection, buffers):
                with suppress(pg8000.dbapi.Error, OSError, ValueError):
                    one.close()


MARIADB = Kind(
    start=_start_mariadb,
    connected=_connected_to_mariadb,
    errors=(pymysql.MySQLError,),
    check_table=_check_mariadb,
)
POSTGRES = Kind(
    start=_start_postgres,
    connected=_connected_to_postgres,
    errors=(pg8000.dbapi.Error, OSError),
    check_table=_check_postgres,
)
