"""From the mean time of all operations to the latency that a limit is of.

While operations queue, the latencies of each kind grow with the mean time of all. How they do is
read from the run: the statistic of each operation over the mean time of an operation that is alone,
by how many times longer operations take than alone. Another volume that makes operations wait as
many times longer is held to stretch them alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Sample = tuple[float, float]  # times as long as alone; the statistic, in times of being alone


@dataclass(frozen=True)
class Tail:
    """A latency by how many times longer operations take than alone; never falling.

    Attributes:
        samples: Ascending in both.
    """

    samples: tuple[Sample, ...]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Tail":
        """Make one of what was seen: where a latency falls, its neighbours are averaged.

        The nearest rising line by least squares (M. Ayer et al., "An Empirical Distribution
        Function for Sampling with Incomplete Information", Annals of Mathematical Statistics
        26(4), 1955).
        """
        blocks: list[tuple[float, list[float]]] = []  # mean, the stretches that share it
        for stretch, latency in sorted(samples):
            blocks.append((latency, [stretch]))
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                (low, some), (high, more) = blocks[-2:]
                whole = (low * len(some) + high * len(more)) / (len(some) + len(more))
                blocks[-2:] = [(whole, some + more)]
        return cls(tuple((stretch, mean) for mean, each in blocks for stretch in each))

    def at(self, stretch: float) -> float:
        """Give the latency, in times of being alone; beyond what was seen in proportion."""
        (first, lowest), (last, highest) = self.samples[0], self.samples[-1]
        if stretch >= last:
            return highest * stretch / last
        if stretch <= first:
            return lowest
        for (left, low), (right, high) in pairwise(self.samples):
            if stretch <= right:
                share = (stretch - left) / (right - left) if right > left else 1.0
                return low + share * (high - low)
        raise AssertionError  # one of the samples is the last
