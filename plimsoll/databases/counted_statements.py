"""Statement statistics of a server, and their growth between readings; for all families."""

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from plimsoll.model.run.statements_seen import TableSeen

STATEMENTS_MOST = 500  # kept: this many with the most time, and this many with the most calls
TEXT_MOST = 8192 + 1  # characters of a text to fetch: one more than are used shows that it was cut
TABLES_MOST = 200
SAMPLE_ROWS = 200  # rows of a table whose text lengths the server measures
SPREAD_ROWS = 10_000  # rows of a table whose distinct values the server counts
PATIENCE_S = 10  # time limit of a query
_WORD = re.compile(r"\w++")


@dataclass(frozen=True)
class Counted:
    """Totals of one kind of statement; None if the server does not report a figure."""

    calls: int
    time_us: int
    rows_sent: int | None = None
    rows_examined: int | None = None
    rows_affected: int | None = None
    order: float = 0.0  # orders kinds by when they were first seen
    closes: bool = False  # a prepared statement: its counts vanish when it is closed

    def since(self, before: "Counted | None") -> "Counted":
        """Return what was added since an earlier reading; all of it if counting restarted."""
        if before is None:
            return self
        if self.calls < before.calls or self.time_us < before.time_us:
            return replace(self, calls=0, time_us=0) if self.closes else self
        return Counted(
            self.calls - before.calls,
            self.time_us - before.time_us,
            _add_known(self.rows_sent, before.rows_sent, -1),
            _add_known(self.rows_examined, before.rows_examined, -1),
            _add_known(self.rows_affected, before.rows_affected, -1),
            self.order,
            self.closes,
        )

    def plus(self, more: "Counted") -> "Counted":
        """Add later counts."""
        return Counted(
            self.calls + more.calls,
            self.time_us + more.time_us,
            _add_known(self.rows_sent, more.rows_sent),
            _add_known(self.rows_examined, more.rows_examined),
            _add_known(self.rows_affected, more.rows_affected),
            self.order,
            self.closes,
        )


def _add_known(one: int | None, other: int | None, sign: int = 1) -> int | None:
    return None if one is None or other is None else max(one + sign * other, 0)


Looked = Mapping[str, Counted]  # key: the server's id of a kind of statement


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """A statement in a server's history of its threads.

    Attributes:
        thread: The thread that executed it.
        number: The position among the thread's events.
        control: `begin`, `commit` or `rollback`; empty for any other statement.
        kinds: The ids of kinds of statements of which the server may have counted it as one.
        transaction: The transaction that it is part of, as the server says; 0 if it does not say.
    """

    thread: int
    number: int
    control: str
    kinds: tuple[str, ...]
    transaction: int = 0


@dataclass(frozen=True)
class Look:
    """The statistics at one moment.

    Attributes:
        epoch_s: The time of the reading.
        counted: The totals of each kind of statement.
        unknown: The calls of kinds for which the server had no room.
        pages_missed: The page reads that missed the buffer pool; None if the server does not report
            them.
        history: The last statements of each thread; None if the server does not keep them.
    """

    epoch_s: float
    counted: Looked
    unknown: int = 0
    pages_missed: int | None = None
    history: tuple[HistoryEvent, ...] | None = None


class TableReader(Protocol):
    """Reads a database's tables without changing anything; raises PlimsollError."""

    def server(self) -> str:
        """Return the server's product and version, as it reports them."""

    def qualifier(self) -> str:
        """Return the qualifier that table names of the target's database may have."""

    def table_names(self) -> list[str]:
        """Name the tables of the target's database."""

    def tables(self, names: Iterable[str]) -> list[TableSeen]:
        """Describe the given tables."""

    def log_settings(self) -> dict[str, str]:
        """Return the server's settings of its logs, by name."""

    def statements_per_second(self) -> float | None:
        """Return the statements per second since the server started; None if not counted."""

    def next_numbers(self) -> dict[str, int]:
        """Return the next number of each table that numbers its rows and says so."""


class StatementReader(TableReader, Protocol):
    """Reads a server's statement statistics as well."""

    def look(self) -> Look:
        """Read all statement statistics of the target's database."""

    def texts(self, kinds: Iterable[str]) -> dict[str, str]:
        """Read the texts of the given kinds of statements."""

    def pool_pages(self) -> int | None:
        """Return how many data pages the buffer pool holds; None if the server does not say."""

    def notes(self) -> tuple[str, ...]:
        """Return notes on how the server counts, for the reader."""


def sum_growth(looks: Sequence[Look]) -> dict[str, Counted]:
    """Return each kind's growth from the first look to the last; the totals of a single look."""
    if len(looks) == 1:
        return {kind: one for kind, one in looks[0].counted.items() if one.calls}
    total: dict[str, Counted] = {}
    for before, after in pairwise(looks):
        for kind, now in after.counted.items():
            more = now.since(before.counted.get(kind))
            if more.calls:
                total[kind] = total[kind].plus(more) if kind in total else more
    return total


def select_foremost(counted: Mapping[str, Counted]) -> dict[str, Counted]:
    """Return the kinds with the most time and the kinds with the most calls."""
    by_time = heapq.nlargest(STATEMENTS_MOST, counted, key=lambda kind: counted[kind].time_us)
    by_calls = heapq.nlargest(STATEMENTS_MOST, counted, key=lambda kind: counted[kind].calls)
    return {kind: counted[kind] for kind in dict.fromkeys([*by_time, *by_calls])}


def find_named_tables(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the tables that the statement texts name, at most `TABLES_MOST`."""
    lowered = [text.lower() for text in texts]
    said = {word for text in lowered for word in _WORD.findall(text)}

    def is_said(name: str) -> bool:
        return name in said or (not _WORD.fullmatch(name) and any(name in text for text in lowered))

    return [name for name in names if is_said(name.lower())][:TABLES_MOST]


def find_top_share(counts: Iterable[int], part: float) -> float | None:
    """Return the share of rows that have the commonest values; None with too few values to tell.

    Args:
        counts: The number of rows of each value.
        part: The share of the values that counts as the commonest.
    """
    ordered = sorted(counts, reverse=True)
    total = sum(ordered)
    if len(ordered) < 1 / part or not total:
        return None
    return sum(ordered[: round(part * len(ordered))]) / total
