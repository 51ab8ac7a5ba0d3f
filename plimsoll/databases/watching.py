"""Looking at a server while a load is under way: what each family shows of that moment.

Apart from the families themselves, because load clients look, and their package holds no more than
they need: of the families' drivers, one that is small.
"""

from contextlib import AbstractContextManager
from typing import Protocol, assert_never

from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import ServerLook


class Watcher(Protocol):
    """Looks at a server."""

    def look(self) -> ServerLook:
        """Say what the server does now.

        Raises:
            PlimsollError: It does not answer, or refuses.
        """

    def cut_off(self) -> None:
        """End a look that takes too long, from another thread."""


def open_watcher(target: EngineTarget) -> AbstractContextManager[Watcher] | None:
    """Connect to look at a server under load; None for a family that shows nothing so.

    Cassandra's virtual tables tell what was done in all, not what waits now.

    Raises:
        PlimsollError: It cannot be reached or refuses.
    """
    match target.protocol:
        case "mysql":
            # few of a step's clients look, and the others start sooner without
            from plimsoll.databases.mysql.watching import watch  # noqa: PLC0415

            return watch(target)
        case "postgres":
            from plimsoll.databases.postgres.watching import watch as watch_postgres  # noqa: PLC0415

            return watch_postgres(target)
        case "cql":
            return None
        case _:
            assert_never(target.protocol)
