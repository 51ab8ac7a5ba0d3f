"""What fills the `?` of a statement: values of the right kind, and as many rows as were met."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.model.run.statements_seen import Digest, TableSeen
from plimsoll.workload.declared import refusal
from plimsoll.workload.derive.columns import DRAWN, Filled, filled, numbering
from plimsoll.workload.derive.shapes import Shape, Slot

LIST_GUESSED = 10  # values of a list, and rows of a LIMIT, where no rows are counted
LIST_MOST = 1000
DISTINCT_READS = 3  # of a row: itself, from the temporary table, and to sort (MariaDB 11.4)


@dataclass(frozen=True)
class Known:
    """A table as the workload has it.

    Attributes:
        seen: The table.
        name: What the workload calls it: of several alike, their common name.
        columns: What stands for its columns' values.
        copies: How many there are alike; None: this one.
    """

    seen: TableSeen
    name: str
    columns: Mapping[str, Filled]
    copies: int | None = None

    @classmethod
    def of(
        cls, seen: TableSeen, name: str, copies: int | None = None, *, prefixes: bool = False
    ) -> "Known":
        """Take a table."""
        return cls(seen, name, filled(seen, prefixes=prefixes), copies)

    @property
    def key(self) -> dict[str, str]:
        """What draws the number of one of its rows."""
        return {"key": self.name, "distribution": DRAWN}


@dataclass
class Bound:
    """What fills a statement.

    Attributes:
        binds: A value for each `?`.
        let: Values that several of them share, by name.
        many: Values of a list whose length the digest does not tell.
        rows: Rows of an INSERT.
        guesses: What was concluded from rows, in words.
    """

    binds: list[Any] = field(default_factory=list)
    let: dict[str, Any] = field(default_factory=dict)
    many: int = 1
    rows: int = 1
    guesses: set[str] = field(default_factory=set)


def rows_of_a_call(shape: Shape, digest: Digest) -> float | None:
    """Say how many rows a call met; None: the server does not tell."""
    writes = shape.verb not in {"SELECT", "WITH"}
    counted = digest.rows_affected if writes else digest.rows_sent
    if shape.aggregates and not writes:
        counted = digest.rows_examined
    elif shape.distinct and counted is not None:  # each row is read again from a table of the rest
        counted = max(counted, round((digest.rows_examined or 0) / DISTINCT_READS))
    return None if counted is None or not digest.calls else counted / digest.calls


def bound(
    shape: Shape,
    digest: Digest,
    tables: Mapping[str, Known],
    *,
    mark: str = "",
    replaced: str = "",
    usual_rows: float | None = None,
) -> Bound:
    """Say what fills a statement.

    Args:
        shape: The statement.
        digest: What its calls came to.
        tables: By the names that the shape has for them.
        mark: Makes its names in `let` its own.
        replaced: The name of a row's number that another statement deletes and this one inserts,
            or the other way round; empty: there is no such.
        usual_rows: Of ranges elsewhere, for one whose rows nobody counts.

    Raises:
        WorkloadError: No value can be given; says why.
    """
    found = _Binder(shape, digest, tables, mark=mark, replaced=replaced, usual_rows=usual_rows)
    return found.bound()


class _Binder:
    def __init__(
        self,
        shape: Shape,
        digest: Digest,
        tables: Mapping[str, Known],
        *,
        mark: str,
        replaced: str,
        usual_rows: float | None,
    ) -> None:
        self._shape, self._tables, self._mark, self._replaced = shape, tables, mark, replaced
        self._rows = rows_of_a_call(shape, digest)
        self._usual_rows = usual_rows
        self._found = Bound()
        ends = [(slot.alias, slot.column, slot.role) for slot in shape.slots]
        self._ranges = {
            (alias, column)
            for alias, column, role in ends
            if role == "low" and (alias, column, "high") in ends
        }

    def bound(self) -> Bound:
        self._lists()
        self._found.binds = [
            value
            for slot in self._shape.slots
            for value in [self._value(slot)] * (self._found.many if slot.many else 1)
        ]
        return self._found

    def _lists(self) -> None:
        """Find how long lists are, of values or of rows."""
        found = self._found
        lists = [slot for slot in self._shape.slots if slot.many]
        if lists:
            each = self._filled(lists[0]).rows_each
            length = LIST_GUESSED if self._rows is None else round(self._rows / each)
            found.many = max(1, min(length, LIST_MOST))
            found.guesses.add(f"lists of {found.many}, from the rows that a call met")
        if self._shape.many_rows:
            found.rows = max(2, min(round(self._rows or LIST_GUESSED), LIST_MOST))
            found.guesses.add(f"{found.rows} rows of an INSERT, from the rows that a call made")

    def _value(self, slot: Slot) -> Any:
        match slot.role:
            case "constant":
                return 1
            case "offset":
                return 0
            case "limit":
                rows = LIST_GUESSED if self._rows is None else max(1, round(self._rows))
                self._found.guesses.add(f"LIMIT {rows}, from the rows that a call gave")
                return rows
            case "set":
                return self._given(slot)
            case "equal" | "member":
                return self._compared(slot)
            case "low" | "high":
                return self._end(slot)

    def _filled(self, slot: Slot) -> Filled:
        return self._tables[slot.table].columns[slot.column]

    def _given(self, slot: Slot) -> Any:
        """What a column gets."""
        known, column = self._tables[slot.table], self._filled(slot)
        inserts = self._shape.verb in {"INSERT", "REPLACE"}
        if not inserts or not column.by_row:
            return column.of(known.key)
        if self._replaced:
            return column.of(self._replaced)
        if not column.takes_new_rows:
            raise refusal(
                f"inserts into {slot.table}, whose key is {column.type}: numbers of new rows need a"
                " bigint"
            )
        return column.of({"next_key": known.name})

    def _compared(self, slot: Slot) -> Any:
        known, column = self._tables[slot.table], self._filled(slot)
        if not column.by_row:
            return column.of(None)
        if self._replaced and slot.role == "equal":
            return column.of(self._replaced)
        keys = [
            other
            for other in self._shape.slots
            if other.role == "equal" and other.alias == slot.alias and self._filled(other).by_row
        ]
        if slot.role == "equal" and len({other.column for other in keys}) > 1:
            return column.of(self._shared(f"row_{slot.alias}", known.key))
        return column.of(known.key)

    def _shared(self, name: str, value: Any) -> str:
        """Name a value that is drawn once for several `?`."""
        name = f"{name}{self._mark}".lower()
        name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
        self._found.let.setdefault(name[-50:].lstrip("0123456789"), value)
        return name[-50:].lstrip("0123456789")

    def _end(self, slot: Slot) -> Any:
        """One end of a range, or the only one."""
        known, column = self._tables[slot.table], self._filled(slot)
        if (slot.alias, slot.column) in self._ranges:
            if not column.number:
                raise refusal(f"asks for a range of {slot.column}, which is no whole number")
            start = self._shared(f"from_{slot.column}_{slot.alias}", column.of(known.key))
            if slot.role == "low":
                return start
            return {"sum": start, "plus": self._width(column) - 1}
        if self._shape.has("limit"):
            return column.of(known.key)
        if not column.number:
            raise refusal(f"asks for all beyond a value of {slot.column}, which is no whole number")
        return {"integer": self._beyond(slot, known, column)}

    def _met(self) -> float:
        rows = self._rows if self._rows is not None else self._usual_rows
        return LIST_GUESSED if rows is None else rows

    def _width(self, column: Filled) -> int:
        width = max(1, round(self._met() / column.rows_each))
        self._found.guesses.add(f"ranges of {width}, from the rows that a call met")
        return width

    def _beyond(self, slot: Slot, known: Known, column: Filled) -> list[int]:
        """Bounds of a value beyond which so many rows lie, as a mean."""
        if column.by_row:
            first, rows = numbering(known.seen)
            low, high = first, first + rows - 1
        else:
            low, high = column.value["integer"]
        twice = round(2 * self._met() / column.rows_each)
        self._found.guesses.add(f"how much lies beyond {slot.column}, from the rows of a call")
        if slot.role == "low":
            return [max(low, high - twice), high]
        return [low, min(high, low + twice)]
