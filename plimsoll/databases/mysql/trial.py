"""Statements that MySQL or MariaDB prepares on temporary tables."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pymysql
from pymysql.constants import ER

from plimsoll.databases.connecting import shorten_message, use_connection
from plimsoll.databases.mysql.session import (
    ELSEWHERE,
    Connection,
    connect,
    execute,
    use_database,
)
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.compiled import Table

_CREATE = "CREATE TABLE IF NOT EXISTS "


class MySqlTrial:
    """Prepares statements on temporary tables.

    Tables are created from another database, and statements are prepared under a name by which
    `sort_statements` knows them, so that no derivation counts them.
    """

    def __init__(self, connection: Connection, database: str) -> None:
        self._connection = connection
        self._database = database

    def create(self, tables: Sequence[Table]) -> str | None:
        """Create the tables; return why they cannot be made, None if they are."""
        schema = "`" + self._database.replace("`", "``") + "`"
        try:
            for table in tables:
                body = table.create_sql.removeprefix(_CREATE)
                execute(
                    self._connection, f"CREATE TEMPORARY TABLE {schema}.{body}".replace("%", "%%")
                )
                for index_sql in table.index_sql.values():  # hints name them
                    on = index_sql.replace(f" ON `{table.name}`", f" ON {schema}.`{table.name}`", 1)
                    execute(self._connection, on.replace("%", "%%"))
            use_database(self._connection, self._database)
        except PlimsollError as error:
            return str(error).partition(" to: ")[0]
        return None

    def refuse(self, sql: str) -> str | None:
        """Return what the server says against a statement; None if it prepares it."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("PREPARE plimsoll_trial FROM %s", (sql,))
                cursor.execute("DEALLOCATE PREPARE plimsoll_trial")
        except pymysql.MySQLError as error:
            code = error.args[0] if error.args else None
            if code == ER.CANT_REOPEN_TABLE:  # a temporary table cannot be named twice
                return None
            return shorten_message(str(error.args[-1]))
        return None


@contextmanager
def open_mysql_trial(target: EngineTarget) -> Iterator[MySqlTrial]:
    """Connect to a database to have it prepare statements.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    beside = target.model_copy(update={"database": ELSEWHERE})
    with use_connection(connect(beside)) as connection:
        yield MySqlTrial(connection, target.database)
