"""Networks in which the nodes of a cluster may be, none wider than a VPC, and a node's place.

A server reports the other nodes of its cluster, and could report any address. The load therefore
goes only to addresses in the networks that the request names. The engine checks this too
(`engine/src/spec/network.rs`).
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

_LEAST_PREFIX = {4: 16, 6: 56}


def require_network(text: str) -> str:
    """Return the network as it is written, if it is valid.

    Raises:
        ValueError: The text is not a network, or it is too wide; says what is allowed.
    """
    try:
        known = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is not a network; such as 10.0.1.0/24 or 10.0.1.7") from None
    least = _LEAST_PREFIX[known.version]
    if known.prefixlen < least:
        raise ValueError(f"{text!r} is wider than a VPC; allowed are /{least} and longer")
    return text


Network = Annotated[str, AfterValidator(require_network)]


def is_within(address: str, networks: Iterable[str]) -> bool:
    """Return whether an address is in one of the networks."""
    known = ipaddress.ip_address(address)
    return any(known in ipaddress.ip_network(one, strict=False) for one in networks)


# The place of an instance in its cluster, as its tags record it.


PLACE_TAG = "plimsoll:node"  # "2/3": the second of three nodes
SEED_TAG = "plimsoll:seed"  # address of the first node, which itself has no such tag


@dataclass(frozen=True)
class ClusterPlace:
    """The place of a node in its cluster.

    Attributes:
        number: number of the node, from 1.
        nodes: number of nodes in the cluster.
        seed: address of the first node; None if it is the first.
    """

    number: int = 1
    nodes: int = 1
    seed: str | None = None

    def __str__(self) -> str:
        """Return the place as its tag records it."""
        return f"{self.number}/{self.nodes}"

    @property
    def token(self) -> int:
        """The last token of its range, if all ranges are equally long (Murmur3Partitioner)."""
        return -(2**63) + self.number * 2**64 // self.nodes - 1


def read_place(tags: Mapping[str, str]) -> ClusterPlace:
    """Read the place of an instance from its tags; without a tag it is the only node."""
    if PLACE_TAG not in tags:
        return ClusterPlace()
    number, _, nodes = tags[PLACE_TAG].partition("/")
    return ClusterPlace(int(number), int(nodes), tags.get(SEED_TAG))
