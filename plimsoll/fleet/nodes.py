"""Adds up what the clients of a step measured on each node of a cluster.

The engine adds up the histograms, as it does for operations.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.model.engine.answered import LatencySummary, NodeReport
from plimsoll.model.run.results import NodeTotals


@dataclass(slots=True)
class _Node:
    """The counts of one node."""

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
    """The sums of each node so far; empty for a target with one node.

    Nodes are identified by address: each client discovers the cluster by itself.
    """

    _nodes: dict[str, _Node] = field(default_factory=dict)

    def add(self, seen: Iterable[NodeReport]) -> None:
        """Add one client's figures."""
        for node in seen:
            self._nodes.setdefault(node.address, _Node()).add(node)

    def totals(self, merged: Mapping[str, Any]) -> tuple[NodeTotals, ...]:
        """Return each node's totals over all clients, sorted by address.

        Args:
            merged: The merged histograms of the engine (`Fold.nodes`).
        """
        return tuple(
            _make_totals(address, node, merged[address])
            for address, node in sorted(self._nodes.items())
        )


def _make_totals(address: str, node: _Node, merged: Mapping[str, Any]) -> NodeTotals:
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
