"""Coarse histograms of latencies: counts by the upper bound of a bucket, in microseconds."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

# Upper bounds of the buckets of a step's latencies, which are 9 % wide, as those of its seconds;
# the last one holds all that is longer than five minutes.
BUCKETS_PER_OCTAVE = 8
BOUNDS_US = (*sorted({math.ceil(2 ** (k / BUCKETS_PER_OCTAVE)) for k in range(227)}), 2**62)


def list_buckets(at_most: Iterable[int]) -> dict[int, int]:
    """Return the counts of the buckets that hold any, by their upper bound.

    Args:
        at_most: number of latencies at or below each of `BOUNDS_US`.
    """
    between = (after - before for before, after in pairwise((0, *at_most)))
    return {bound: count for bound, count in zip(BOUNDS_US, between, strict=True) if count}


def merge_histograms(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Merge histograms whose buckets have the same bounds."""
    total: dict[int, int] = defaultdict(int)
    for histogram in histograms:
        for upper, count in histogram.items():
            total[upper] += count
    return dict(total)


def interpolate_percentile_us(buckets: Mapping[int, int], share: float) -> float | None:
    """Return a percentile, interpolated on a logarithmic scale within its bucket.

    Returns:
        None without any counts.
    """
    needed, seen = share * sum(buckets.values()), 0
    for upper, count in sorted(buckets.items()):
        if count and seen + count >= needed:
            within = min(1.0, max(0.0, (needed - seen) / count))
            return float(upper * 2 ** ((within - 1) / BUCKETS_PER_OCTAVE))
        seen += count
    return None


def find_percentile_us(buckets: Mapping[int, int], share: float) -> int | None:
    """Return the upper bound of the bucket that holds a percentile; None without any counts."""
    total = sum(buckets.values())
    seen = 0
    for upper, count in sorted(buckets.items()):
        seen += count
        if total and seen >= share * total:
            return upper
    return None
