"""A limit that each node of a cluster has for itself: how many are at theirs, and the nearest."""

from collections.abc import Callable
from dataclasses import replace

from plimsoll.model.results import Candidate, NodeTotals
from plimsoll.runs.limits.seen import Seen

Resource = Callable[[Seen], Candidate | None]


def of_nodes(resource: Resource, name: str) -> Resource:
    """Look at a limit on each node.

    Args:
        resource: The limit of one node.
        name: What the nodes are at: `IOPS`.

    Returns:
        The same limit, of all nodes; of a target without several it is the limit itself.
    """

    def of_all(seen: Seen) -> Candidate | None:
        each = [resource(_at(seen, node)) for node in seen.step.nodes if node.target is not None]
        found = [one for one in each if one is not None]
        if not found:  # all volumes' I/O together is nothing beside one volume's promise
            return None if seen.step.nodes else resource(seen)
        nearest = max(found, key=lambda one: (one.reached, (one.share or 0.0) / one.threshold))
        reached, nodes = sum(one.reached for one in found), len(seen.step.nodes)
        said = f"{reached} of {nodes} nodes at their {name}, the nearest with "
        return nearest.model_copy(
            update={
                "evidence": said + nearest.evidence,
                "to_change": f"on each node: {nearest.to_change}",
            }
        )

    return of_all


def _at(seen: Seen, node: NodeTotals) -> Seen:
    """Look at one node alone: at its volume, and at the operations that went to it."""
    all_of_them = sum(one.succeeded for one in seen.step.nodes)
    of_all = seen.step.step.throughput_ops_per_second
    own = of_all * node.succeeded / all_of_them if of_all and all_of_them else None
    step = seen.step.step.model_copy(update={"throughput_ops_per_second": own})
    return replace(seen, step=seen.step.model_copy(update={"target": node.target, "step": step}))
