"""A closed queueing network, and the estimates that predictions are built from.

The network gives throughput and response time as functions of the load, by exact mean value
analysis of one class (M. Reiser and S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain
Queuing Networks", Journal of the ACM 27(2), 1980): a customer who arrives at a station finds the
mean queue of the same network with one customer less. The throughput lies within the asymptotic
bounds N / R(1) and 1 / max(D) of Denning and Buzen (1978). Several processors are modelled as one
station that is as fast as all of them, and the rest of an operation's time as a delay without a
queue (A. Seidmann, P. J. Schweitzer and S. Shalev-Shwartz, "Computerized Closed Queueing Network
Models of Flexible Manufacturing Systems", Large Scale Systems 12, 1987). A volume with a rate limit
serves more evenly than the exponential servers assumed here: it queues less, so the real
throughput under a given number of operations is somewhat higher.

The other parts: latency percentiles as a function of the load (`Tail`), uncertain quantities
(`Guess`), and the resources that an operation uses as a function of the load (`Trend`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.capacity.statistics.intervals import find_t_quantile
from plimsoll.model.base import Model

LOAD_MOST = 20_000  # concurrent operations
FULL = 0.999  # share of the bound at which the network counts as saturated


@dataclass(frozen=True)
class Point:
    """Throughput and response time at one number of concurrent operations."""

    load: int
    ops_per_second: float
    response_s: float


@dataclass(frozen=True)
class Network:
    """The parts of an operation's time.

    Attributes:
        alone_s: Response time of an operation that runs alone.
        demands_s: Service time at each station at which operations queue; included in `alone_s`.
    """

    alone_s: float
    demands_s: tuple[float, ...]

    @property
    def bound_ops_per_second(self) -> float:
        """Throughput limit of the busiest station; infinite if there is no station."""
        most_s = max(self.demands_s, default=0.0)
        return 1 / most_s if most_s else float("inf")

    @property
    def full_ops_per_second(self) -> float:
        """The throughput from which on the network counts as saturated."""
        return FULL * self.bound_ops_per_second

    def climb(self) -> Iterator[Point]:
        """Yield the points with 1, 2, 3, ... concurrent operations, until saturation."""
        delay_s = max(0.0, self.alone_s - sum(self.demands_s))
        queues = [0.0] * len(self.demands_s)
        full = self.full_ops_per_second
        for load in range(1, LOAD_MOST + 1):
            times = [
                demand_s * (1 + queue)
                for demand_s, queue in zip(self.demands_s, queues, strict=True)
            ]
            response_s = delay_s + sum(times)
            rate = load / response_s
            queues = [rate * time_s for time_s in times]
            yield Point(load, rate, response_s)
            if rate >= full:
                return

    def at(self, load: int) -> Point:
        """Return the point with this many concurrent operations, or the point of saturation."""
        last = None
        for last in self.climb():
            if last.load >= load:
                break
        assert last is not None  # noqa: S101 - the first is always there
        return last


def estimate_alone_s(load: int, response_s: float, demands_s: Sequence[float]) -> float:
    """Compute how long an operation takes alone from its response time under a load.

    Args:
        load: Number of concurrent operations under that load.
        response_s: Mean response time under that load.
        demands_s: Service time at each station at which operations queue.

    Returns:
        Seconds, found by bisection; at most `response_s`.
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


# From the mean response time of all operations to the latency percentile that has a limit.


Sample = tuple[float, float]  # position on the x-axis of a `Tail`, latency statistic
ALIKE = 1.05  # steps whose x-values differ by at most this factor are repetitions


@dataclass(frozen=True)
class Tail:
    """A latency statistic as a function of the slowdown, or of the concurrent operations.

    It is interpolated, and never falls.

    Attributes:
        samples: Pairs of x-value and latency, both ascending.
    """

    samples: tuple[Sample, ...]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Tail":
        """Fit samples: repetitions are averaged, and so are neighbors where the latency falls.

        This is isotonic regression by least squares (M. Ayer et al., "An Empirical Distribution
        Function for Sampling with Incomplete Information", Annals of Mathematical Statistics
        26(4), 1955).
        """
        blocks: list[tuple[float, list[float]]] = []  # mean latency, x-values of its samples
        for much, latency in _average_repetitions(samples):
            blocks.append((latency, [much]))
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                (low, some), (high, more) = blocks[-2:]
                whole = (low * len(some) + high * len(more)) / (len(some) + len(more))
                blocks[-2:] = [(whole, some + more)]
        return cls(tuple((much, mean) for mean, each in blocks for much in each))

    def at(self, much: float) -> float:
        """Interpolate the latency; beyond the last sample it grows in proportion."""
        (first, lowest), (last, highest) = self.samples[0], self.samples[-1]
        if much >= last:
            return highest * much / last
        if much <= first:
            return lowest
        for (left, low), (right, high) in pairwise(self.samples):
            if much <= right:
                return low + (much - left) / (right - left) * (high - low)
        raise AssertionError  # one of the samples is the last


