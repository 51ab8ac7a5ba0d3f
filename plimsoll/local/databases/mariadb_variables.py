"""Changes settings of a MariaDB server while it runs."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import pymysql
from pymysql.cursors import Cursor

from plimsoll.errors import PlimsollError

# Resizing the buffer pool may have to write dirty pages first; the limit is shorter than callers
# wait.
RESIZED_WITHIN_S = 15.0
_RESIZED = ("Completed", "Size did not change")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHANGEABLE = """
SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
 WHERE READ_ONLY = 'NO' AND VARIABLE_SCOPE LIKE 'GLOBAL%%' AND VARIABLE_NAME IN ({})
"""


def find_changeable(dsn: str, names: Sequence[str]) -> frozenset[str]:
    """Return which settings a running server accepts.

    Raises:
        PlimsollError: It cannot be asked.
    """
    with _log_in(dsn) as cursor:
        cursor.execute(_CHANGEABLE.format(", ".join(["%s"] * len(names))), tuple(names))
        return frozenset(str(name) for (name,) in cursor.fetchall())


def change_variables(dsn: str, settings: Mapping[str, str]) -> None:
    """Change settings of a running server; new connections have them.

    A buffer pool is resized in the background, so the call waits for the end.

    Raises:
        PlimsollError: It refuses one, or does not finish in `RESIZED_WITHIN_S`.
    """
    with _log_in(dsn) as cursor:
        for name, value in settings.items():
            if not _NAME.fullmatch(name):
                raise PlimsollError(f"{name} is no name of a setting")
            number = re.fullmatch(r"-?\d+", value)
            cursor.execute(f"SET GLOBAL {name} = %s", (int(value) if number else value,))
        if "innodb_buffer_pool_size" in settings:
            _wait_until_resized(cursor)


def _wait_until_resized(cursor: Cursor) -> None:
    """Wait for the end of a resize, which MariaDB reports as a status variable."""
    until = time.monotonic() + RESIZED_WITHIN_S
    while time.monotonic() < until:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status'")
        _, told = cursor.fetchone() or ("", "")
        if not told or str(told).startswith(_RESIZED):
            return
        time.sleep(0.05)  # the server sends no notification
    raise PlimsollError(f"its buffer pool is not resized within {RESIZED_WITHIN_S:.0f} s: {told}")


@contextmanager
def _log_in(dsn: str) -> Iterator[Cursor]:
    url = urlsplit(dsn)
    try:
        with (
            pymysql.connect(
                host=url.hostname,
                port=url.port or 3306,
                user=unquote(url.username or ""),
                password=unquote(url.password or ""),
                connect_timeout=10,
                read_timeout=10,
            ) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor
    except pymysql.MySQLError as error:
        raise PlimsollError(f"MariaDB refuses: {error.args[-1]}") from None
