"""Coarse histograms add up, and have their percentiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.histograms import (
    BOUNDS_US,
    find_percentile_us,
    interpolate_percentile_us,
    list_buckets,
    merge_histograms,
)


@pytest.mark.parametrize(
    ("buckets", "share", "expected"),
    [
        ({}, 0.99, None),
        ({100: 1}, 0.5, 100),
        ({100: 98, 200: 1, 400: 1}, 0.99, 200),
        ({100: 98, 200: 1, 400: 1}, 0.999, 400),
        ({400: 1, 100: 1}, 0.5, 100),
    ],
)
def test_percentile(buckets: dict[int, int], share: float, expected: int | None) -> None:
    assert find_percentile_us(buckets, share) == expected


@given(
    st.lists(
        st.dictionaries(st.sampled_from([100, 120, 150, 300, 4000]), st.integers(1, 50)),
        min_size=1,
        max_size=6,
    )
)
def test_added_histograms_hold_every_operation(histograms: list[dict[int, int]]) -> None:
    total = merge_histograms(histograms)
    assert sum(total.values()) == sum(sum(h.values()) for h in histograms)
    for upper, count in total.items():
        assert count == sum(h.get(upper, 0) for h in histograms)


def test_buckets_are_listed_by_their_upper_bound_without_empty_ones() -> None:
    at_most = [0 if bound < 100 else 99 if bound < 10_000 else 110 for bound in BOUNDS_US]
    low, high = list_buckets(at_most).items()
    assert (low[1], high[1]) == (99, 11)
    assert (low[0], high[0]) == (
        min(bound for bound in BOUNDS_US if bound >= 100),
        min(bound for bound in BOUNDS_US if bound >= 10_000),
    )


def test_a_percentile_is_interpolated_within_its_bucket() -> None:
    bounds = [bound for bound in BOUNDS_US if 1_000 <= bound <= 2_000]
    counts = dict.fromkeys(bounds, 100)
    found = [interpolate_percentile_us(counts, share / 100) for share in range(1, 101)]
    assert found == sorted(us for us in found if us is not None)
    assert found[-1] == bounds[-1]
    assert interpolate_percentile_us({}, 0.99) is None
