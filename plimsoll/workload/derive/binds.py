"""Values for the `?` of a statement, of the right kind and for the observed number of rows."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from plimsoll import words
from plimsoll.model.run.statements_seen import Digest, KeysSeen, TableSeen
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.derive.columns import DRAWN, Filled, fill_columns, find_row_numbers
from plimsoll.workload.derive.shapes import Shape, Slot
from plimsoll.workload.tables import parse_indexed

LIST_GUESSED = 10  # length of a list, and of a LIMIT, if rows are not counted
LIST_MOST = 1000
# reads per row: itself, from the temporary table, and for sorting (MariaDB 11.4)
DISTINCT_READS = 3
# Keys of which a log has fewer than one for so many calls are drawn from so many rows alone.
FEW_LEAST = 10
CALLS_LEAST = 20
# Shares below this, or as near to 1, count as none and all.
SHARE_LEAST = 0.05
# Below and beyond all that a workload's tables have
_ENDS_OF_TIME = ("1971-01-01", "2037-01-01")
_ENDS_OF_TEXTS = ("", "~")
# Share of a table's rows that a LIKE examines from which no index helps it
READS_ALL_LEAST = 0.5
# Rows that an UPDATE examines on average up to which it names one row
NAMES_ONE_MOST = 1.5


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
        cls,
        seen: TableSeen,
        name: str,
        copies: int | None = None,
        *,
        prefixes: bool = False,
        compared: Collection[str] = (),
        asked: Mapping[str, float] | None = None,
    ) -> "Known":
        """Create one from a table of the database; see `fill_columns`."""
        columns = fill_columns(seen, prefixes=prefixes, compared=compared, asked=asked)
        return cls(seen, name, columns, copies)

    @property
    def key(self) -> dict[str, str]:
        """The value that draws the number of one of its rows."""
        return {"key": self.name, "distribution": DRAWN}

    def is_unique(self, column: str) -> bool:
        """Whether a column is in the primary key or a unique index."""
        indexes = (self.seen.primary_key, *(self.seen.indexes[name] for name in self.seen.unique))
        return any(column == parse_indexed(name).column for names in indexes for name in names)


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


def compute_rows_per_call(shape: Shape, digest: Digest) -> float | None:
    """Return the rows that a call reads or changes; None if the server does not count them."""
    writes = shape.verb not in {"SELECT", "WITH"}
    counted = digest.rows_affected if writes else digest.rows_sent
    if shape.aggregates and not writes:
        counted = digest.rows_examined
    elif shape.distinct and counted is not None:  # DISTINCT reads rows again from a temporary table
        counted = max(counted, round((digest.rows_examined or 0) / DISTINCT_READS))
    return None if counted is None or not digest.calls else counted / digest.calls


def find_led(index: Collection[str], equal: Collection[str]) -> list[str]:
    """Return the first columns of an index, as far as a statement compares them by `=`."""
    columns = (parse_indexed(name).column for name in index)
    return list(takewhile(lambda column: column in equal, columns))


def compute_unchanged_share(shape: Shape, digest: Digest) -> float:
    """Return the share of an UPDATE's rows to which it sets what they have.

    MySQL and MariaDB count the rows that an UPDATE changed. It is 0 where that is not known, and
    where the rows that are not changed may be those that the conditions exclude.
    """
    examined, affected = digest.rows_examined, digest.rows_affected
    if shape.verb != "UPDATE" or len(shape.tables) != 1 or not examined or affected is None:
        return 0.0
    if examined > NAMES_ONE_MOST * digest.calls:
        return 0.0
    return _round_share(1 - affected / examined)


def _round_share(share: float) -> float:
    """Return a share between 0 and 1; 0 or 1 if it is near."""
    if share < SHARE_LEAST:
        return 0.0
    return 1.0 if share > 1 - SHARE_LEAST else round(share, 2)


def find_binds(
    shape: Shape,
    digest: Digest,
    tables: Mapping[str, Known],
    *,
    mark: str = "",
    replaced: str = "",
    usual_rows: float | None = None,
    keys: KeysSeen | None = None,
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
        keys: How the keys of its calls repeat; None if that is not known.

    Raises:
        WorkloadError: A value cannot be given; says why.
    """
    found = _Binder(
        shape, digest, tables, mark=mark, replaced=replaced, usual_rows=usual_rows, keys=keys
    )
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
        keys: KeysSeen | None,
    ) -> None:
        self._shape, self._tables, self._mark, self._replaced = shape, tables, mark, replaced
        self._digest = digest
        self._keys = keys if keys is not None and keys.calls >= CALLS_LEAST else None
        self._unchanged = compute_unchanged_share(shape, digest)
        self._rows = compute_rows_per_call(shape, digest)
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
        self._drop_unused()
        return self._found

    def _drop_unused(self) -> None:
        """Drop the shared values that nothing names, such as of a row that is never found."""
        let = self._found.let
        written = repr([self._found.binds, *let.values()])
        self._found.let = {
            name: value for name, value in let.items() if re.search(rf"\b{name}\b", written)
        }

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

    def _give_value(self, slot: Slot) -> Any:  # noqa: C901 - an arm for each role
        match slot.role:
            case "constant":
                return 1
            case "path":
                return {"literal": "$.a"}  # a key in PostgreSQL
            case "same":
                known, column = self._tables[slot.table], self._find_column(slot)
                return column.of_row(self._draw_row(slot.alias, known))
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
            case "like":
                return self._give_pattern(slot)

    def _find_column(self, slot: Slot) -> Filled:
        return self._tables[slot.table].columns[slot.column]

    def _give_set(self, slot: Slot) -> Any:
        """Return the value that a column gets."""
        known, column = self._tables[slot.table], self._find_column(slot)
        if self._shape.verb in {"INSERT", "REPLACE"} and slot.alias:
            return self._give_inserted(slot, known, column)
        new = column.draw(known.key)
        if not self._unchanged or not (column.by_row or column.place):
            return new
        there = column.of_row(self._draw_row(slot.alias, known))
        if self._unchanged == 1:
            return there
        return {"weighted": [[self._unchanged, there], [round(1 - self._unchanged, 2), new]]}

    def _give_inserted(self, slot: Slot, known: Known, column: Filled) -> Any:
        """Return the value of a column of a new row, or of one that an upsert finds."""
        if self._shape.upsert and known.is_unique(slot.column):
            if self._shape.many_rows:
                return column.draw(self._row_of_upsert(known))
            return column.of_row(self._draw_once("upserted", self._row_of_upsert(known)))
        numbered = self._find_numbered(known)
        if not self._replaced and slot.column == numbered:
            return {"next_key": known.name}
        if column.place is not None and self._is_fixed(slot):
            return column.of_row(self._fix(known))
        if not column.by_row:
            return column.draw(known.key)
        if self._replaced:
            return column.draw(self._replaced)
        if not column.takes_new_rows:
            if numbered and slot.column in known.seen.primary_key:
                return 1
            raise build_workload_error(
                f"inserts into {slot.table}, whose key is {column.type}: numbers of new rows need a"
                " bigint"
            )
        return column.draw({"next_key": known.name})

    def _find_numbered(self, known: Known) -> str:
        """Return the column of a key of several that takes the numbers of new rows.

        It is needed where the one that tells the rows apart cannot take them, such as the number of
        a line of an order; empty if it is not.
        """
        key = [known.columns[name] for name in known.seen.primary_key]
        if all(column.takes_new_rows for column in key if column.by_row):
            return ""
        return next(
            (
                slot.column
                for slot in self._shape.slots
                if slot.role == "set" and slot.table == known.seen.name
                if slot.column in known.seen.primary_key
                if known.columns[slot.column].type.startswith("bigint")
            ),
            "",
        )

    def _is_fixed(self, slot: Slot) -> bool:
        """Whether a value was the same in all calls."""
        slots, fixed = self._shape.slots, self._digest.fixed
        return len(fixed) == len(slots) and fixed[slots.index(slot)]

    def _fix(self, known: Known) -> str:
        """Return the name of the number of the row whose values stand for those that are fixed."""
        return self._draw_once("fixed", find_row_numbers(known.seen)[0])

    def _row_of_upsert(self, known: Known) -> Any:
        """Return what draws the number of an upsert's row: one that is there, or a new one."""
        there = self._find_share_there()
        takes_new = all(
            self._find_column(slot).takes_new_rows
            for slot in self._shape.slots
            if slot.role == "set" and self._find_column(slot).by_row
        )
        old, new = self._row(known), {"next_key": known.name}
        if there == 1 or not takes_new:
            return old
        return {"weighted": [[there, old], [round(1 - there, 2), new]]} if there else new

    def _find_share_there(self) -> float:
        """Return the share of an upsert's rows that are there already.

        MySQL and MariaDB count 1 for a new row, 2 for one that is changed and 0 for one that stays
        (dev.mysql.com/doc/refman/8.4/en/insert-on-duplicate.html).
        """
        affected = self._digest.rows_affected
        if self._shape.upsert != "conflict" and affected is not None and self._digest.calls:
            each = affected / self._digest.calls / self._found.rows
            changes = self._shape.upsert == "duplicate" and each >= 1
            return _round_share(each - 1 if changes else 1 - each)
        if self._keys is not None:
            return _round_share(1 - self._keys.distinct / self._keys.calls)
        self._found.guesses.add("half of the rows of an upsert are there already")
        return 0.5

    def _give_compared(self, slot: Slot) -> Any:
        known, column = self._tables[slot.table], self._find_column(slot)
        counted = self._digest.rows_examined is not None and self._digest.calls > 0
        if slot.role != "equal" and column.often is not None and counted:
            rows = find_row_numbers(known.seen)[1]
            each = (self._digest.rows_examined or 0) / self._digest.calls
            return column.choose(float(2 * each >= column.share(rows, often=True) * rows))
        if slot.role != "equal":
            return self._miss(slot, column.draw(known.key))
        if self._replaced and (column.by_row or self._names_row(slot.alias)):
            return column.of_row(self._replaced)
        led = self._find_index(slot)
        if self._finds_nothing and column.place is not None and slot.column not in led:
            return column.of_row(self._draw_row(slot.alias, known), shift=1)
        if column.often is not None and counted and not self._names_one(slot.alias):
            self._found.guesses.add(
                f"how frequent the value of {slot.column} is, from the rows that calls examined"
            )
            first = slot.column == next(iter(led), slot.column)
            found = column.choose(self._expect_rows(slot)[1] if first else 1.0)
        elif self._names_row(slot.alias) or (self._few(known) and self._is_keyed(slot)):
            found = column.of_row(self._draw_row(slot.alias, known))
        else:
            found = column.draw(known.key)
        return self._miss(slot, found) if slot.column == next(iter(led), None) else found

    def _miss(self, slot: Slot, found: Any) -> Any:
        """Return a value that is found, or one of no row as often as the rows of a call tell."""
        each, calls = self._digest.rows_examined, self._digest.calls
        if each is None or not calls or self._shape.verb in {"INSERT", "REPLACE"}:
            return found
        if self._shape.aggregates and each < SHARE_LEAST * calls:
            return found  # MAX by an index examines no row
        if len(self._shape.tables) == 1 and not self._ranges:
            expected, _ = self._expect_rows(slot)
            hit = _round_share(each / calls / expected)
        else:
            hit = 0.0 if each < SHARE_LEAST * calls else 1.0
        absent = self._find_column(slot).absent(find_row_numbers(self._tables[slot.table].seen))
        if hit == 1 or absent is None:
            return found
        self._found.guesses.add(
            f"how often nothing is found by {slot.column}, from the rows that calls examined"
        )
        return {"weighted": [[hit, found], [round(1 - hit, 2), absent]]} if hit else absent

    def _expect_rows(self, slot: Slot) -> tuple[float, float]:
        """Return the rows that a call finds, and the portion that asks for frequent values.

        The portion is such that calls examine as many rows as they did.
        """
        rows = find_row_numbers(self._tables[slot.table].seen)[1]
        if slot.role == "member":
            number = sum(self._found.many) or sum(
                one.role == "member" and one.column == slot.column for one in self._shape.slots
            )
            return max(1.0, number * self._find_column(slot).rows_each), 0.0
        led = self._find_index(slot)
        if not led:
            return float(rows), 1.0
        first, *others = (self._tables[slot.table].columns[name] for name in led)
        within = rows * math.prod(column.share(rows, often=True) for column in others)
        most = max(1.0, first.share(rows, often=True) * within)
        least = max(1.0, first.share(rows, often=False) * within)
        seen = (self._digest.rows_examined or 0) / self._digest.calls
        portion = (seen - least) / (most - least) if most > least else 0.0
        portion = min(1.0, max(0.0, round(portion, 3)))
        expected = least + portion * (most - least)
        return min(expected, self._limit or expected), portion

    def _names_one(self, alias: str) -> bool:
        """Whether a statement compares a column in which each row has a value of its own."""
        return any(
            slot.alias == alias and slot.role == "equal" and self._find_column(slot).by_row
            for slot in self._shape.slots
        )

    @property
    def _finds_nothing(self) -> bool:
        """Whether a SELECT finds no row, though it examines those that an index finds."""
        shape, digest = self._shape, self._digest
        if shape.verb != "SELECT" or shape.aggregates or len(shape.tables) != 1:
            return False
        if digest.rows_examined is None or digest.rows_sent is None:
            return False
        least = SHARE_LEAST * digest.calls
        return digest.rows_sent < least <= digest.rows_examined

    def _find_index(self, slot: Slot) -> list[str]:
        """Return the columns of the index by which a statement finds the fewest rows."""
        known = self._tables[slot.table]
        equal = {
            one.column: self._find_column(one).rows_each
            for one in self._shape.slots
            if one.role == "equal" and one.alias == slot.alias
        }
        rows = max(known.seen.rows, 1)
        ways = [
            led
            for names in (known.seen.primary_key, *known.seen.indexes.values())
            if (led := find_led(names, equal))
        ]
        return min(ways, default=[], key=lambda led: math.prod(equal[c] / rows for c in led))

    def _names_row(self, alias: str) -> bool:
        """Whether a statement compares, or leaves, several columns of one row."""
        columns = {
            slot.column
            for slot in self._shape.slots
            if slot.alias == alias
            and (
                slot.role in {"equal", "same"}
                or (slot.role == "set" and self._unchanged)
                or (slot.role in {"low", "high"} and self._names_one(alias))
            )
        }
        return len(columns) > 1

    def _is_keyed(self, slot: Slot) -> bool:
        """Whether it is the first column that is compared, of which the log counted the values."""
        first = next((one for one in self._shape.slots if one.role == "equal"), None)
        return first is not None and (first.alias, first.column) == (slot.alias, slot.column)

    def _few(self, known: Known) -> int | None:
        """Return how many rows a statement is about, if a log has few; None if not."""
        keys = self._keys
        if keys is None or keys.distinct * FEW_LEAST > keys.calls:
            return None
        first = next((one for one in self._shape.slots if one.role == "equal"), None)
        values = find_row_numbers(known.seen)[1] / (
            self._find_column(first).rows_each if first is not None else 1
        )
        return max(1, keys.distinct) if keys.distinct * FEW_LEAST <= values else None

    def _row(self, known: Known) -> Any:
        """Return what draws the number of the row that a statement is about."""
        first, few = find_row_numbers(known.seen)[0], self._few(known)
        if few is None:
            return known.key
        self._found.guesses.add(
            f"the same {words.format_count(few, 'row')} of {known.name} asked for again and again,"
            " from"
            " how the log's keys repeat"
        )
        return first if few == 1 else {"integer": [first, first + few - 1]}

    def _draw_row(self, alias: str, known: Known) -> str:
        """Return the name of the number of the row that a statement is about."""
        return self._replaced or self._draw_once(f"row_{alias}", self._row(known))

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
            if not column.is_ordered:
                raise build_workload_error(
                    f"asks for a range of {slot.column}, which is neither a whole number nor a time"
                )
            name = f"{slot.column}_{slot.alias}"
            width = self._width(column)
            if column.number:
                start = self._draw_once(f"from_{name}", column.draw(known.key))
                return start if slot.role == "low" else {"sum": start, "plus": width - 1}
            last = max(0, column.distinct - width)
            start = self._draw_once(f"from_{name}", {"integer": [0, last]})
            if slot.role == "low":
                return column.at(start)
            return column.at(self._draw_once(f"to_{name}", {"sum": start, "plus": width - 1}))
        if self._shape.has("limit"):
            examined = self._digest.rows_examined
            if examined is None or examined >= SHARE_LEAST * self._digest.calls or column.number:
                return column.draw(known.key)
            all_ends = _ENDS_OF_TIME if column.is_ordered else _ENDS_OF_TEXTS
            return {"literal": all_ends[slot.role == "low"]}
        if self._names_one(slot.alias) and not self._shape.has("member"):
            return column.of_row(self._draw_row(slot.alias, known))
        if not column.is_ordered:
            raise build_workload_error(
                f"asks for all beyond a value of {slot.column}, which is neither a whole number nor"
                " a time"
            )
        ends = {"integer": self._beyond(slot, known, column)}
        if column.number:
            return ends
        return column.at(self._draw_once(f"{slot.role}_{slot.column}_{slot.alias}", ends))

    def _give_pattern(self, slot: Slot) -> Any:
        """Return a pattern that is looked for in all rows.

        Raises:
            WorkloadError: An index may find what begins with the pattern.
        """
        digest, rows = self._digest, find_row_numbers(self._tables[slot.table].seen)[1]
        if (digest.rows_examined or 0) < READS_ALL_LEAST * rows * digest.calls:
            raise build_workload_error(
                f"asks by LIKE for what begins with a part of {slot.column}: how much that is, is"
                " not known"
            )
        # made-up texts have a v, and no two hyphens
        return {"literal": "%v%" if digest.rows_sent else "%--%"}

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
        if column.bounds is not None:
            low, high = column.bounds
        elif column.number:
            first, rows = find_row_numbers(known.seen)
            low, high = first, first + rows - 1
        else:
            low, high = 0, column.distinct - 1
        twice = round(2 * self._rows_of_range() / column.rows_each)
        self._found.guesses.add(f"how much lies beyond {slot.column}, from the rows of a call")
        if slot.role == "low":
            return [max(low, high - twice), high]
        return [low, min(high, low + twice)]
