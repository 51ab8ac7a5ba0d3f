"""Values for the `?` of a statement, of the right kind and for the observed number of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.model.run.statements_seen import Digest, TableSeen
from plimsoll.workload.declared import workload_error
from plimsoll.workload.derive.columns import DRAWN, Filled, fill_columns, find_row_numbers
from plimsoll.workload.derive.shapes import Shape, Slot

LIST_GUESSED = 10  # length of a list, and of a LIMIT, if rows are not counted
LIST_MOST = 1000
# reads per row: itself, from the temporary table, and for sorting (MariaDB 11.4)
DISTINCT_READS = 3


@dataclass(frozen=True)
class Known:
    """A table of the workload.

    Attributes:
        seen: The table in the database.
        name: The table's name in the workload; copies share one.
        columns: The stand-in values of its columns.
        copies: The number of copies; None for a single table.
    """

    seen: TableSeen
    name: str
    columns: Mapping[str, Filled]
    copies: int | None = None

    @classmethod
    def of(
        cls, seen: TableSeen, name: str, copies: int | None = None, *, prefixes: bool = False
    ) -> "Known":
        """Create one from a table of the database."""
        return cls(seen, name, fill_columns(seen, prefixes=prefixes), copies)

    @property
    def key(self) -> dict[str, str]:
        """The value that draws the number of one of its rows."""
        return {"key": self.name, "distribution": DRAWN}


@dataclass
class Bound:
    """The values of a statement.

    Attributes:
        binds: One value for each `?`.
        let: The values that several of them share, by name.
        many: The length of each list whose length the text does not have.
        rows: The number of rows of an INSERT.
        guesses: The conclusions drawn from row counts, as text.
    """

    binds: list[Any] = field(default_factory=list)
    let: dict[str, Any] = field(default_factory=dict)
    many: tuple[int, ...] = ()
    rows: int = 1
    guesses: set[str] = field(default_factory=set)


def rows_per_call(shape: Shape, digest: Digest) -> float | None:
    """Return the rows that a call reads or changes; None if the server does not count them."""
    writes = shape.verb not in {"SELECT", "WITH"}
    counted = digest.rows_affected if writes else digest.rows_sent
    if shape.aggregates and not writes:
        counted = digest.rows_examined
    elif shape.distinct and counted is not None:  # DISTINCT reads rows again from a temporary table
        counted = max(counted, round((digest.rows_examined or 0) / DISTINCT_READS))
    return None if counted is None or not digest.calls else counted / digest.calls


def find_binds(
    shape: Shape,
    digest: Digest,
    tables: Mapping[str, Known],
    *,
    mark: str = "",
    replaced: str = "",
    usual_rows: float | None = None,
) -> Bound:
    """Find the values of a statement.

    Args:
        shape: The statement.
        digest: The totals of its calls.
        tables: The tables by the names that the shape uses.
        mark: A suffix that makes its names in `let` unique.
        replaced: The name of the number of a row that one statement deletes and another inserts;
            empty if there is none.
        usual_rows: The rows of other ranges, for a range whose rows are not counted.

    Raises:
        WorkloadError: A value cannot be given; says why.
    """
    found = _Binder(shape, digest, tables, mark=mark, replaced=replaced, usual_rows=usual_rows)
    return found.find()


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
        self._rows = rows_per_call(shape, digest)
        self._usual_rows = usual_rows
        self._listed, self._limit, self._span = digest.listed, digest.limit, digest.span
        self._found = Bound()
        ends = [(slot.alias, slot.column, slot.role) for slot in shape.slots]
        self._ranges = {
            (alias, column)
            for alias, column, role in ends
            if role == "low" and (alias, column, "high") in ends
        }

    def find(self) -> Bound:
        self._find_lengths()
        lengths = iter(self._found.many)
        self._found.binds = [
            value
            for slot in self._shape.slots
            for value in [self._give_value(slot)] * (next(lengths) if slot.many else 1)
        ]
        return self._found

    def _find_lengths(self) -> None:
        """Find the lengths of lists of values or rows."""
        found = self._found
        lists = [slot for slot in self._shape.slots if slot.many]
        if lists and len(self._listed) == len(lists):
            found.many = tuple(max(1, min(round(one), LIST_MOST)) for one in self._listed)
        elif lists:
            each = self._find_column(lists[0]).rows_each
            length = LIST_GUESSED if self._rows is None else round(self._rows / each)
            length = max(1, min(length, LIST_MOST))
            found.many = (length,) * len(lists)
            found.guesses.add(f"lists of {length}, from the rows that a call met")
        if self._shape.many_rows:
            told = self._listed[0] if self._listed else self._rows
            found.rows = max(2, min(round(told or LIST_GUESSED), LIST_MOST))
            if not self._listed:
                found.guesses.add(f"{found.rows} rows of an INSERT, from the rows that a call made")

    def _give_value(self, slot: Slot) -> Any:
        match slot.role:
            case "constant":
                return 1
            case "offset":
                return 0
            case "limit" if self._limit is not None:
                return max(1, round(self._limit))
            case "limit":
                rows = LIST_GUESSED if self._rows is None else max(1, round(self._rows))
                self._found.guesses.add(f"LIMIT {rows}, from the rows that a call gave")
                return rows
            case "set":
                return self._give_set(slot)
            case "equal" | "member":
                return self._give_compared(slot)
            case "low" | "high":
                return self._give_end(slot)

    def _find_column(self, slot: Slot) -> Filled:
        return self._tables[slot.table].columns[slot.column]

    def _give_set(self, slot: Slot) -> Any:
        """Return the value that a column gets."""
        known, column = self._tables[slot.table], self._find_column(slot)
        inserts = self._shape.verb in {"INSERT", "REPLACE"}
        if not inserts or not column.by_row:
            return column.of(known.key)
        if self._replaced:
            return column.of(self._replaced)
        if not column.takes_new_rows:
            raise workload_error(
                f"inserts into {slot.table}, whose key is {column.type}: numbers of new rows need a"
                " bigint"
            )
        return column.of({"next_key": known.name})

    def _give_compared(self, slot: Slot) -> Any:
        known, column = self._tables[slot.table], self._find_column(slot)
        if not column.by_row:
            return column.of(None)
        if self._replaced and slot.role == "equal":
            return column.of(self._replaced)
        keys = [
            other
            for other in self._shape.slots
            if other.role == "equal"
            and other.alias == slot.alias
            and self._find_column(other).by_row
        ]
        if slot.role == "equal" and len({other.column for other in keys}) > 1:
            return column.of(self._draw_once(f"row_{slot.alias}", known.key))
        return column.of(known.key)

    def _draw_once(self, name: str, value: Any) -> str:
        """Return the name of a value that is drawn once for several `?`."""
        name = f"{name}{self._mark}".lower()
        name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
        self._found.let.setdefault(name[-50:].lstrip("0123456789"), value)
        return name[-50:].lstrip("0123456789")

    def _give_end(self, slot: Slot) -> Any:
        """Return a value for one end of a range."""
        known, column = self._tables[slot.table], self._find_column(slot)
        if (slot.alias, slot.column) in self._ranges:
            if not column.number:
                raise workload_error(
                    f"asks for a range of {slot.column}, which is not a whole number"
                )
            start = self._draw_once(f"from_{slot.column}_{slot.alias}", column.of(known.key))
            if slot.role == "low":
                return start
            return {"sum": start, "plus": self._width(column) - 1}
        if self._shape.has("limit"):
            return column.of(known.key)
        if not column.number:
            raise workload_error(
                f"asks for all beyond a value of {slot.column}, which is not a whole number"
            )
        return {"integer": self._beyond(slot, known, column)}

    def _rows_of_range(self) -> float:
        rows = self._rows if self._rows is not None else self._usual_rows
        return LIST_GUESSED if rows is None else rows

    def _width(self, column: Filled) -> int:
        if self._span is not None:
            return max(1, round(self._span))
        width = max(1, round(self._rows_of_range() / column.rows_each))
        self._found.guesses.add(f"ranges of {width}, from the rows that a call met")
        return width

    def _beyond(self, slot: Slot, known: Known, column: Filled) -> list[int]:
        """Return bounds of a value beyond which the observed number of rows lies on average."""
        if column.by_row:
            first, rows = find_row_numbers(known.seen)
            low, high = first, first + rows - 1
        else:
            low, high = column.value["integer"]
        twice = round(2 * self._rows_of_range() / column.rows_each)
        self._found.guesses.add(f"how much lies beyond {slot.column}, from the rows of a call")
        if slot.role == "low":
            return [max(low, high - twice), high]
        return [low, min(high, low + twice)]
