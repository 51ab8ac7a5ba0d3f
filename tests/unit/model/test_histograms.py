"""Coarse histograms add up, and have their percentiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.histograms import merge_histograms, percentile_us


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
    assert percentile_us(buckets, share) == expected


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
