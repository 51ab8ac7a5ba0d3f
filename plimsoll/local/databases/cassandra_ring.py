"""Several nodes of Cassandra on this machine: their ranges, and waiting until they are one."""

import time

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.model.cassandra_target import CQL_PORT, KEYSPACE
from plimsoll.model.cluster_place import ClusterPlace
from plimsoll.model.engine import EngineTarget

_LONGEST_S = 120.0
_POLL_S = 0.25


def ring_settings(place: ClusterPlace) -> dict[str, object]:
    """Give a node its range, as long as every other's; nothing where it is alone.

    There are no rows yet when it joins, so that it has none to fetch from the others.
    """
    if place.nodes == 1:
        return {}
    return {
        "num_tokens": 1,
        "initial_token": str(place.token),
        "auto_bootstrap": False,
        # nodes that share two cores answer late, and are not away for that
        "phi_convict_threshold": 12,
    }


def await_peers(seed: str, peers: int, *, longest_s: float = _LONGEST_S) -> None:
    """Wait until a cluster's first node knows so many others, with their tokens.

    Args:
        seed: Its address.
        peers: How many others there are.
        longest_s: How long that may take.

    Raises:
        PlimsollError: It does not know them by then, or does not answer.
    """
    from plimsoll.families.cassandra.session import CassandraSession  # noqa: PLC0415 - its driver is slow to import

    target = EngineTarget(
        protocol="cql", host=seed, port=CQL_PORT, user="", password="", database=KEYSPACE
    )
    deadline = time.monotonic() + longest_s
    with CassandraSession(target) as session:
        while True:
            known = session.execute("SELECT tokens FROM system.peers_v2")
            if sum(bool(tokens) for (tokens,) in known) >= peers:
                return
            if time.monotonic() >= deadline:
                waited = words.duration(longest_s)
                raise PlimsollError(
                    f"after {waited} the first node of the cluster knows {len(known)} of"
                    f" {words.plural(peers, 'other')}"
                )
            time.sleep(_POLL_S)
