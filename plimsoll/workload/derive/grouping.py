"""Reassembles transactions from statement counts: digests do not say which went together.

If a statement's calls are an integer multiple of the COMMITs, it is assumed to be a part of every
transaction, that many times. This is a guess: two alternating kinds of transactions may look like
one. Other statements become operations of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

COMMITS_LEAST = 100  # with fewer, a ratio says nothing
SLACK = 0.02  # tolerance, relative to the integer
UNDER_WAY = 8  # transactions in progress at each reading, whose statements are counted in part
SLACK_MOST = 0.25  # largest tolerance: a larger ratio always has an integer nearby
REPEAT_MOST = 1000


@dataclass(frozen=True)
class Part:
    """A statement of a transaction: its index among the given ones, and its repetitions."""

    index: int
    repeat: int


def find_transaction(calls: Sequence[int], commits: int) -> tuple[Part, ...]:
    """Return the statements of a transaction.

    Args:
        calls: The number of calls of each statement.
        commits: The number of transactions that ended.

    Returns:
        The parts; empty if there are too few commits, or no statement fits.
    """
    if commits < COMMITS_LEAST:
        return ()
    parts = (Part(index, _find_multiple(count, commits)) for index, count in enumerate(calls))
    return tuple(part for part in parts if part.repeat)


def _find_multiple(calls: int, commits: int) -> int:
    """Return the integer near a ratio; 0 if there is none."""
    ratio = calls / commits
    whole = round(ratio)
    slack = min((SLACK + UNDER_WAY / commits) * whole, SLACK_MOST)
    return whole if 1 <= whole <= REPEAT_MOST and abs(ratio - whole) <= slack else 0
