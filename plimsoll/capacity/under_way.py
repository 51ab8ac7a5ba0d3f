"""How many operations a step kept under way, by Little's law: throughput x mean latency."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.model.steps import Step


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The mean number of operations under way: one figure, or the range of what it may be."""

    least: float
    most: float
    least_mean_us: float  # the mean latencies that they come from
    most_mean_us: float
    shares: str | None  # what the operations are weighed by, in words; None: their shares are open


def under_way(step: Step) -> UnderWay | None:
    """Little (1961): the mean number in a system is the arrival rate x the mean time in it.

    Where nothing says how the throughput divides among the operations, it is a range: all
    operations may have been of the fastest kind, or of the slowest.

    Returns:
        None where the throughput, or the mean latency of an operation, is not known.
    """
    means = {name: values["mean"] for name, values in step.latency_us.items() if "mean" in values}
    throughput = step.throughput_ops_per_second
    if throughput is None or not means or len(means) < len(step.latency_us):
        return None
    known = weights_of(step, means)
    if known is None:
        least_us, most_us, shares = min(means.values()), max(means.values()), None
    else:
        weights, shares = known
        least_us = most_us = sum(weights[name] * mean for name, mean in means.items())
    return UnderWay(
        throughput * least_us / 1e6, throughput * most_us / 1e6, least_us, most_us, shares
    )


def weights_of(step: Step, operations: Mapping[str, object]) -> tuple[dict[str, float], str] | None:
    """Weigh operations by their part of the throughput.

    Returns:
        The weight of each operation, and what the weights come from, in words. None where nothing
        tells them.
    """
    if operations and all(name in step.shares for name in operations):
        return {name: step.shares[name] for name in operations}, "weighed by their shares"
    total = sum(step.operation_counts.get(name, 0) for name in operations)
    if total and all(name in step.operation_counts for name in operations):
        counts = step.operation_counts
        return {name: counts[name] / total for name in operations}, "weighed by operation counts"
    if len(operations) == 1:
        return dict.fromkeys(operations, 1.0), "one operation"
    return None
