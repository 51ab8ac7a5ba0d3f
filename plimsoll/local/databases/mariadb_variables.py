"""Settings of a MariaDB server while it runs: which may be changed, and changing them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import pymysql
from pymysql.cursors import Cursor

from plimsoll.errors import PlimsollError

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

    Raises:
        PlimsollError: It refuses one.
    """
    with _logged_in(dsn) as cursor:
        for name, value in settings.items():
            if not _NAME.fullmatch(name):
                raise PlimsollError(f"{name} is no name of a setting")
            number = re.fullmatch(r"-?\d+", value)
            cursor.execute(f"SET GLOBAL {name} = %s", (int(value) if number else value,))


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
