"""Transactions in a server's history of its threads.

A history is a sample: each reading has the last statements of each thread. A transaction counts if
its first and its last statement are in it. Of `n` statements of a thread, one of `k` is whole at
`n - k + 1` places, so it is weighted by the reciprocal of that (D. G. Horvitz and D. J. Thompson,
"A Generalization of Sampling Without Replacement from a Finite Universe", JASA 47, 1952): long
transactions are seen whole less often than short ones.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from plimsoll.databases.counted_statements import HistoryEvent

# What transactions of one kind have in common: their statements, each with its repetitions
Kind = tuple[tuple[str, int], ...]
# Share of the COMMITs beyond the transactions seen whole that is taken for longer ones
LONGER_LEAST = 0.2
WHOLE_LEAST = 10  # transactions seen whole, to say what transactions there are


@dataclass
class SeenInHistory:
    """What a history tells.

    Attributes:
        kinds: The weight of each kind of transaction.
        whole: The number of transactions that were seen whole.
        ends: The weight of all COMMITs: each is seen at `n` places.
        within: The number of statements of each kind that were seen within a transaction.
        apart: The number of those that were seen outside of any.
        nameless: The number of statements of which the server does not say what they were.
    """

    kinds: dict[Kind, float] = field(default_factory=dict)
    whole: int = 0
    ends: float = 0.0
    within: Counter[str] = field(default_factory=Counter)
    apart: Counter[str] = field(default_factory=Counter)
    nameless: int = 0

    def share_within(self, kind: str) -> float:
        """Return the share of a kind's statements that are within a transaction."""
        inside, outside = self.within[kind], self.apart[kind]
        return inside / (inside + outside) if inside else 0.0

    def count(
        self, calls: Mapping[str, int], commits: int
    ) -> dict[tuple[tuple[str, int], ...], int]:
        """Return the number of transactions of each kind; empty if too few were seen whole.

        Args:
            calls: The counted calls of each kind of statement.
            commits: The counted COMMITs.
        """
        if self.whole < WHOLE_LEAST:
            return {}
        weights = {
            kind: weight
            for kind, weight in self.kinds.items()
            if all(statement in calls for statement, _ in kind)
        }
        total = sum(weights.values())
        if total < self.ends * (1 - LONGER_LEAST):
            total = self.ends  # the others are longer than the history
        return {kind: round(commits * weight / total) for kind, weight in weights.items()}


def find_transactions(
    looks: Iterable[Sequence[HistoryEvent]], known: Container[str]
) -> SeenInHistory:
    """Return what the readings of a history tell of transactions.

    Args:
        looks: The events of each reading, in the order of each thread.
        known: The kinds of statements that are counted.
    """
    found = SeenInHistory()
    last: dict[int, int] = {}  # last statement already counted, by thread
    for events in looks:
        for thread, of_thread in groupby(events, key=lambda one: one.thread):
            history = list(of_thread)
            seen_before = last.get(thread, -1)
            for members, whole in _split(history):
                if members[-1].number <= seen_before:
                    continue
                _count(found, members, known, whole=whole, among=len(history))
            last[thread] = history[-1].number
    return found


def _split(history: Sequence[HistoryEvent]) -> Iterator[tuple[list[HistoryEvent], bool | None]]:
    """Yield the statements of each transaction, and whether all are there; None: it is none."""
    members: list[HistoryEvent] = []
    began = False
    first_end = next((n for n, one in enumerate(history) if one.control), len(history))
    # What comes before the first end may be the rest of a transaction.
    rest = bool(history[first_end:]) and history[first_end].control != "begin"
    implicit = _commits_without_begin(history[first_end:])
    for number, one in enumerate(history):
        if one.control == "begin":
            members, began = [one], True
        elif one.control:
            yield [*members, one], began and one.control == "commit"
            members, began = [], False
        elif members:
            members.append(one)
        elif one.transaction or (rest and number < first_end) or (implicit and number > first_end):
            members, began = [one], number > 0 and (not rest or number > first_end)
        else:
            yield [one], None
    if members:
        yield members, False


def _commits_without_begin(history: Sequence[HistoryEvent]) -> bool:
    """Whether a COMMIT follows another end without a BEGIN in between: autocommit is off."""
    controls = [one.control for one in history if one.control]
    return any(after == "commit" and before != "begin" for before, after in pairwise(controls))


def _count(
    found: SeenInHistory,
    members: Sequence[HistoryEvent],
    known: Container[str],
    *,
    whole: bool | None,
    among: int,
) -> None:
    kinds = [
        next((kind for kind in one.kinds if kind in known), "")
        for one in members
        if not one.control
    ]
    found.ends += (members[-1].control == "commit") / among
    found.nameless += sum(not one.kinds for one in members if not one.control)
    (found.apart if whole is None else found.within).update(filter(None, kinds))
    if whole and all(kinds) and kinds:
        found.whole += 1
        kind = tuple(Counter(kinds).items())
        found.kinds[kind] = found.kinds.get(kind, 0.0) + 1 / (among - len(members) + 1)
