"""The step that shows the limit, with everything measured in it; and limits of single nodes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from plimsoll.capacity.steps.littles_law import weigh_operations
from plimsoll.databases.family import find_family
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.steps import TargetFigures
from plimsoll.model.run.results import Candidate, NodeTotals, ServerWaits, StepResult

NOTHING_KNOWN = TargetFigures(period_s=0, points=0)
SCATTER = 0.25  # share of the concurrent operations


@dataclass(frozen=True)
class Seen:
    """A step and the figures to compare it with.

    Attributes:
        step: step that shows the limit.
        volume: limits of the target's volume; None if unknown.
        lightest: a step of the lightest load.
    """

    step: StepResult
    volume: VolumeLimits | None
    lightest: StepResult | None = None

    @property
    def target(self) -> TargetFigures:
        """CloudWatch's figures; None for a metric without a data point."""
        return self.step.target or NOTHING_KNOWN

    @property
    def waits(self) -> ServerWaits:
        """The server's wait statistics."""
        before, server = self.step.plan.server_before, self.step.server
        if before is None or server is None or server.restarted:
            return ServerWaits()
        return find_family(before.family).waits(server)

    @property
    def load_s(self) -> float:
        """Length of the load in seconds, including warm-up: the interval of the counters."""
        return self.step.plan.warmup_s + self.step.plan.duration_s

    @property
    def operations_per_second(self) -> float | None:
        """Successful operations per second; None if there were none."""
        return self.step.step.throughput_ops_per_second or None

    @property
    def under_way(self) -> float:
        """The mean number of concurrent operations by Little's law; at most the connections."""
        connections = float(self.step.plan.connections)
        return min(connections, self._estimate_concurrency_with(self.step) or connections)

    @property
    def added_by_load(self) -> float:
        """The concurrent operations beyond those expected at the lightest load's latencies.

        At least a quarter of all: a smaller part is within the scatter of latencies.
        """
        if self.lightest is None or self.lightest.plan.index == self.step.plan.index:
            return self.under_way
        at_rest = self._estimate_concurrency_with(self.lightest) or 0.0
        return max(self.under_way - at_rest, self.under_way * SCATTER)

    def _estimate_concurrency_with(self, other: StepResult) -> float | None:
        """Return the concurrent operations at this throughput with another step's latencies."""
        step, latency_us = self.step.step, other.step.latency_us
        means = {name: one["mean"] for name, one in latency_us.items() if "mean" in one}
        weighed = weigh_operations(step, means)
        if step.throughput_ops_per_second is None or weighed is None:
            return None
        mean_us = sum(weighed[0][name] * mean for name, mean in means.items())
        return step.throughput_ops_per_second * mean_us / 1e6

    @property
    def lacks_devices(self) -> bool:
        """Whether neither the server's CPU time nor the limits of its volume are known."""
        return self.target.cpu_percent is None and self.volume is None

    def divide_by_throughput(self, per_second: float) -> float | None:
        """Return an amount per operation, from an amount per second."""
        return None if not self.operations_per_second else per_second / self.operations_per_second


# --- limits that each node of a cluster has: number of nodes at the limit, and the nearest ---


Resource = Callable[[Seen], Candidate | None]


def judge_each_node(resource: Resource, name: str) -> Resource:
    """Return a limit that is checked on each node.

    Args:
        resource: function that returns the limit of one node.
        name: what the nodes are at the limit of: `IOPS`.

    Returns:
        The limit of all nodes. For a target with a single node, the limit itself.
    """

    def of_all(seen: Seen) -> Candidate | None:
        each = [
            resource(_see_node(seen, node)) for node in seen.step.nodes if node.target is not None
        ]
        found = [one for one in each if one is not None]
        if not found:  # the sum over all volumes cannot be compared with the limit of one volume
            return None if seen.step.nodes else resource(seen)
        nearest = max(found, key=lambda one: (one.reached, (one.share or 0.0) / one.threshold))
        reached, nodes = sum(one.reached for one in found), len(seen.step.nodes)
        said = f"{reached} of {nodes} nodes at the limit of their {name}; closest: "
        return nearest.model_copy(
            update={
                "evidence": said + nearest.evidence,
                "to_change": f"on each node: {nearest.to_change}",
            }
        )

    return of_all


def _see_node(seen: Seen, node: NodeTotals) -> Seen:
    """Return one node as a step of its own: its volume, and the operations sent to it."""
    all_of_them = sum(one.succeeded for one in seen.step.nodes)
    of_all = seen.step.step.throughput_ops_per_second
    own = of_all * node.succeeded / all_of_them if of_all and all_of_them else None
    step = seen.step.step.model_copy(update={"throughput_ops_per_second": own})
    return replace(seen, step=seen.step.model_copy(update={"target": node.target, "step": step}))
