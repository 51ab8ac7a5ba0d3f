"""The place of an instance in its cluster, as its tags tell it."""

from collections.abc import Mapping
from dataclasses import dataclass

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
