"""What a server counted of its statements, between two looks at it; the same for all families."""

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from plimsoll.model.run.statements_seen import TableSeen

STATEMENTS_MOST = 500  # of those with the most time, and of those with the most calls
TEXT_MOST = 8192 + 1  # characters of one that are asked for: one more than are read
TABLES_MOST = 200
SAMPLE_ROWS = 200  # of a table, whose texts are measured in the server
SPREAD_ROWS = 10_000  # of a table, whose values are counted in the server
PATIENCE_S = 10  # for one question
_WORD = re.compile(r"\w++")


@dataclass(frozen=True)
class Counted:
    """What the calls of one kind of statement came to; None: the server does not tell."""

    calls: int
    time_us: int
    rows_sent: int | None = None
    rows_examined: int | None = None
    rows_affected: int | None = None
    order: float = 0.0  # of two that were seen first at different times, the earlier has less
    closes: bool = False  # whether its counts go when it is closed, so that a sum may fall

    def since(self, before: "Counted | None") -> "Counted":
        """Give what was added since; all of it, where counting began again."""
        if before is None:
            return self
        if self.calls < before.calls or self.time_us < before.time_us:
            return replace(self, calls=0, time_us=0) if self.closes else self
        return Counted(
            self.calls - before.calls,
            self.time_us - before.time_us,
            _sum(self.rows_sent, before.rows_sent, -1),
            _sum(self.rows_examined, before.rows_examined, -1),
            _sum(self.rows_affected, before.rows_affected, -1),
            self.order,
            self.closes,
        )

    def plus(self, more: "Counted") -> "Counted":
        """Add what was counted later."""
        return Counted(
            self.calls + more.calls,
            self.time_us + more.time_us,
            _sum(self.rows_sent, more.rows_sent),
            _sum(self.rows_examined, more.rows_examined),
            _sum(self.rows_affected, more.rows_affected),
            self.order,
            self.closes,
        )


def _sum(one: int | None, other: int | None, sign: int = 1) -> int | None:
    return None if one is None or other is None else max(one + sign * other, 0)


Looked = Mapping[str, Counted]  # by what the server calls a kind of statement


@dataclass(frozen=True)
class Look:
    """What a server had counted at one moment.

    Attributes:
        epoch_s: When.
        counted: By kind of statement.
        unknown: Calls of kinds for which it had no room.
        pages_missed: That its buffer pool did not hold; None: it does not tell.
    """

    epoch_s: float
    counted: Looked
    unknown: int = 0
    pages_missed: int | None = None


class StatementReader(Protocol):
    """Reads what a server counted of its statements, and changes nothing; raises PlimsollError."""

    def server(self) -> str:
        """Say what server answers, as it calls itself."""

    def qualifier(self) -> str:
        """Say what may stand before a table's name, for the target's own."""

    def look(self) -> Look:
        """Read all that it has counted in the target's database."""

    def texts(self, kinds: Iterable[str]) -> dict[str, str]:
        """Read the texts of some kinds of statements."""

    def table_names(self) -> list[str]:
        """Name the tables of the target's database."""

    def tables(self, names: Iterable[str]) -> list[TableSeen]:
        """Describe some tables."""

    def pool_pages(self) -> int | None:
        """Say how many pages of data its buffer pool holds; None: it does not tell."""

    def notes(self) -> tuple[str, ...]:
        """Say what a reader has to know of how it counts."""


def grown(looks: Sequence[Look]) -> dict[str, Counted]:
    """Give what was called from the first look to the last, by kind; of one look all of it."""
    if len(looks) == 1:
        return {kind: one for kind, one in looks[0].counted.items() if one.calls}
    total: dict[str, Counted] = {}
    for before, after in pairwise(looks):
        for kind, now in after.counted.items():
            more = now.since(before.counted.get(kind))
            if more.calls:
                total[kind] = total[kind].plus(more) if kind in total else more
    return total


def foremost(counted: Mapping[str, Counted]) -> dict[str, Counted]:
    """Give those that matter: with the most time, or with the most calls."""
    by_time = heapq.nlargest(STATEMENTS_MOST, counted, key=lambda kind: counted[kind].time_us)
    by_calls = heapq.nlargest(STATEMENTS_MOST, counted, key=lambda kind: counted[kind].calls)
    return {kind: counted[kind] for kind in dict.fromkeys([*by_time, *by_calls])}


def named_tables(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Give the tables whose names stand in a statement's text, so many at most."""
    said = {word for text in texts for word in _WORD.findall(text.lower())}
    return [name for name in names if name.lower() in said][:TABLES_MOST]


def top_share(counts: Iterable[int], part: float) -> float | None:
    """Say which share of rows has the commonest values; None where there are too few to tell.

    Args:
        counts: Rows of each value.
        part: Of the values, the commonest.
    """
    ordered = sorted(counts, reverse=True)
    total = sum(ordered)
    if len(ordered) < 1 / part or not total:
        return None
    return sum(ordered[: round(part * len(ordered))]) / total
