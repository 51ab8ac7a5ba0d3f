"""Where the nodes of a cluster may be: networks of addresses, none wider than a VPC.

A server tells of its cluster's other nodes, and may tell of anything. So the load goes to no
address that whoever asked for it has not named. The engine checks it, too
(`engine/src/spec/network.rs`).
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

_LEAST_PREFIX = {4: 16, 6: 56}


def network(text: str) -> str:
    """Give a network as it is written.

    Raises:
        ValueError: It is none, or too wide; says what is allowed.
    """
    try:
        known = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is no network; such as 10.0.1.0/24 or 10.0.1.7") from None
    least = _LEAST_PREFIX[known.version]
    if known.prefixlen < least:
        raise ValueError(f"{text!r} is wider than a VPC; allowed are /{least} and longer")
    return text


Network = Annotated[str, AfterValidator(network)]


def within(address: str, networks: Iterable[str]) -> bool:
    """Say whether an address is in one of some networks."""
    known = ipaddress.ip_address(address)
    return any(known in ipaddress.ip_network(one, strict=False) for one in networks)


# The place of an instance in its cluster, as its tags tell it.


PLACE_TAG = "plimsoll:node"  # such as `2/3`
SEED_TAG = "plimsoll:seed"  # the first node's address; the first has none


@dataclass(frozen=True)
class ClusterPlace:
    """Which node of how many.

    Attributes:
        number: Of the node, from 1.
        nodes: How many there are.
        seed: The first node's address; None: it is the first.
    """

    number: int = 1
    nodes: int = 1
    seed: str | None = None

    def __str__(self) -> str:
        """Give it as the tag has it."""
        return f"{self.number}/{self.nodes}"

    @property
    def token(self) -> int:
        """The end of its range, where all have ranges of one length (Murmur3Partitioner)."""
        return -(2**63) + self.number * 2**64 // self.nodes - 1


def place_of(tags: Mapping[str, str]) -> ClusterPlace:
    """Read an instance's place from its tags; without one it is alone."""
    if PLACE_TAG not in tags:
        return ClusterPlace()
    number, _, nodes = tags[PLACE_TAG].partition("/")
    return ClusterPlace(int(number), int(nodes), tags.get(SEED_TAG))
