"""How unevenly rows are asked for, concluded from how many pages a server has to read.

Digests do not tell which rows are asked for, but a buffer pool that holds a part of the data does:
the more unevenly they are asked for, the fewer pages miss. Rows are taken to be asked for by a
zipfian distribution whose popular rows lie anywhere (YCSB's, scrambled), and the pool to be LRU, of
which Che's approximation gives the hits (H. Che, Y. Tung, Z. Wang, "Hierarchical Web Caching
Systems: Modeling, Design and Experimental Results", IEEE JSAC 20(7), 2002): a page is there if it
was asked for within the last T accesses, and T is such that the pool is full. A page with r rows
drawn at random was not asked for in T with the probability phi(T)^r, phi(T) being the mean of
exp(-T p) over all rows.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

CONSTANT_MOST = 0.999  # of YCSB's zipfian
LARGER_LEAST = 1.2  # times the pool: of data that fits nothing is concluded
EVEN = 0.95  # of the misses of rows that are asked for alike: as good as that
_BUCKETS = 200  # of ranks, each a little wider than the last
_STEPS = 30  # of a bisection
_CONSTANT_STEPS = 11


@dataclass(frozen=True)
class Pool:
    """A buffer pool, and what is in reach of it.

    Attributes:
        pages: That it holds.
        data_pages: Of the tables that statements name, with their indexes.
        rows: Of these tables.
        missed: Share of the accesses to a row that had to read a page.
    """

    pages: int
    data_pages: int
    rows: int
    missed: float

    @property
    def missed_if_even(self) -> float:
        """The share that would miss if every row were asked for alike."""
        return max(0.0, 1 - self.pages / self.data_pages)


def zipfian_constant(pool: Pool) -> float | None:
    """Give the constant of the distribution that misses as often; 0: rows are asked for alike.

    Returns:
        None where nothing can be concluded: the data, or nearly all of it, fits into the pool, or
        more pages were read than by rows that are asked for alike, so that others are among them.
    """
    if pool.data_pages < LARGER_LEAST * pool.pages or pool.rows < 2 * pool.data_pages:
        return None
    if pool.missed > pool.missed_if_even / EVEN:
        return None
    if pool.missed >= EVEN * pool.missed_if_even:
        return 0.0
    low, high = 0.0, CONSTANT_MOST
    for _ in range(_CONSTANT_STEPS):
        middle = (low + high) / 2
        if _Ranks(pool.rows, middle).missed(pool) > pool.missed:
            low = middle
        else:
            high = middle
    return round(high, 3)


@dataclass(frozen=True)
class _Ranks:
    """Rows by how popular they are, in buckets of ranks.

    Attributes:
        rows: How many there are.
        constant: Of the distribution: the popularity of rank i is in proportion to i^-constant.
    """

    rows: int
    constant: float

    @cached_property
    def buckets(self) -> list[tuple[float, float]]:
        """Rows of each bucket, and the probability of one of them."""
        edges = sorted({round(self.rows ** (n / _BUCKETS)) for n in range(_BUCKETS + 1)} | {0})
        sizes = [(b - a, (a + b + 1) / 2) for a, b in pairwise(edges)]
        weights = [(size, middle**-self.constant) for size, middle in sizes]
        total = sum(size * weight for size, weight in weights)
        return [(size, weight / total) for size, weight in weights]

    def missed(self, pool: Pool) -> float:
        """Give the share of accesses that miss."""
        each = self.rows / pool.data_pages
        low, high = 0.0, 1.0
        while self._held(high, pool, each) < pool.pages:
            high *= 2
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if self._held(middle, pool, each) < pool.pages:
                low = middle
            else:
                high = middle
        others = float(self._absent(high) ** (each - 1))
        return others * sum(size * p * math.exp(-high * p) for size, p in self.buckets)

    def _absent(self, accesses: float) -> float:
        """The mean probability that a row was not asked for in so many accesses."""
        return sum(size * math.exp(-accesses * p) for size, p in self.buckets) / self.rows

    def _held(self, accesses: float, pool: Pool, each: float) -> float:
        """Pages that were asked for in so many accesses."""
        return float(pool.data_pages * (1 - self._absent(accesses) ** each))
