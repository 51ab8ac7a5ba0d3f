"""Counts of a server's work on one database, for the gate: copies, settling, counters by name.

What a server does not count is absent. Counters are those of the whole server, unless a family can
tell those of the copy's own tables: nobody else may use the server meanwhile.
"""

import typing
from contextlib import AbstractContextManager
from typing import assert_never

from plimsoll.errors import UsageError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.gate import Count

Totals = dict[Count, float]


class WorkCounter(typing.Protocol):
    """Reads a server's counters from outside the database that is loaded."""

    def create_copy(self, database: str) -> None:
        """Create an empty database."""

    def drop_copy(self, database: str) -> None:
        """Drop a database if it exists, whoever uses it.

        A connection of its own asks for it: on the other one, the answer to a statement that was
        interrupted may still be awaited.
        """

    def execute_in(self, copy: EngineTarget, statements: typing.Sequence[str]) -> bool:
        """Execute statements in a copy, one by one; False if they leave changes uncommitted."""

    def refresh_statistics(self, copy: EngineTarget) -> None:
        """Refresh what the planner knows of all tables, and keep the server from doing so later."""

    def checkpoint(self, copy: EngineTarget) -> None:
        """Have the server write a checkpoint where the log's bytes depend on the last one."""

    def settle(self, copy: EngineTarget, *, longest_s: float) -> bool:
        """Wait until the server's own work has ended; False if it had not."""

    def defer_purge(self, copy: EngineTarget) -> AbstractContextManager[None]:
        """Keep the server from removing old row versions, which it does when it finds the time."""

    def totals(self, copy: EngineTarget) -> Totals:
        """Read the counters, once all sessions of the load have left."""

    def settings(self) -> dict[str, str]:
        """Read the server's settings on which counts depend."""


def open_work_counter(target: EngineTarget) -> AbstractContextManager[WorkCounter]:
    """Connect to a server to count its work.

    Raises:
        PlimsollError: The server is unreachable or refuses.
        UsageError: The family has no counts for each operation.
    """
    match target.protocol:
        case "mysql":
            from plimsoll.databases.mysql.counting import open_mysql_counter  # noqa: PLC0415

            return open_mysql_counter(target)
        case "postgres":
            from plimsoll.databases.postgres.counting import open_postgres_counter  # noqa: PLC0415

            return open_postgres_counter(target)
        case "cql":
            raise UsageError("the gate counts on MariaDB, MySQL and PostgreSQL, not on Cassandra")
        case _:
            assert_never(target.protocol)
