"""Transactions as they were seen: which statements were sent together, and how often.

Only evidence groups statements: a session's own order of them, in a log or in the server's history
of its threads. Ratios of counts are none: half of all autocommit reads are a whole multiple of the
COMMITs by chance.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.model.run.statements_seen import TransactionSeen

KINDS_MOST = 20  # kinds of transactions that become operations, the most frequent first
# Kinds that differ only in how often a statement is repeated: beyond so many, means stand for them.
VARIANTS_MOST = 4
REPEAT_MOST = 1000


@dataclass(frozen=True)
class Part:
    """A statement of a transaction: its index among the given ones, and its repetitions."""

    index: int
    repeat: int


@dataclass(frozen=True)
class Group:
    """A kind of transaction.

    Attributes:
        calls: The number of transactions.
        parts: The statements, in the order of their first call.
        sent: The number of calls of each statement in all of these transactions, by its index.
    """

    calls: int
    parts: tuple[Part, ...]
    sent: Mapping[int, int]


def group_transactions(
    seen: Iterable[TransactionSeen], places: Mapping[int, int]
) -> tuple[Group, ...]:
    """Return the kinds of transactions, the most frequent first.

    Args:
        seen: The transactions, with the indexes of digests.
        places: The index of the statement that each digest became; one that is not sent lacks.
    """
    kinds: Counter[tuple[tuple[int, int], ...]] = Counter()
    for one in seen:
        times: Counter[int] = Counter()
        for digest, repeat in one.statements:
            if digest in places:
                times[places[digest]] += repeat
        if times and one.calls:
            kinds[tuple(times.items())] += one.calls
    alike: dict[tuple[int, ...], list[Group]] = {}
    for kind, calls in kinds.items():
        parts = tuple(Part(index, min(repeat, REPEAT_MOST)) for index, repeat in kind)
        sent = {index: repeat * calls for index, repeat in kind}
        alike.setdefault(tuple(index for index, _ in kind), []).append(Group(calls, parts, sent))
    merged = [
        group
        for same in alike.values()
        for group in (same if len(same) <= VARIANTS_MOST else [_merge(same)])
    ]
    return tuple(sorted(merged, key=lambda one: -one.calls)[:KINDS_MOST])


def _merge(groups: Sequence[Group]) -> Group:
    """Return one group for several with the same statements: each with its mean repetitions."""
    calls = sum(one.calls for one in groups)
    sent = {part.index: sum(one.sent[part.index] for one in groups) for part in groups[0].parts}
    parts = tuple(
        Part(index, max(1, min(round(total / calls), REPEAT_MOST))) for index, total in sent.items()
    )
    return Group(calls, parts, sent)
