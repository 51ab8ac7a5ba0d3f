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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.capacity.statistics.intervals import t_quantile
from plimsoll.model.base import Model

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


# From the mean time of all operations to the latency that a limit is of.


Sample = tuple[float, float]  # how much is going on; the statistic of the latency then
ALIKE = 1.05  # times as much going on: up to here steps are repetitions of one another


@dataclass(frozen=True)
class Tail:
    """A latency by how much is going on: times longer than alone, or under way; never falling.

    Attributes:
        samples: Ascending in how much is going on, never falling in latency.
    """

    samples: tuple[Sample, ...]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Tail":
        """Make one of what was seen: repetitions are averaged, and neighbors where a latency falls.

        The nearest rising line by least squares (M. Ayer et al., "An Empirical Distribution
        Function for Sampling with Incomplete Information", Annals of Mathematical Statistics
        26(4), 1955).
        """
        blocks: list[tuple[float, list[float]]] = []  # mean, the samples that share it
        for much, latency in _repeated(samples):
            blocks.append((latency, [much]))
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                (low, some), (high, more) = blocks[-2:]
                whole = (low * len(some) + high * len(more)) / (len(some) + len(more))
                blocks[-2:] = [(whole, some + more)]
        return cls(tuple((much, mean) for mean, each in blocks for much in each))

    def at(self, much: float) -> float:
        """Give the latency, as the samples have it; beyond what was seen in proportion."""
        (first, lowest), (last, highest) = self.samples[0], self.samples[-1]
        if much >= last:
            return highest * much / last
        if much <= first:
            return lowest
        for (left, low), (right, high) in pairwise(self.samples):
            if much <= right:
                return low + (much - left) / (right - left) * (high - low)
        raise AssertionError  # one of the samples is the last


def _repeated(samples: Sequence[Sample]) -> list[Sample]:
    """Make one sample, their mean, of those with as much going on; ascending."""
    alike: list[list[Sample]] = []
    for sample in sorted(samples):
        if alike and sample[0] <= ALIKE * alike[-1][0][0]:
            alike[-1].append(sample)
        else:
            alike.append([sample])
    return [(fmean(much for much, _ in some), fmean(us for _, us in some)) for some in alike]


# A quantity that is not known exactly, as three figures.


End = Literal["low", "mid", "high"]
WORSE: dict[End, End] = {"low": "high", "mid": "mid", "high": "low"}
LEAST_SPREAD = 0.05  # a mean of one run, as a share of it: other steps differ by so much at least
RUNS_SPREAD = (
    0.1  # the line of one run, likewise: other runs of the same differ by so much at least
)
FEW_SPREAD = 0.15  # of one or two observations, whose scatter nobody knows


class Guess(Model):
    """What something is held to be, and between what it surely lies."""

    low: Annotated[float, Field(ge=0)]
    mid: Annotated[float, Field(ge=0)]
    high: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.mid <= self.high:
            raise ValueError(f"{self.low}, {self.mid}, {self.high} are not in order")
        return self

    @classmethod
    def sure(cls, value: float) -> Self:
        """Make one of what is known."""
        return cls(low=value, mid=value, high=value)

    @classmethod
    def within(cls, value: float, factor: float) -> Self:
        """Make one of a value that may be so many times smaller or larger."""
        return cls(low=value / factor, mid=value, high=value * factor)

    def at(self, end: End) -> float:
        """Give one of the three."""
        value: float = getattr(self, end)
        return value

    def cost(self, end: End) -> float:
        """Give it as what a load costs: the most of it for the low end of what is predicted."""
        return self.at(WORSE[end])

    def times(self, factor: float) -> "Guess":
        """Multiply it by what is known."""
        return Guess(low=self.low * factor, mid=self.mid * factor, high=self.high * factor)


# How what an operation takes changes with the load: group commit, coalesced pages, fewer wakings.


BEYOND = 4.0  # times the heaviest load that was measured: so far it may go on falling


@dataclass(frozen=True)
class Trend:
    """What an operation takes, by the number of operations under way.

    Attributes:
        slope: Of the logarithm over the logarithm of the load; never above 0.
        middle: Of the logarithms of the loads, and of what was taken there.
        spread: Of the fitted value, as a share of it: its 90 % interval, and 5 % at least.
        least_load: The lightest load that was measured.
        most_load: The heaviest.
    """

    slope: float
    middle: tuple[float, float]
    spread: float
    least_load: float
    most_load: float

    def at(self, load: float) -> Guess:
        """Give what an operation takes under a load, or under the nearest that was measured."""
        value = self._fitted(min(max(load, self.least_load), self.most_load))
        least = self._fitted(min(max(load, self.least_load), BEYOND * self.most_load))
        return Guess(low=least / (1 + self.spread), mid=value, high=value * (1 + self.spread))

    def _fitted(self, load: float) -> float:
        return math.exp(self.middle[1] + self.slope * (math.log(load) - self.middle[0]))


def trend(points: Sequence[tuple[float, float]]) -> Trend | None:
    """Fit observations of (operations under way, what each took); None where none is above 0."""
    seen = [(math.log(load), math.log(taken)) for load, taken in points if load > 0 and taken > 0]
    if not seen:
        return None
    middle = fmean(x for x, _ in seen), fmean(y for _, y in seen)
    around = [(x - middle[0], y - middle[1]) for x, y in seen]
    squares = math.fsum(x * x for x, _ in around)
    slope = min(0.0, math.fsum(x * y for x, y in around) / squares) if squares > 1e-9 else 0.0
    degrees = len(seen) - (2 if squares > 1e-9 else 1)
    spread = FEW_SPREAD
    if degrees > 0:
        left = math.sqrt(math.fsum((y - slope * x) ** 2 for x, y in around) / degrees)
        spread = max(LEAST_SPREAD, t_quantile(0.05, degrees) * left / math.sqrt(len(seen)))
    loads = [math.exp(x) for x, _ in seen]
    return Trend(slope, middle, spread, min(loads), max(loads))
