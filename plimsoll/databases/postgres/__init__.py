"""PostgreSQL: implements `plimsoll.databases.family.Family`.

The driver takes long to import and many runs do not need it, so it is imported where a connection
is made.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from plimsoll.databases.connecting import Pooler
from plimsoll.databases.postgres.counters import (
    find_unfinished_work,
    server_figures,
    signs_of_limits,
    storage_rates,
    waits,
    write_debt,
)
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import ServerCounters

if TYPE_CHECKING:
    from plimsoll.databases.postgres.datasets import PostgresDatasets

__all__ = [
    "await_ready",
    "find_pooler",
    "find_unfinished_work",
    "make_load_user",
    "make_schema",
    "open_datasets",
    "read_counters",
    "read_parameters",
    "server_figures",
    "settle",
    "signs_of_limits",
    "storage_rates",
    "waits",
    "write_debt",
]


def open_datasets(target: EngineTarget) -> AbstractContextManager["PostgresDatasets"]:
    """Connect to a target's database; disconnect at the end of the `with`.

    Raises:
        PlimsollError: The server is unreachable or refuses; one line, without the password.
    """
    from plimsoll.databases.postgres import datasets  # noqa: PLC0415 - see above

    return datasets.open_datasets(target)


def find_pooler(target: EngineTarget) -> Pooler | None:
    """Return the pooler or proxy that answers at a server's address; None if there is none.

    Raises:
        PlimsollError: The server is unreachable or refuses the login.
    """
    from plimsoll.databases.postgres import session  # noqa: PLC0415 - see above

    return session.find_pooler(target)


def await_ready(target: EngineTarget) -> None:
    """Do nothing: a server that has started is ready."""


def make_load_user(master: EngineTarget, run_id: str) -> str:
    """Create the user as which a run's load connects; return its name.

    Raises:
        PlimsollError: The server refuses.
    """
    from plimsoll.databases.postgres import session  # noqa: PLC0415 - see above

    return session.make_load_user(master, run_id)


def make_schema(master: EngineTarget, owner: EngineTarget, statements: Sequence[str]) -> None:
    """Send a schema's statements as the user who owns what they make.

    Raises:
        PlimsollError: The server refuses a statement; names it.
    """
    from plimsoll.databases.postgres import session  # noqa: PLC0415 - see above

    session.make_schema(master, owner, statements)


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until autovacuum has ended and a checkpoint has written what loading changed.

    Returns:
        False if they had not ended after `longest_s` seconds.

    Raises:
        PlimsollError: The server cannot be reached.
    """
    from plimsoll.databases.postgres import watching  # noqa: PLC0415 - see above

    return watching.settle(target, longest_s=longest_s)


def read_counters(target: EngineTarget) -> ServerCounters | None:
    """Read the server's own counters; None if it does not answer."""
    from plimsoll.databases.postgres import counters  # noqa: PLC0415 - see above

    return counters.read_counters(target)


def read_parameters(target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
    """Read engine parameters; leave out unknown ones, and all if the server does not answer."""
    from plimsoll.databases.postgres import session  # noqa: PLC0415 - see above

    return session.read_parameters(target, names)
