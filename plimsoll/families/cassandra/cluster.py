"""Every node of a target's cluster, where it has several; their counters are one server's."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.families.cassandra.counters import GENERATION, is_gauge
from plimsoll.families.cassandra.session import CassandraSession
from plimsoll.model.engine import EngineTarget
from plimsoll.model.fleet import ServerCounters
from plimsoll.model.networks import within

_RING_S = 120.0  # until all nodes of a cluster are one, once each of them listens
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


def await_ring(target: EngineTarget, *, nodes: int, longest_s: float = _RING_S) -> None:
    """Wait until a cluster is whole: each node answers, and knows the others' ranges and schema.

    Args:
        target: One node, and the addresses of further ones.
        nodes: How many there are in all.
        longest_s: How long that may take.

    Raises:
        PlimsollError: It is not whole by then.
    """
    hosts = (target.host, *target.nodes)
    deadline = time.monotonic() + longest_s
    while (lacking := _lacking(target, hosts, nodes)) is not None:
        if time.monotonic() >= deadline:
            waited = words.duration(longest_s)
            raise PlimsollError(f"after {waited} the cluster is not whole: {lacking}")
        time.sleep(_POLL_S)


def _lacking(target: EngineTarget, hosts: Sequence[str], nodes: int) -> str | None:
    """Say what a cluster lacks; None where it is whole."""
    schemas: set[object] = set()
    for host in hosts:
        try:
            with CassandraSession(target.model_copy(update={"host": host})) as session:
                peers = session.execute("SELECT tokens FROM system.peers_v2")
                schemas |= _schemas(session)
        except PlimsollError as error:
            return str(error)
        if (known := 1 + sum(bool(tokens) for (tokens,) in peers)) < nodes:
            return f"{host} knows {known} of {nodes} nodes"
    return "its nodes have different schemas" if len(schemas) > 1 else None


def _schemas(session: CassandraSession) -> set[object]:
    """Give the versions of the schema that a node knows of: its own, and its peers'."""
    rows = session.execute("SELECT schema_version FROM system.local")
    rows += session.execute("SELECT schema_version FROM system.peers")
    return {version for (version,) in rows if version is not None}


def await_agreement(session: CassandraSession) -> None:
    """Wait until all nodes have the same schema, so that each knows a table that was just made.

    A node that is away tells nothing new: after some seconds it is waited for no more.
    """
    deadline = time.monotonic() + _AGREEMENT_S
    while time.monotonic() < deadline:
        if len(_schemas(session)) <= 1:
            return
        time.sleep(_POLL_S)
