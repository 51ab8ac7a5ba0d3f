"""Statements that PostgreSQL prepares on temporary tables, in a transaction that is rolled back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.counted_statements import PATIENCE_S
from plimsoll.databases.postgres.session import Connection, connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.compiled import Table

_CREATE = "CREATE TABLE IF NOT EXISTS "


class PostgresTrial:
    """Prepares statements on temporary tables. Each of our statements bears our mark."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, tables: Sequence[Table]) -> str | None:
        """Create the tables; return why they cannot be made, None if they are."""
        try:
            for table in tables:
                body = table.create_sql.removeprefix(_CREATE)
                execute(self._connection, f"CREATE TEMPORARY TABLE {body}")
        except PlimsollError as error:
            return str(error).partition(" to: ")[0]
        return None

    def refuse(self, sql: str) -> str | None:
        """Return what the server says against a statement; None if it prepares it."""
        execute(self._connection, "SAVEPOINT plimsoll_trial")
        try:
            execute(self._connection, f"PREPARE plimsoll_trial AS {sql}")
        except PlimsollError as error:
            return str(error).partition(" to: ")[0].removeprefix("the database says: ")
        else:
            execute(self._connection, "DEALLOCATE plimsoll_trial")
            return None
        finally:
            execute(self._connection, "ROLLBACK TO SAVEPOINT plimsoll_trial")


@contextmanager
def open_postgres_trial(target: EngineTarget) -> Iterator[PostgresTrial]:
    """Connect to a database to have it prepare statements.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    with use_connection(connect(target)) as connection:
        execute(connection, f"SET statement_timeout = {PATIENCE_S * 1000}")
        execute(connection, "BEGIN")
        try:
            yield PostgresTrial(connection)
        finally:
            execute(connection, "ROLLBACK")
