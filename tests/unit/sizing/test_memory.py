"""Reads of pages by the size of the buffer pool: convex, between what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.sizing.caps import Pool

# A fifth of the requests miss a pool of 1,000 of 5,000 pages.
POOL = Pool(pages=1000, dataset_pages=5000, miss_share=0.2)


@pytest.mark.parametrize(
    ("pages", "low", "mid", "high"),
    [
        (1000, 1, 1, 1),
        # the chord to the pool that holds 1.1 x 5,000 pages: 3,500 / 4,500 of the reads are left
        (2000, 0, 0.75 * 3500 / 4500, 3500 / 4500),
        (5500, 0, 0, 0),
        (9000, 0, 0, 0),
        # below: at most the chord to no page, 5 times as many; at least the line to all
        (500, 4500 / 4000, 1.125 + 0.75 * 1.875, 3),
    ],
)
def test_reads_lie_between_chords_and_their_continuations(
    pages: float, low: float, mid: float, high: float
) -> None:
    found = POOL.reads_at(pages)
    assert (found.low, found.mid, found.high) == pytest.approx((low, mid, high))


def test_a_gentle_curve_keeps_its_lower_bound() -> None:
    """Nine of ten requests miss: a tenth more pages can spare them a ninth of a tenth at most."""
    found = Pool(pages=1000, dataset_pages=50_000, miss_share=0.9).reads_at(1100)
    assert found.low == pytest.approx(1 - 0.1 / 9)


def test_a_pool_that_misses_nothing_never_reads() -> None:
    found = Pool(pages=1000, dataset_pages=500, miss_share=0.0).reads_at(2000)
    assert (found.low, found.high) == (0, 0)


@given(st.floats(100, 10_000), st.floats(100, 10_000))
def test_more_memory_never_reads_more(one: float, other: float) -> None:
    small, large = POOL.reads_at(min(one, other)), POOL.reads_at(max(one, other))
    assert large.low <= small.low + 1e-9
    assert large.mid <= small.mid + 1e-9
    assert large.high <= small.high + 1e-9
