"""Connections to MySQL for schemas, counts and the server's own counters; never for load."""

import ssl
from collections.abc import Sequence
from typing import Any, TypeAlias

import pymysql
from pymysql.constants import ER

from plimsoll.errors import PlimsollError
from plimsoll.families.connecting import short, tls_context
from plimsoll.model.engine import EngineTarget

Connection: TypeAlias = "pymysql.Connection[pymysql.cursors.Cursor]"  # generic in its types alone
Rows = tuple[tuple[Any, ...], ...]

_CONNECT_TIMEOUT_S = 10
_REFUSED = {
    ER.ACCESS_DENIED_ERROR: "wrong user or password",
    ER.DBACCESS_DENIED_ERROR: "the user may not use this database",
    ER.BAD_DB_ERROR: "there is no such database",
    ER.CON_COUNT_ERROR: "the server is full of connections",
    ER.HOST_NOT_PRIVILEGED: "the server does not let this machine in",
    3159: "the server demands TLS; add ?tls=required to the DSN",  # MySQL
    2026: "the server offers no TLS",
    4151: "the server demands TLS; add ?tls=required to the DSN",  # MariaDB
}


def connect(target: EngineTarget) -> Connection:
    """Connect, each statement its own transaction.

    Raises:
        PlimsollError: The server cannot be reached or refuses; one line, without the password.
    """
    try:
        connection = pymysql.connect(
            host=target.host,
            port=target.port,
            user=target.user,
            password=target.password,
            database=target.database,
            ssl=tls_context(target.tls),
            ssl_disabled=target.tls is None,
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_CONNECT_TIMEOUT_S,
            autocommit=True,
        )
    except (pymysql.MySQLError, OSError, RuntimeError) as error:
        raise PlimsollError(_refusal(target, error)) from None
    # The limit on reading was for the login alone: it ends the wait for a server that accepts and
    # says nothing. Building an index may take hours.
    connection._read_timeout = None  # type: ignore[attr-defined]  # noqa: SLF001 - no other way
    return connection


def execute(connection: Connection, sql: str, values: Sequence[object] = ()) -> Rows:
    """Send a statement and return its rows.

    Raises:
        PlimsollError: The server refuses it, or is gone.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return tuple(cursor.fetchall())
    except pymysql.MySQLError as error:
        code, message = _parts(error)
        raise PlimsollError(f"the database says: {message} ({code}) to: {short(sql)}") from None


def server_version(connection: Connection) -> str:
    """Say what server answers, as it calls itself."""
    (row,) = execute(connection, "SELECT VERSION()")
    return str(row[0])


def _refusal(target: EngineTarget, error: Exception) -> str:
    place = f"{target.host}:{target.port}"
    code, message = _parts(error)
    if code in _REFUSED:
        return f"{target.user}@{place}/{target.database}: {_REFUSED[code]} ({message}, {code})"
    reason = error.__context__ if isinstance(error, pymysql.err.OperationalError) else None
    if isinstance(reason, TimeoutError):
        message = f"no answer within {_CONNECT_TIMEOUT_S} s"
    elif isinstance(reason, ssl.SSLError):
        message = f"TLS: {reason.reason or reason}"
    return f"cannot connect to {place}: {message}"


def _parts(error: Exception) -> tuple[int, str]:
    if len(error.args) >= 2 and isinstance(error.args[0], int):
        return error.args[0], " ".join(str(error.args[1]).split())
    return 0, " ".join(str(error).split())
