"""Merging what the clients of a step saw of each node of a cluster."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import plimsoll_engine
from plimsoll.model.engine_report import LatencySummary, LoadReport, NodeReport
from plimsoll.model.results import NodeTotals


def node_totals(reports: Sequence[LoadReport]) -> tuple[NodeTotals, ...]:
    """Add up each node over all clients, and merge its histograms; none for a target of one.

    Nodes are told apart by their addresses: each client asks the cluster for itself.
    """
    parts: dict[str, list[NodeReport]] = defaultdict(list)
    for report in reports:
        for node in report.nodes:
            parts[node.address].append(node)
    return tuple(_totals(parts[address]) for address in sorted(parts))


def _totals(parts: Sequence[NodeReport]) -> NodeTotals:
    histogram = plimsoll_engine.merge_histograms([part.histogram for part in parts])
    errors: Counter[str] = Counter()
    for part in parts:
        errors.update(part.errors)
    return NodeTotals(
        address=parts[0].address,
        ring_share=sum(part.ring_share for part in parts) / len(parts),
        succeeded=sum(part.succeeded for part in parts),
        errors=dict(errors),
        latency_us=LatencySummary.model_validate_json(plimsoll_engine.histogram_summary(histogram)),
        histogram=histogram,
        statements_sent=sum(part.statements_sent for part in parts),
        taken_over=sum(part.taken_over for part in parts),
        lost=sum(part.lost for part in parts),
    )
