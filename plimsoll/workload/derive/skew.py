"""Estimates the skew of row accesses from the buffer pool's misses.

Digests do not tell which rows are accessed, but a buffer pool that holds a part of the data does:
the more skewed the accesses, the fewer pages miss. Accesses are assumed to follow a zipfian
distribution whose popular rows are scattered (YCSB's scrambled zipfian), and the pool to be LRU.
Che's approximation then gives the hits (H. Che, Y. Tung, Z. Wang, "Hierarchical Web Caching
Systems: Modeling, Design and Experimental Results", IEEE JSAC 20(7), 2002): a page is cached if it
was accessed within the last T accesses, with T such that the pool is full. A page of r random rows
was not accessed within T with probability phi(T)^r, where phi(T) is the mean of exp(-T p) over all
rows.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from plimsoll.model.run.statements_seen import KeysSeen

CONSTANT_MOST = 0.999  # largest constant of YCSB's zipfian
LARGER_LEAST = 1.2  # smallest ratio of data to pool that allows a conclusion
EVEN = 0.95  # from this share of the misses of uniform access on, access counts as uniform
SCRAMBLED_ITEMS = 10_000_000_000  # YCSB's ScrambledZipfianGenerator has as many
KEYS_LEAST = 1000  # calls whose keys tell a distribution
NOISE = 4.0  # standard errors of the chance under uniform access that count as nothing
SKETCH_NOISE = 0.05  # what the counters add to a call: three of their standard errors
_BUCKETS = 200  # ranges of ranks, each slightly wider than the last
_STEPS = 30  # bisection steps
_CONSTANT_STEPS = 11


@dataclass(frozen=True)
class Pool:
    """A buffer pool and the data that is accessed through it.

    Attributes:
        pages: Number of pages that it holds.
        data_pages: Number of pages of the accessed tables, with their indexes.
        rows: Number of rows of these tables.
        missed: Share of the row accesses that had to read a page.
    """

    pages: int
    data_pages: int
    rows: int
    missed: float

    @property
    def missed_if_even(self) -> float:
        """The share that would miss under uniform access."""
        return max(0.0, 1 - self.pages / self.data_pages)


def estimate_zipfian_constant(pool: Pool) -> float | None:
    """Return the zipfian constant that explains the misses; 0 for uniform access.

    Returns:
        The constant; None if nothing can be concluded: nearly all data fits into the pool, or more
            pages were read than uniform access explains, so that something else reads too.
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
        if _Ranks(pool.rows, middle).miss_share(pool) > pool.missed:
            low = middle
        else:
            high = middle
    return round(high, 3)


def fit_zipfian_constant(keys: KeysSeen, rows: int) -> float | None:
    """Return the constant of YCSB's scrambled zipfian whose keys repeat as often as those seen.

    The chance that two calls have the same key is the sum of the squared shares, which rises with
    the constant. Uniform access has the chance `1 / rows`. The scrambled zipfian draws one of
    `SCRAMBLED_ITEMS` and hashes it to a row, so that different items share one by chance too.

    Returns:
        The constant, `CONSTANT_MOST` for still more uneven access; 0 for uniform access; None with
            fewer than `KEYS_LEAST` calls.
    """
    if keys.calls < KEYS_LEAST or rows < 2:
        return None
    error = NOISE * math.sqrt(2 / rows) / keys.calls + SKETCH_NOISE / keys.calls
    if keys.same <= 1 / rows + error:
        return 0.0
    low, high = 0.0, CONSTANT_MOST
    for _ in range(_CONSTANT_STEPS):
        middle = (low + high) / 2
        same = _Ranks(SCRAMBLED_ITEMS, middle).same
        if same + (1 - same) / rows < keys.same:
            low = middle
        else:
            high = middle
    return round(high, 3)


@dataclass(frozen=True)
class _Ranks:
    """Rows by popularity, in buckets of ranks.

    Attributes:
        rows: The number of rows.
        constant: The zipfian constant: the popularity of rank i is proportional to i^-constant.
    """

    rows: int
    constant: float

    @cached_property
    def buckets(self) -> list[tuple[float, float]]:
        """The number of rows of each bucket, and the access probability of each of its rows."""
        edges = sorted({round(self.rows ** (n / _BUCKETS)) for n in range(_BUCKETS + 1)} | {0})
        sizes = [(b - a, (a + b + 1) / 2) for a, b in pairwise(edges)]
        weights = [(size, middle**-self.constant) for size, middle in sizes]
        total = sum(size * weight for size, weight in weights)
        return [(size, weight / total) for size, weight in weights]

    @property
    def same(self) -> float:
        """The chance that two accesses are to the same row."""
        return sum(size * share * share for size, share in self.buckets)

    def miss_share(self, pool: Pool) -> float:
        """Return the share of accesses that miss."""
        each = self.rows / pool.data_pages
        low, high = 0.0, 1.0
        while self._count_pages(high, pool, each) < pool.pages:
            high *= 2
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if self._count_pages(middle, pool, each) < pool.pages:
                low = middle
            else:
                high = middle
        others = float(self._absent(high) ** (each - 1))
        return others * sum(size * p * math.exp(-high * p) for size, p in self.buckets)

    def _absent(self, accesses: float) -> float:
        """Return the mean probability that a row was not accessed in this many accesses."""
        return sum(size * math.exp(-accesses * p) for size, p in self.buckets) / self.rows

    def _count_pages(self, accesses: float, pool: Pool, each: float) -> float:
        """Return the number of pages that were accessed in this many accesses."""
        return float(pool.data_pages * (1 - self._absent(accesses) ** each))
