"""Transactions put together again: digests count statements, and not which ones went together.

Where a statement's calls are a whole multiple of the COMMITs, it is taken for a part of every
transaction, so many times. That is a guess: two kinds of transactions that take turns may look like
one. What is no whole multiple is left as an operation by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

COMMITS_LEAST = 100  # fewer say nothing of a ratio
SLACK = 0.02  # of a whole number
UNDER_WAY = 8  # transactions at either look, whose statements are counted in part
SLACK_MOST = 0.25  # of one statement: of many, a whole number is always near
REPEAT_MOST = 1000


@dataclass(frozen=True)
class Part:
    """A statement of a transaction: which of those that were given, and how often in each."""

    index: int
    repeat: int


def transaction_of(calls: Sequence[int], commits: int) -> tuple[Part, ...]:
    """Say which statements a transaction has.

    Args:
        calls: Of each statement.
        commits: How many transactions ended.

    Returns:
        Nothing where there are too few commits to tell, or none of the statements fits.
    """
    if commits < COMMITS_LEAST:
        return ()
    parts = (Part(index, _times(count, commits)) for index, count in enumerate(calls))
    return tuple(part for part in parts if part.repeat)


def _times(calls: int, commits: int) -> int:
    """Give the whole number that a ratio is; 0: it is none."""
    ratio = calls / commits
    whole = round(ratio)
    slack = min((SLACK + UNDER_WAY / commits) * whole, SLACK_MOST)
    return whole if 1 <= whole <= REPEAT_MOST and abs(ratio - whole) <= slack else 0
