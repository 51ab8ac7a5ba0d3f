"""Which statements a transaction has, by their calls for each COMMIT."""

import pytest

from plimsoll.workload.derive.grouping import Part, find_transaction

CASES = [
    ([1000, 10_000, 2000], 1000, [(0, 1), (1, 10), (2, 2)]),
    ([1004, 10_040], 1000, [(0, 1), (1, 10)]),  # some were under way at either look
    ([1500, 1000], 1000, [(1, 1)]),
    ([1040], 1000, []),
    ([189, 1933], 193, [(0, 1), (1, 10)]),  # of a few, more of the share was
    ([500], 1000, []),
    ([25_400], 1000, []),  # of many, a whole number is always near
    ([99], 99, []),  # too few to tell
    ([1000], 0, []),
]


@pytest.mark.parametrize(("calls", "commits", "found"), CASES)
def test_whole_multiples_are_parts(
    calls: list[int], commits: int, found: list[tuple[int, int]]
) -> None:
    assert find_transaction(calls, commits) == tuple(Part(*part) for part in found)
