"""From the mean time of all operations to the latency that a limit is of.

While operations queue, the latencies of each kind grow with the mean time of all. How they do is
read from the run: the statistic of each operation over the mean time of an operation that is alone,
by how many times longer operations take than alone. Another volume that makes operations wait as
many times longer is held to stretch them alike.

Writes have another cause that no queue of the volume shows: pages are written back in batches, and
who changes one of them, or commits, waits for a batch. On a volume six times as fast the 99th
percentile of updates was seen to be as long under three operations as before, while operations took
half of the time on average; on volumes that let more through and take longer for an I/O it was
shorter. So where a workload writes, the worst that is reckoned with are its latencies in the run
under as many operations, and the likeliest the shorter of the two. Of a volume with half of the
I/Os they were seen two to five times as long under as many, which is not reckoned with: there its
I/Os alone hold a prediction down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

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
