"""Connections to a private MariaDB."""

from typing import TypeAlias

import pymysql

from plimsoll.local.databases.mariadb_server import MariaDbServer

Connection: TypeAlias = "pymysql.Connection[pymysql.cursors.Cursor]"


def connected(server: MariaDbServer, *, autocommit: bool = False) -> Connection:
    """Connect to a server's own database, as the user that it was started with."""
    return pymysql.connect(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password,
        database=server.database,
        autocommit=autocommit,
    )


def query(connection: Connection, dsn: str, sql: str) -> tuple[object, ...]:
    """Give the one row that a query of a DSN's database answers."""
    with connection.cursor() as cursor:
        cursor.execute(f"USE {dsn.rpartition('/')[2]}")
        cursor.execute(sql)
        row = cursor.fetchone()
    assert row is not None
    return tuple(row)
