"""Counting a table's rows: every row once, however many ranges of tokens it is done in."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.databases.cassandra.datasets import divide_tokens


@given(st.integers(1, 5000))
def test_ranges_of_tokens_cover_every_token_once(parts: int) -> None:
    ranges = list(divide_tokens(parts))
    assert len(ranges) == parts
    assert (ranges[0][0], ranges[-1][1]) == (-(2**63), 2**63 - 1)
    assert all(lower[1] + 1 == upper[0] for lower, upper in pairwise(ranges))
