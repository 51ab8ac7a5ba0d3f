"""Samples of what a server does at one moment of a load.

This module imports no family, because load clients use it and their package holds only the smallest
of the families' drivers.
"""

from contextlib import AbstractContextManager
from typing import Protocol, assert_never

from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import ServerLook


class Watcher(Protocol):
    """Samples what a server does."""

    def look(self) -> ServerLook:
        """Sample what the server does now.

        Raises:
            PlimsollError: The server does not answer, or refuses.
        """

    def cut_off(self) -> None:
        """Abort a sample that takes too long; called from another thread."""


def open_watcher(target: EngineTarget) -> AbstractContextManager[Watcher] | None:
    """Connect to sample a server under load; None if its family shows nothing of the moment.

    Cassandra's virtual tables have totals only, not what waits now.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    match target.protocol:
        case "mysql":
            # Imported here, since few of a step's clients sample and the others start faster
            # without it.
            from plimsoll.databases.mysql.watching import open_mysql_watcher  # noqa: PLC0415

            return open_mysql_watcher(target)
        case "postgres":
            from plimsoll.databases.postgres.watching import open_postgres_watcher as watch_postgres  # noqa: PLC0415

            return watch_postgres(target)
        case "cql":
            return None
        case _:
            assert_never(target.protocol)
