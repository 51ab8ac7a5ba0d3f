"""Cassandra: implements `plimsoll.databases.family.Family`.

The driver takes long to import and most runs do not need it, so it is imported where a connection
is made.
"""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from plimsoll.databases.cassandra import counters
from plimsoll.databases.cassandra.counters import (
    find_unfinished_work,
    server_figures,
    signs_of_limits,
    storage_rates,
    waits,
    write_debt,
)
from plimsoll.databases.connecting import use_connection
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import ServerCounters

if TYPE_CHECKING:
    from plimsoll.databases.cassandra.datasets import CassandraDatasets
    from plimsoll.databases.cassandra.session import CassandraSession

__all__ = [
    "await_ready",
    "find_pooler",
    "find_unfinished_work",
    "make_load_user",
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

_POLL_S = 0.5


def open_datasets(target: EngineTarget) -> AbstractContextManager["CassandraDatasets"]:
    """Connect to a target's node; disconnect at the end of the `with`.

    Raises:
        PlimsollError: The server is unreachable or refuses; one line, without the password.
    """
    from plimsoll.databases.cassandra.datasets import CassandraDatasets  # noqa: PLC0415 - see above

    return use_connection(CassandraDatasets(_connect(target)))


def await_ready(target: EngineTarget) -> None:
    """Wait until all nodes have formed one cluster; `nodes` holds all addresses but the first.

    Raises:
        PlimsollError: They have not after some minutes.
    """
    if target.nodes:
        from plimsoll.databases.cassandra.session import await_ring  # noqa: PLC0415 - see above

        await_ring(target, nodes=1 + len(target.nodes))


def read_counters(target: EngineTarget) -> ServerCounters | None:
    """Read the sum of every node's counters; None if one does not answer."""
    from plimsoll.databases.cassandra.session import sessions  # noqa: PLC0415 - see above

    try:
        with sessions(target) as opened:
            return _read_all_nodes(opened)
    except PlimsollError:
        return None


def read_parameters(target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
    """Return nothing: no parameter of Cassandra can be toggled."""
    del target, names
    return {}


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until flushes and compactions of the loaded rows are done.

    Returns:
        False if they were not after `longest_s` seconds.

    Raises:
        PlimsollError: A node does not answer.
    """
    from plimsoll.databases.cassandra.session import sessions  # noqa: PLC0415 - see above

    deadline = time.monotonic() + longest_s
    quiet = 0
    with sessions(target) as opened:
        # two quiet looks: a flush ends before the compaction that it causes begins
        while quiet < 2:
            busy = find_unfinished_work(_read_all_nodes(opened))
            quiet = 0 if busy else quiet + 1
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
    return True


def find_pooler(target: EngineTarget) -> None:
    """Find no pooler: nothing of that kind is known for CQL."""


def make_load_user(master: EngineTarget, run_id: str) -> None:
    """Create no user: a run's Cassandra has no passwords, and only its load clients reach it."""


def _read_all_nodes(sessions: Sequence["CassandraSession"]) -> ServerCounters:
    from plimsoll.databases.cassandra.session import combine_counters  # noqa: PLC0415 - see above

    return combine_counters(
        [counters.read_node_counters(one.execute, one.target.database) for one in sessions]
    )


def _connect(target: EngineTarget) -> "CassandraSession":
    from plimsoll.databases.cassandra.session import CassandraSession  # noqa: PLC0415 - see above

    return CassandraSession(target)