def _average_repetitions(samples: Sequence[Sample]) -> list[Sample]:
    """Average the samples with similar x-values; returns them ascending."""
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
LEAST_SPREAD = 0.05  # relative, of a mean in one run: steps differ by at least this much
RUNS_SPREAD = 0.1  # relative, of one run's load line: repeated runs differ by at least this much
FEW_SPREAD = 0.15  # relative, of one or two observations, whose scatter is unknown


class Guess(Model):
    """A best estimate with the interval that surely contains the value."""

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
        """Create one from an exactly known value."""
        return cls(low=value, mid=value, high=value)

    @classmethod
    def within(cls, value: float, factor: float) -> Self:
        """Create one from a value that may be smaller or larger by a factor."""
        return cls(low=value / factor, mid=value, high=value * factor)

    def at(self, end: End) -> float:
        """Return the lower end, the best estimate or the upper end."""
        value: float = getattr(self, end)
        return value

    def cost(self, end: End) -> float:
        """Return the value to use as a cost: the low end of a prediction has the highest cost."""
        return self.at(WORSE[end])

    def times(self, factor: float) -> "Guess":
        """Multiply by an exact factor."""
        return Guess(low=self.low * factor, mid=self.mid * factor, high=self.high * factor)


# Resources used per operation fall with the load: group commit, merged writes, fewer wake-ups.


BEYOND = 4.0  # the fall is extrapolated at best to this multiple of the heaviest measured load


@dataclass(frozen=True)
class Trend:
    """Resources that one operation uses, as a function of the concurrent operations.

    Attributes:
        slope: Slope on logarithmic axes; never above 0.
        middle: Mean logarithm of the loads, and of the resources used.
        spread: Relative half-width of the fit's 90 % interval at the middle; at least 5 %.
        slope_spread: The same of the slope, per unit of the load's logarithm. Away from the middle
            both add up in squares: the standard error of a fitted value has the term
            (x - mean)^2 / Sxx beside 1 / n.
        least_load: Lightest measured load.
        most_load: Heaviest measured load.
    """

    slope: float
    middle: tuple[float, float]
    spread: float
    least_load: float
    most_load: float
    slope_spread: float = 0.0

    def at(self, load: float) -> Guess:
        """Return what an operation uses under a load; outside the measured range, at its ends."""
        within = min(max(load, self.least_load), self.most_load)
        beyond = min(max(load, self.least_load), BEYOND * self.most_load)
        value, least = self._predict_at(within), self._predict_at(beyond)
        spread = self._spread_at(within)
        return Guess(low=least / (1 + spread), mid=value, high=value * (1 + spread))

    def _spread_at(self, load: float) -> float:
        return math.hypot(self.spread, self.slope_spread * (math.log(load) - self.middle[0]))

    def _predict_at(self, load: float) -> float:
        return math.exp(self.middle[1] + self.slope * (math.log(load) - self.middle[0]))


def fit_trend(points: Sequence[tuple[float, float]]) -> Trend | None:
    """Fit pairs of (concurrent operations, use per operation); None if none is above 0."""
    seen = [(math.log(load), math.log(taken)) for load, taken in points if load > 0 and taken > 0]
    if not seen:
        return None
    middle = fmean(x for x, _ in seen), fmean(y for _, y in seen)
    around = [(x - middle[0], y - middle[1]) for x, y in seen]
    squares = math.fsum(x * x for x, _ in around)
    slope = min(0.0, math.fsum(x * y for x, y in around) / squares) if squares > 1e-9 else 0.0
    degrees = len(seen) - (2 if squares > 1e-9 else 1)
    spread, slope_spread = FEW_SPREAD, 0.0
    if degrees > 0:
        left = math.sqrt(math.fsum((y - slope * x) ** 2 for x, y in around) / degrees)
        margin = find_t_quantile(0.05, degrees) * left
        spread = max(LEAST_SPREAD, margin / math.sqrt(len(seen)))
        slope_spread = margin / math.sqrt(squares) if squares > 1e-9 else 0.0
    loads = [math.exp(x) for x, _ in seen]
    return Trend(slope, middle, spread, min(loads), max(loads), slope_spread)
