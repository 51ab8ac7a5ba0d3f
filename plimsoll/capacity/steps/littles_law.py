"""The audit by Little's law: no more operations are under way than there are connections."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.judging.capacity import Audit
from plimsoll.model.judging.steps import Step

# How many operations a step kept under way, by Little's law: throughput x mean latency.


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


def littles_law(step: Step, factor: float) -> Audit:
    """Little (1961): the mean number in a system is the arrival rate x the mean time in it.

    In a closed loop no more operations are under way than there are connections, so throughput x
    mean latency <= connections; `factor` allows for the rounding of published figures. It does not
    hold for an open loop, whose latency counts from the due time, with the wait for a connection.
    An operation that began before the window counts in it with its whole latency, so that each
    connection may have been busy for the window and the longest latency: where all wait for one
    lock of 300 ms, a window of 2 s shows 9 operations on 8 connections.
    Where the operations' shares are not known, it disputes only what no shares could explain.
    """
    found = under_way(step)
    lacks = tuple(
        what
        for what, lacking in (
            ("a closed loop", step.rate_ops_per_second is not None),
            ("connections", step.connections is None),
            ("throughput", step.throughput_ops_per_second is None),
            ("the mean latency of every operation", found is None),
        )
        if lacking
    )
    if lacks or found is None or step.connections is None:
        return _undecided(" and ".join(lacks))
    begun_before = _begun_before(step)
    allowed = step.connections * factor * (1 + begun_before)
    if found.least <= allowed < found.most:
        return _undecided(
            f"the operations' shares: {words.three_figures(found.least)} to"
            f" {words.three_figures(found.most)} operations under way,"
            f" {words.plural(step.connections, 'connection')}",
        )
    passed = found.most <= allowed
    busy, mean_us = (
        (found.most, found.most_mean_us) if passed else (found.least, found.least_mean_us)
    )
    bound = "" if found.shares else "at most " if passed else "at least "
    needed = passed and busy > step.connections * factor
    more = f"; up to {words.percent(begun_before)} more, begun before the window"
    return Audit(
        name="littles_law",
        passed=passed,
        detail=f"{words.throughput(step.throughput_ops_per_second)} x {words.latency(mean_us)}"
        f" = {bound}{words.three_figures(busy)} operations under way,"
        f" {words.plural(step.connections, 'connection')}"
        f" ({found.shares or 'whatever the shares'}){more if needed else ''}",
    )


def _begun_before(step: Step) -> float:
    """The most by which operations begun before the window add to it; 0 where it is not known."""
    longest_us = [values.get("max") for values in step.latency_us.values()]
    known = [longest for longest in longest_us if longest is not None]
    if step.window_s is None or len(known) < len(longest_us):
        return 0.0
    return max(known, default=0.0) / 1e6 / step.window_s


def _undecided(lacks: str) -> Audit:
    return Audit(name="littles_law", passed=None, detail=f"needs {lacks}")
