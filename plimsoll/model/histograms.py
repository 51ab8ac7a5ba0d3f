"""Coarse histograms of latencies: counts by the upper bound of a bucket, in microseconds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping


def merge_histograms(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Merge histograms whose buckets have the same bounds."""
    total: dict[int, int] = defaultdict(int)
    for histogram in histograms:
        for upper, count in histogram.items():
            total[upper] += count
    return dict(total)


def percentile_us(buckets: Mapping[int, int], share: float) -> int | None:
    """Return the upper bound of the bucket that holds a percentile; None without any counts."""
    total = sum(buckets.values())
    seen = 0
    for upper, count in sorted(buckets.items()):
        seen += count
        if total and seen >= share * total:
            return upper
    return None
