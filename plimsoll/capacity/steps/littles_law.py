"""The audit by Little's law: concurrent operations cannot exceed the connections."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.judging.capacity import Audit
from plimsoll.model.judging.steps import Step

# --- concurrent operations: throughput x mean latency ---


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The mean number of concurrent operations, or a range if it is not exactly known."""

    least: float
    most: float
    least_mean_us: float  # mean latencies that the numbers are computed from
    most_mean_us: float
    # Source of the operations' weights, in words; None if their shares are unknown
    shares: str | None


def compute_concurrent_operations(step: Step) -> UnderWay | None:
    """Return the concurrent operations by Little's law (1961): arrival rate x mean latency.

    If the shares of the operations are unknown, the result is a range: all operations may have been
    of the fastest kind, or of the slowest.

    Returns:
        None if the throughput, or the mean latency of an operation, is unknown.
    """
    means = {name: values["mean"] for name, values in step.latency_us.items() if "mean" in values}
    throughput = step.throughput_ops_per_second
    if throughput is None or not means or len(means) < len(step.latency_us):
        return None
    known = weigh_operations(step, means)
    if known is None:
        least_us, most_us, shares = min(means.values()), max(means.values()), None
    else:
        weights, shares = known
        least_us = most_us = sum(weights[name] * mean for name, mean in means.items())
    return UnderWay(
        throughput * least_us / 1e6, throughput * most_us / 1e6, least_us, most_us, shares
    )


def weigh_operations(
    step: Step, operations: Mapping[str, object]
) -> tuple[dict[str, float], str] | None:
    """Return the weights of operations: their shares of the throughput.

    Returns:
        The weight of each operation, and the source of the weights in words. None if they are
        unknown.
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


def audit_littles_law(step: Step, factor: float) -> Audit:
    """Check throughput x mean latency <= connections x `factor` (Little 1961).

    In a closed loop, no more operations are concurrent than there are connections; `factor` allows
    for rounded figures. The law does not apply to an open loop, whose latency counts from the due
    time and includes the wait for a connection. An operation that began before the window counts in
    it with its whole latency, so each connection may have been busy for the window plus the longest
    latency. With a lock of 300 ms that all wait for, a window of 2 s shows 9 operations on 8
    connections. If the operations' shares are unknown, it fails only if no shares could explain the
    figures.
    """
    found = compute_concurrent_operations(step)
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
        return _make_undecided(" and ".join(lacks))
    begun_before = _estimate_begun_before_window(step)
    allowed = step.connections * factor * (1 + begun_before)
    if found.least <= allowed < found.most:
        return _make_undecided(
            f"the operations' shares: {words.format_three_figures(found.least)} to"
            f" {words.format_three_figures(found.most)} concurrent operations,"
            f" {words.format_count(step.connections, 'connection')}",
        )
    passed = found.most <= allowed
    busy, mean_us = (
        (found.most, found.most_mean_us) if passed else (found.least, found.least_mean_us)
    )
    bound = "" if found.shares else "at most " if passed else "at least "
    needed = passed and busy > step.connections * factor
    more = f"; up to {words.format_percent(begun_before)} more that started before the window"
    return Audit(
        name="littles_law",
        passed=passed,
        detail=f"{words.format_throughput(step.throughput_ops_per_second)} x"
        f" {words.format_latency(mean_us)} ="
        f" {bound}{words.format_three_figures(busy)} concurrent operations,"
        f" {words.format_count(step.connections, 'connection')}"
        f" ({found.shares or 'for any shares'}){more if needed else ''}",
    )


def _estimate_begun_before_window(step: Step) -> float:
    """Return the most that operations begun before the window add to it; 0 if unknown."""
    longest_us = [values.get("max") for values in step.latency_us.values()]
    known = [longest for longest in longest_us if longest is not None]
    if step.window_s is None or len(known) < len(longest_us):
        return 0.0
    return max(known, default=0.0) / 1e6 / step.window_s


def _make_undecided(lacks: str) -> Audit:
    return Audit(name="littles_law", passed=None, detail=f"needs {lacks}")
