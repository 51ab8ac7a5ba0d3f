"""A closed queueing network of an operation's stations: throughput and time by the load.

Exact mean value analysis of one class (M. Reiser and S. S. Lavenberg, "Mean-Value Analysis of
Closed Multichain Queuing Networks", Journal of the ACM 27(2), 1980): who comes to a station finds
there what the same network with one customer less has there on average. Its throughput lies within
the asymptotic bounds N / R(1) and 1 / max(D) of Denning and Buzen (1978). Several processors are
one station as fast as all of them; what that leaves of an operation is no queue (A. Seidmann,
P. J. Schweitzer and S. Shalev-Shwartz, "Computerized Closed Queueing Network Models of Flexible
Manufacturing Systems", Large Scale Systems 12, 1987). A volume that is held to a rate serves more
evenly than the exponential servers that this assumes: it queues less, so that the throughput under
a given number of operations is rather more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LOAD_MOST = 20_000  # operations under way
FULL = 0.999  # of the bound: more of them bring no more


@dataclass(frozen=True)
class Point:
    """A network with so many operations under way."""

    load: int
    ops_per_second: float
    response_s: float


@dataclass(frozen=True)
class Network:
    """What an operation's time is made of.

    Attributes:
        alone_s: Its time while it is alone.
        demands_s: What it needs of each station at which operations queue; part of `alone_s`.
    """

    alone_s: float
    demands_s: tuple[float, ...]

    @property
    def bound_ops_per_second(self) -> float:
        """What the busiest station lets through, whatever the load; infinite where none queues."""
        most_s = max(self.demands_s, default=0.0)
        return 1 / most_s if most_s else float("inf")

    @property
    def full_ops_per_second(self) -> float:
        """From where on more operations under way count as bringing nothing."""
        return FULL * self.bound_ops_per_second

    def climb(self) -> Iterator[Point]:
        """Put one operation more under way at a time, until more bring nothing."""
        delay_s = max(0.0, self.alone_s - sum(self.demands_s))
        queues = [0.0] * len(self.demands_s)
        for load in range(1, LOAD_MOST + 1):
            times = [
                demand_s * (1 + queue)
                for demand_s, queue in zip(self.demands_s, queues, strict=True)
            ]
            response_s = delay_s + sum(times)
            rate = load / response_s
            queues = [rate * time_s for time_s in times]
            yield Point(load, rate, response_s)
            if rate >= self.full_ops_per_second:
                return

    def at(self, load: int) -> Point:
        """Give the point with so many under way, or the last one that brings more."""
        last = None
        for last in self.climb():
            if last.load >= load:
                break
        assert last is not None  # noqa: S101 - the first is always there
        return last


def alone_s(load: int, response_s: float, demands_s: Sequence[float]) -> float:
    """Give the time of an operation that is alone, where under a load it was seen to take longer.

    Args:
        load: Operations under way when that was seen.
        response_s: The time that it then took.
        demands_s: Of each station at which it queues.

    Returns:
        By bisection, at most `response_s`.
    """
    low, high = 0.0, response_s
    for _ in range(40):
        middle = (low + high) / 2
        queues = [0.0] * len(demands_s)
        delay_s = max(0.0, middle - sum(demands_s))
        seen_s = middle
        for number in range(1, load + 1):
            times = [d * (1 + q) for d, q in zip(demands_s, queues, strict=True)]
            seen_s = delay_s + sum(times)
            queues = [number / seen_s * time_s for time_s in times]
        low, high = (middle, high) if seen_s < response_s else (low, middle)
    return (low + high) / 2
