"""Adding up what the clients of a step saw of each node of a cluster, as their results come.

The engine adds up the nodes' histograms, as it does those of operations.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.model.engine.answered import LatencySummary, NodeReport
from plimsoll.model.run.results import NodeTotals


@dataclass(slots=True)
class _Node:
    """One node's counts."""

    clients: int = 0
    ring_shares: float = 0.0
    succeeded: int = 0
    statements_sent: int = 0
    taken_over: int = 0
    lost: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, seen: NodeReport) -> None:
        self.clients += 1
        self.ring_shares += seen.ring_share
        self.succeeded += seen.succeeded
        self.statements_sent += seen.statements_sent
        self.taken_over += seen.taken_over
        self.lost += seen.lost
        self.errors.update(seen.errors)


@dataclass(slots=True)
class NodeSums:
    """The nodes so far; none for a target of one.

    They are told apart by their addresses: each client asks the cluster for itself.
    """

    _nodes: dict[str, _Node] = field(default_factory=dict)

    def add(self, seen: Iterable[NodeReport]) -> None:
        """Add what one client saw."""
        for node in seen:
            self._nodes.setdefault(node.address, _Node()).add(node)

    def totals(self, merged: Mapping[str, Any]) -> tuple[NodeTotals, ...]:
        """Give each node's sums over all clients, by address.

        Args:
            merged: What the engine gives of them (`Fold.nodes`).
        """
        return tuple(
            _totals(address, node, merged[address]) for address, node in sorted(self._nodes.items())
        )


def _totals(address: str, node: _Node, merged: Mapping[str, Any]) -> NodeTotals:
    return NodeTotals(
        address=address,
        ring_share=node.ring_shares / node.clients,
        succeeded=node.succeeded,
        errors=dict(node.errors),
        latency_us=LatencySummary.model_validate(merged["latency_us"]),
        histogram=merged["histogram"],
        statements_sent=node.statements_sent,
        taken_over=node.taken_over,
        lost=node.lost,
    )
