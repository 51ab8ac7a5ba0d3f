"""Every node of a target's cluster, where it has several; their counters are one server's."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from plimsoll.families.cassandra.counters import GENERATION, is_gauge
from plimsoll.families.cassandra.session import CassandraSession
from plimsoll.model.engine import EngineTarget
from plimsoll.model.fleet import ServerCounters
from plimsoll.model.networks import within

_AGREEMENT_S = 10.0  # as the driver waits for it
_POLL_S = 0.1


@contextmanager
def sessions(target: EngineTarget) -> Iterator[list[CassandraSession]]:
    """Connect to each node that the load goes to, the target's own host first.

    Raises:
        PlimsollError: One of them cannot be reached, or refuses.
    """
    with ExitStack() as opened:
        first = opened.enter_context(CassandraSession(target))
        others = [
            opened.enter_context(CassandraSession(target.model_copy(update={"host": address})))
            for address in (_peers(first) if target.nodes else ())
        ]
        yield [first, *others]


def _peers(session: CassandraSession) -> list[str]:
    rows = session.execute("SELECT rpc_address FROM system.peers")
    told = sorted({str(address) for (address,) in rows if address is not None})
    return [address for address in told if within(address, session.target.nodes)]


def together(each: Sequence[ServerCounters]) -> ServerCounters:
    """Put the counters of all nodes together.

    Counts are added up, and generations, so that any node's new start is seen; of what is so at a
    moment the highest counts.
    """
    names = {name: None for one in each for name in one.values}
    values = {}
    for name in names:
        known = [one.values.get(name, 0) for one in each]
        values[name] = max(known) if is_gauge(name) and name != GENERATION else sum(known)
    return each[0].model_copy(update={"values": values})


def await_agreement(session: CassandraSession) -> None:
    """Wait until all nodes have the same schema, so that each knows a table that was just made.

    A node that is away tells nothing new: after some seconds it is waited for no more.
    """
    deadline = time.monotonic() + _AGREEMENT_S
    while time.monotonic() < deadline:
        rows = session.execute("SELECT schema_version FROM system.local")
        rows += session.execute("SELECT schema_version FROM system.peers")
        if len({version for (version,) in rows if version is not None}) <= 1:
            return
        time.sleep(_POLL_S)
