"""Settings of a MariaDB server while it runs: which may be changed, and changing them."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import pymysql
from pymysql.cursors import Cursor

from plimsoll.errors import PlimsollError

# the buffer pool, whose changed pages may have to be written first; shorter than a caller waits
RESIZED_WITHIN_S = 15.0
_RESIZED = ("Completed", "Size did not change")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHANGEABLE = """
SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
 WHERE READ_ONLY = 'NO' AND VARIABLE_SCOPE LIKE 'GLOBAL%%' AND VARIABLE_NAME IN ({})
"""


def changeable(dsn: str, names: Sequence[str]) -> frozenset[str]:
    """Say which settings a running server takes.

    Raises:
        PlimsollError: It cannot be asked.
    """
    with _logged_in(dsn) as cursor:
        cursor.execute(_CHANGEABLE.format(", ".join(["%s"] * len(names))), tuple(names))
        return frozenset(str(name) for (name,) in cursor.fetchall())


def change(dsn: str, settings: Mapping[str, str]) -> None:
    """Change settings of a running server; its connections from then on have them.

    A buffer pool is resized while the server runs on, so that its end is waited for.

    Raises:
        PlimsollError: It refuses one, or does not come to its end in `RESIZED_WITHIN_S`.
    """
    with _logged_in(dsn) as cursor:
        for name, value in settings.items():
            if not _NAME.fullmatch(name):
                raise PlimsollError(f"{name} is no name of a setting")
            number = re.fullmatch(r"-?\d+", value)
            cursor.execute(f"SET GLOBAL {name} = %s", (int(value) if number else value,))
        if "innodb_buffer_pool_size" in settings:
            _wait_until_resized(cursor)


def _wait_until_resized(cursor: Cursor) -> None:
    """Wait for the end of a resizing, which MariaDB tells as a status (its page on InnoDB)."""
    until = time.monotonic() + RESIZED_WITHIN_S
    while time.monotonic() < until:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status'")
        _, told = cursor.fetchone() or ("", "")
        if not told or str(told).startswith(_RESIZED):
            return
        time.sleep(0.05)  # the server tells nobody
    raise PlimsollError(f"its buffer pool is not resized within {RESIZED_WITHIN_S:.0f} s: {told}")


@contextmanager
def _logged_in(dsn: str) -> Iterator[Cursor]:
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
