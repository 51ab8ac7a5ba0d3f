"""Reads the parts of a statement once, from left to right: which tables, and what values are for.

It knows as much of the grammar as it takes to say of a value which column it is compared with or
put into. Where it does not know, it says so, and the statement is not taken. The workload's own
reader (`plimsoll.workload.reach`) then decides whether what is left may be sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.model.databases import Language
from plimsoll.model.statements_seen import TableSeen
from plimsoll.workload.declared import refusal
from plimsoll.workload.derive.parts import Part, parts_of
from plimsoll.workload.derive.shapes import (
    AGGREGATES,
    Mentions,
    Piece,
    Role,
    Shape,
    Slot,
    TableMark,
)
from plimsoll.workload.vocabulary import vocabulary

DEPTH_MOST = 40
VERBS = {"SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"}
_ARITHMETIC = ("+", "-", "*", "/", "%")
_COMPARES: dict[str, Role] = {
    "=": "equal",
    "<=>": "equal",
    "<>": "equal",
    "!=": "equal",
    "<": "high",
    "<=": "high",
    ">": "low",
    ">=": "low",
}
_REGIONS = {
    "SELECT": "select",
    "FROM": "from",
    "WHERE": "where",
    "ON": "where",
    "HAVING": "where",
    "SET": "set",
    "GROUP": "other",
    "ORDER": "other",
    "LIMIT": "limit",
    "OFFSET": "offset",
    "VALUES": "values",
    "VALUE": "values",
    "RETURNING": "select",
    "FOR": "other",
    "LOCK": "other",
}
_BEFORE_TABLES = {"FROM", "JOIN", "STRAIGHT_JOIN", "INTO", "UPDATE"}
_AFTER_TABLE_NO_ALIAS = {"FORCE", "USE", "IGNORE", "PARTITION"}
_END = Part("mark", "")


@dataclass
class _Level:
    """What holds between the parentheses around a part.

    Attributes:
        region: The clause.
        tables: Whether a comma is followed by a table.
        column: What IN compares, where these are its parentheses.
        position: Of a value in a row that is inserted.
        call: Whether these are the parentheses of a function.
    """

    region: str = "other"
    tables: bool = False
    column: tuple[str, str, str] | None = None
    position: int = 0
    call: bool = False


def shape_of(
    text: str, language: Language, tables: Mapping[str, TableSeen], database: str = ""
) -> Shape:
    """Read a statement.

    Args:
        text: As the server's digest has it.
        language: Whose dialect it is.
        tables: What there is, by name.
        database: Its own name, which may stand before a table's.

    Raises:
        WorkloadError: It cannot be taken; says why.
    """
    return _Reader(parts_of(text, language), language, tables, database).shape()


class _Reader:
    def __init__(
        self,
        parts: tuple[Part, ...],
        language: Language,
        tables: Mapping[str, TableSeen],
        database: str,
    ) -> None:
        self._parts = parts
        self._language = language
        self._vocabulary = vocabulary(language)
        self._known = {name.lower(): name for name in tables}
        self._database = database
        self._mentions = Mentions(tables)
        self._pieces: list[Piece] = []
        self._order: dict[str, None] = {}
        self._levels = [_Level()]
        self._between: tuple[str, str, str] | None = None
        self._assigned: tuple[str, str, str] | None = None
        self._inserted: list[str] = []  # columns
        self._locks = self._aggregates = self._many_rows = False

    def shape(self) -> Shape:
        verb = self._at(0).word
        if verb not in VERBS:
            raise refusal(f"begins with {verb or 'no word'}, which is no {', '.join(sorted(VERBS))}")
        self._name_tables()
        at = 0
        while at < len(self._parts):
            at = self._take(at)
        pieces = _joined(self._pieces)
        return Shape(
            verb, pieces, tuple(self._order), self._locks, self._aggregates, self._many_rows
        )

    def _at(self, at: int) -> Part:
        return self._parts[at] if 0 <= at < len(self._parts) else _END

    def _name_tables(self) -> None:
        """Find the tables first: a column of the SELECT list stands before its table."""
        tables, depth_of_from = False, []
        for at, part in enumerate(self._parts):
            if part.is_mark("("):
                depth_of_from.append(tables)
                tables = tables and self._at(at + 1).word != "SELECT"
                before = self._at(at - 1)
                if tables and (before.is_mark(",") or before.word in _BEFORE_TABLES):
                    self._mention(at + 1)
            elif part.is_mark(")"):
                tables = depth_of_from.pop() if depth_of_from else False
            elif part.word in _BEFORE_TABLES and not self._updates(at):
                tables = part.word != "INTO"
                self._mention(at + 1)
            elif part.word in _REGIONS and part.word not in {"FROM", "ON"}:
                tables = False
            elif part.is_mark(",") and tables:
                self._mention(at + 1)

    def _updates(self, at: int) -> bool:
        """Whether UPDATE is that of ON DUPLICATE KEY UPDATE, DO UPDATE or FOR UPDATE."""
        return self._at(at).word == "UPDATE" and self._at(at - 1).word in {"KEY", "DO", "FOR"}

    def _mention(self, at: int) -> None:
        at = self._table_at(at)
        table = self._table(at)
        if table is None:
            return
        self._order.setdefault(table)
        behind = at + 1 + (self._at(at + 1).word == "AS")
        alias = self._at(behind)
        free = alias.kind == "name" or (alias.kind == "word" and self._is_free(alias))
        self._mentions.add(table, alias.text if free else table)

    def _table_at(self, at: int) -> int:
        """Pass over the database's own name before a table's."""
        named = self._at(at).is_name and self._at(at).text.lower() == self._database.lower()
        return at + 2 if named and self._at(at + 1).is_mark(".") else at

    def _table(self, at: int) -> str | None:
        part = self._at(at)
        return self._known.get(part.text.lower()) if part.is_name else None

    def _is_free(self, part: Part) -> bool:
        known, word = self._vocabulary, part.word
        taken = known.structure | known.words | known.modifiers | known.reserved
        return word not in taken and word not in _AFTER_TABLE_NO_ALIAS

    def _take(self, at: int) -> int:
        """Read one part, and what belongs to it; gives the place behind."""
        part, level = self._at(at), self._levels[-1]
        if part.is_mark("("):
            self._open(at)
        elif part.is_mark(")"):
            if len(self._levels) > 1:
                self._levels.pop()
        elif part.is_mark(",") and level.region == "values" and not level.call:
            level.position += 1
        elif part.kind == "value":
            self._value(at)
            return at + 1
        elif part.kind == "list":
            return self._list(at)
        elif part.kind == "more":
            return self._more(at)
        elif part.word:
            self._word(at)
        if part.is_name and not self._at(at - 1).is_mark("."):
            at = self._passed_database(at)
        self._write(at)
        return at + 1

    def _passed_database(self, at: int) -> int:
        passed = self._table_at(at)
        return passed if self._table(passed) is not None else at

    def _word(self, at: int) -> None:
        part, level = self._at(at), self._levels[-1]
        word = part.word
        if self._begins_clause(at):
            self._region(word, at)
        elif word == "UPDATE" and self._at(at - 1).word == "KEY":
            level.region = "set"
        elif word == "DISTINCT" or (word in AGGREGATES and self._at(at + 1).is_mark("(")):
            self._aggregates = True
        elif word == "AND" and self._between and self._at(at + 1).kind != "value":
            self._between = None

    def _begins_clause(self, at: int) -> bool:
        """Whether a word begins a clause, and is no column's name or a function's own word."""
        word, level, before = self._at(at).word, self._levels[-1], self._at(at - 1)
        if word not in _REGIONS or before.is_mark(".") or (level.call and word in {"FROM", "FOR"}):
            return False
        match word:
            case "VALUES" | "VALUE":
                inserts = self._at(0).word in {"INSERT", "REPLACE"} and level.region == "other"
                return inserts and (self._at(at + 1).is_mark("(") or self._at(at + 1).kind == "list")
            case "SET":
                return self._at(0).word == "UPDATE" or before.word == "UPDATE"
            case "LOCK":
                return self._at(at + 1).word == "IN"
            case _:
                return True

    def _region(self, word: str, at: int) -> None:
        level = self._levels[-1]
        if word == "GROUP":
            self._aggregates = True
        if word in {"FOR", "LOCK"} and level.region != "from":
            self._locks = True
        elif word == "FOR" and self._at(at + 1).word in {"UPDATE", "SHARE"}:
            self._locks = True
        level.region = _REGIONS[word]
        level.tables = word == "FROM"

    def _open(self, at: int) -> None:
        before, level = self._at(at - 1), self._levels[-1]
        inner = _Level(region=level.region, tables=level.tables)
        if before.word == "IN" and self._at(at + 1).word != "SELECT":
            not_in = self._at(at - 2).word == "NOT"
            inner.column = self._column_before(at - 1 - not_in)
        elif before.is_name and (before.word in self._vocabulary.functions):
            inner.call = True
            inner.position = level.position
        elif level.region == "other" and self._table(at - 1) is not None:
            self._inserted = self._names_within(at)
            inner.region = "columns"
        self._levels.append(inner)
        if len(self._levels) > DEPTH_MOST:
            raise refusal(f"has more than {DEPTH_MOST} parentheses within each other")

    def _names_within(self, at: int) -> list[str]:
        names, at = [], at + 1
        while at < len(self._parts) and not self._at(at).is_mark(")"):
            if self._at(at).is_name:
                names.append(self._at(at).text)
            at += 1
        return names

    def _value(self, at: int) -> None:
        level = self._levels[-1]
        match level.region:
            case "select":
                slot = Slot("constant")
            case "set":
                slot = self._assignment(at)
            case "values":
                slot = self._inserted_value(level.position)
            case "limit":
                offset = self._at(at + 1).is_mark(",")
                slot = Slot("offset" if offset else "limit")
            case "offset":
                slot = Slot("offset")
            case "where":
                slot = self._condition(at)
            case _:
                raise refusal("has a value where it is not known what it is for")
        self._put(slot, at)

    def _put(self, slot: Slot, at: int) -> None:
        if self._at(at).glued is False and self._pieces:
            self._pieces.append(" ")
        self._pieces.append(slot)

    def _assignment(self, at: int) -> Slot:
        if self._at(at - 1).is_mark("="):
            self._assigned = self._column_before(at - 1)
        if self._at(at - 1).is_mark(*_ARITHMETIC) or self._assigned is None:
            return Slot("constant")
        table, column, alias = self._assigned
        return Slot("set", table, column, alias)

    def _inserted_value(self, position: int) -> Slot:
        table = next(iter(self._order), "")
        columns = self._inserted
        if table and not columns:
            columns = [column.name for column in self._mentions.known[table].columns]
        found = self._mentions.column(columns[position]) if position < len(columns) else None
        if found is None:
            raise refusal("has more values than columns that are known")
        return Slot("set", *found)

    def _condition(self, at: int) -> Slot:
        before, level = self._at(at - 1), self._levels[-1]
        if level.column is not None:
            return Slot("member", *level.column)
        if before.is_mark(*_ARITHMETIC) or before.word == "INTERVAL":
            return Slot("constant")
        if self._at(at + 1).is_mark(*_ARITHMETIC):
            raise refusal("compares with an expression, whose values cannot be known")
        if before.word == "BETWEEN":
            back = 2 if self._at(at - 2).word == "NOT" else 1
            self._between = self._required(self._column_before(at - back))
            return Slot("low", *self._between)
        if before.word == "AND" and self._between is not None:
            found, self._between = self._between, None
            return Slot("high", *found)
        start = at
        while self._at(start - 1).is_mark("<", ">", "=", "!"):
            start -= 1
        operator = "".join(part.text for part in self._parts[start:at])
        if operator not in _COMPARES:
            raise refusal("has a value where it is not known what it is for")
        return Slot(_COMPARES[operator], *self._required(self._column_before(start)))

    def _required(self, found: tuple[str, str, str] | None) -> tuple[str, str, str]:
        if found is None:
            raise refusal("compares something with a value that is no column by itself")
        return found

    def _column_before(self, at: int) -> tuple[str, str, str] | None:
        """Find the column whose name ends right before a place."""
        name = self._at(at - 1)
        if not name.is_name:
            return None
        qualifier, first = "", at - 1
        if self._at(at - 2).is_mark(".") and self._at(at - 3).is_name:
            qualifier, first = self._at(at - 3).text, at - 3
        if self._at(first - 1).is_mark(*_ARITHMETIC):
            return None
        return self._mentions.column(name.text, qualifier)

    def _list(self, at: int) -> int:
        """Read `(...)`, so many values: of a row, or after IN."""
        level, before = self._levels[-1], self._at(at - 1)
        if level.region == "values":
            table = next(iter(self._order), "")
            known = self._mentions.known[table].columns if table else ()
            count = len(self._inserted) or len(known)
            self._pieces.append(" (")
            for position in range(count):
                self._pieces += [", "] if position else []
                self._pieces.append(self._inserted_value(position))
            self._pieces.append(")")
            return at + 1
        if before.word == "IN":
            back = 2 if self._at(at - 2).word == "NOT" else 1
            found = self._required(self._column_before(at - back))
            self._pieces += [" (", Slot("member", *found, many=True), ")"]
            return at + 1
        raise refusal("has a list of values where it is not known what they are for")

    def _more(self, at: int) -> int:
        level, before = self._levels[-1], self._at(at - 1)
        if level.region == "values" and (before.kind == "list" or before.is_mark(")")):
            self._many_rows = True
            return at + 1
        if level.region == "values" and before.is_mark(","):  # (?, ... , NOW())
            self._values_untold(at)
            return at + 1
        if level.region == "limit" and self._at(at - 1).is_mark(","):
            self._put(Slot("limit"), at)
            return at + 1
        if level.column is not None:  # IN (?, ...): PostgreSQL 18 shows the first of them
            last = self._pieces[-1]
            if isinstance(last, Slot):
                self._pieces[-1] = Slot("member", *level.column, many=True)
                return at + 1
        raise refusal("has a list of values where it is not known what they are for")

    def _values_untold(self, at: int) -> None:
        """Write as many values of a row as are left between those that are told."""
        level, depth, behind = self._levels[-1], 0, 0
        for part in self._parts[at + 1 :]:
            depth += part.is_mark("(") - part.is_mark(")")
            if depth < 0:
                break
            behind += part.is_mark(",") and depth == 0
        table = next(iter(self._order), "")
        known = self._mentions.known[table].columns if table else ()
        last = (len(self._inserted) or len(known)) - behind
        for position in range(level.position, last):
            self._pieces += [", "] if position > level.position else [" "]
            self._pieces.append(self._inserted_value(position))
        level.position = last - 1

    def _write(self, at: int) -> None:
        part, before = self._at(at), self._at(at - 1)
        called = part.is_mark("(") and before.word in self._vocabulary.functions
        if self._pieces and not part.glued and not called:
            self._pieces.append(" ")
        table = self._table(at)
        if table is not None and self._names_a_table(at):
            self._pieces.append(TableMark(table))
            return
        self._pieces.append(self._quoted(part) if part.kind == "name" else part.text)

    def _names_a_table(self, at: int) -> bool:
        """Whether a name that is a table's stands for the table."""
        if self._at(at + 1).is_mark("."):
            return self._at(at).text.lower() in self._mentions.by_alias
        before = self._at(at - 1)
        if before.is_mark("."):
            before = self._at(at - 3)
        level = self._levels[-1]
        return before.word in _BEFORE_TABLES or (
            level.tables and before.is_mark(",", "(") and not level.call
        )

    def _quoted(self, part: Part) -> str:
        plain = part.text.isidentifier() and part.text.isascii()
        folds = self._vocabulary.folds and part.text != part.text.lower()
        if plain and not folds and self._is_free(Part("word", part.text)):
            return part.text
        quote = "`" if self._language == "sql" else '"'
        return f"{quote}{part.text}{quote}"


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Put texts beside each other together."""
    joined: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)
