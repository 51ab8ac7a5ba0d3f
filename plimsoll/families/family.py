"""The families of databases behind one face: counters, what is left to work off, settling.

One module each: `plimsoll.families.mysql.counters` and `plimsoll.families.cassandra.counters`.
"""

from plimsoll.families.cassandra import counters as cassandra
from plimsoll.families.mysql import counters as mysql
from plimsoll.model.engine import EngineTarget
from plimsoll.model.fleet import ServerCounters
from plimsoll.model.results import ServerFigures


def read_counters(target: EngineTarget) -> ServerCounters | None:
    """Read the server's own counters; None where it does not answer."""
    return (
        mysql.read_counters(target)
        if target.protocol == "mysql"
        else cassandra.read_counters(target)
    )


def server_figures(
    before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
) -> ServerFigures:
    """Say what the server did between two readings of its counters."""
    if after.family == "mysql":
        return mysql.server_figures(before, after, statements_by_clients=statements_by_clients)
    return cassandra.server_figures(before, after, statements_by_clients=statements_by_clients)


def overloaded(now: ServerCounters) -> str | None:
    """Say what a target still has to work off after a load; None where nothing is left."""
    return mysql.overloaded(now) if now.family == "mysql" else cassandra.overloaded(now)


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until a server has worked off what loading a dataset left it to do.

    Returns:
        False where it had not after `longest_s`.
    """
    if target.protocol == "mysql":
        return mysql.settle(target, longest_s=longest_s)
    return cassandra.settle(target, longest_s=longest_s)
