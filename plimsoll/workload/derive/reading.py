"""Reads a statement once, from left to right: its tables, and the role of each value.

It knows only as much grammar as it needs to tell which column a value is compared with or put into.
A statement that it does not understand is refused. The workload's own reader
(`plimsoll.workload.reach`) then decides whether the rest may be sent.
"""

from collections.abc import Mapping
from dataclasses import replace

from plimsoll.model.databases import Language
from plimsoll.model.run.statements_seen import TableSeen
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.derive.parts import Part, split_parts
from plimsoll.workload.derive.shapes import AGGREGATES, Piece, Shape, Slot, TableMark, Upsert
from plimsoll.workload.derive.sight import BEFORE_TABLES, Sight
from plimsoll.workload.derive.slots import Level, Slots

DEPTH_MOST = 40
VERBS = {"SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"}
_CLAUSES = {
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
_LIST_UNKNOWN = "has a list of values whose purpose is not known"


def read_shape(
    text: str,
    language: Language,
    tables: Mapping[str, TableSeen],
    database: str = "",
    plain: Mapping[str, str] | None = None,
) -> Shape:
    """Read a statement.

    Args:
        text: The text in the server's digest.
        language: The dialect of the statement.
        tables: The tables of the database, by name.
        database: The database's name, which may precede a table's.
        plain: Other names for those of tables and columns that a workload cannot have.

    Raises:
        WorkloadError: The statement cannot be used; says why.
    """
    written = {name.lower(): other for name, other in (plain or {}).items()}
    parts = tuple(
        replace(part, text=written.get(part.text.lower(), part.text)) if part.is_name else part
        for part in split_parts(text, language)
    )
    return _Reader(Sight(parts, language, tables, database)).shape()


class _Reader:
    """Reads a statement once."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._slots = Slots(sight)
        self._pieces: list[Piece] = []
        self._levels = [Level()]
        self._locks = self._aggregates = self._distinct = self._many_rows = False
        self._upsert: Upsert = ""

    def shape(self) -> Shape:
        verb = self._sight.at(0).word
        if verb not in VERBS:
            known = ", ".join(sorted(VERBS))
            raise build_workload_error(f"begins with {verb or 'no word'}, which is none of {known}")
        if verb == "REPLACE":
            self._upsert = "duplicate"
        at = 0
        while at < len(self._sight.parts):
            at = self._take(at)
        return Shape(
            verb,
            _join_texts(self._pieces),
            tuple(self._sight.tables),
            self._locks,
            self._aggregates,
            self._distinct,
            self._many_rows,
            self._upsert,
        )

    @property
    def _level(self) -> Level:
        return self._levels[-1]

    def _take(self, at: int) -> int:
        """Read one part with what belongs to it; returns the next position."""
        part = self._sight.at(at)
        match part.kind:
            case "value" if literal := self._find_literal(self._sight.at(at - 1).word):
                self._put(literal)
                return at + 1
            case "value":
                self._put(self._slots.of(at, self._level))
                return at + 1
            case "list":
                self._list(at)
                return at + 1
            case "more":
                self._more(at)
                return at + 1
            case "mark":
                self._mark(at, part)
            case "word":
                self._word(at, part.word)
        if part.is_name and not self._sight.at(at - 1).is_mark("."):
            at = self._sight.behind_database(at)
        self._write(at)
        return at + 1

    def _find_literal(self, before: str) -> str:
        """Return what stands for a value that may not be a `?` after a word; empty if it may."""
        postgres = self._sight.language == "postgres"
        return "'!'" if before == "ESCAPE" else "'1 day'" * (before == "INTERVAL" and postgres)

    def _mark(self, at: int, part: Part) -> None:
        if part.is_mark("("):
            self._open(at)
        elif part.is_mark(")") and len(self._levels) > 1:
            self._levels.pop()
        elif part.is_mark(",") and self._level.clause == "values" and not self._level.call:
            self._level.position += 1

    def _word(self, at: int, word: str) -> None:
        after = self._sight.at(at + 1)
        if self._begins_clause(at, word):
            self._level.clause = _CLAUSES[word]
            self._level.tables = word == "FROM"
            self._aggregates |= word == "GROUP"
            self._locks |= word == "LOCK" or (
                word == "FOR" and after.word in {"UPDATE", "SHARE", "NO", "KEY"}
            )
        elif word == "UPDATE" and self._sight.at(at - 1).word == "KEY":  # ON DUPLICATE KEY UPDATE
            self._level.clause, self._upsert = "set", "duplicate"
        elif word in {"CONFLICT", "NOTHING"} or (word == "IGNORE" and at == 1):
            self._upsert = "conflict" if word == "CONFLICT" else "skip"
        elif word in AGGREGATES and after.is_mark("("):
            self._aggregates = True
        elif word == "DISTINCT":
            self._distinct = True
        elif word == "AND":
            self._slots.pass_and(at)

    def _begins_clause(self, at: int, word: str) -> bool:
        """Whether a word begins a clause, rather than being a column or a function's keyword."""
        sight, level, before = self._sight, self._level, self._sight.at(at - 1)
        if word not in _CLAUSES or before.is_mark(".") or (level.call and word in {"FROM", "FOR"}):
            return False
        match word:
            case "VALUES" | "VALUE":
                inserts = sight.at(0).word in {"INSERT", "REPLACE"} and level.clause == "other"
                after = sight.at(at + 1)
                return inserts and (after.is_mark("(") or after.kind == "list")
            case "SET":
                return "UPDATE" in {sight.at(0).word, before.word}
            case "LOCK":
                return sight.at(at + 1).word == "IN"
            case _:
                return True

    def _open(self, at: int) -> None:
        sight, before, level = self._sight, self._sight.at(at - 1), self._level
        inner = Level(clause=level.clause, tables=level.tables)
        if before.word == "IN" and sight.at(at + 1).word != "SELECT":
            inner.compared = sight.column_before(at - 1 - (sight.at(at - 2).word == "NOT"))
        elif self._is_function(at - 1):
            inner.call, inner.position = before.text.upper(), level.position
        elif level.clause == "other" and sight.table(at - 1) is not None:  # INSERT INTO t (a, b)
            self._slots.inserted = sight.names_within(at)
            inner.clause = "columns"
        self._levels.append(inner)
        if len(self._levels) > DEPTH_MOST:
            raise build_workload_error(f"has more than {DEPTH_MOST} parentheses within each other")

    def _put(self, *pieces: Piece, glued: bool = False) -> None:
        """Append pieces, after a space unless they are glued to the text before."""
        last = self._pieces[-1] if self._pieces else "("
        glued = glued or last in {"(", "."}
        self._pieces += [*([] if glued else [" "]), *pieces]

    def _list(self, at: int) -> None:
        """Read `(...)`, a list of unknown length: an inserted row, or after IN."""
        if self._level.clause == "values":
            slots = [self._slots.of_row(n) for n in range(len(self._slots.row()))]
            self._put("(", *_add_commas(slots))
            self._put(")", glued=True)
        elif self._sight.at(at - 1).word == "IN":
            self._put("(", self._slots.of_list(at))
            self._put(")", glued=True)
        else:
            raise build_workload_error(_LIST_UNKNOWN)

    def _more(self, at: int) -> None:
        """Read `...`, the continuation of a list of rows or values."""
        level, before = self._level, self._sight.at(at - 1)
        if level.clause == "values" and (before.kind == "list" or before.is_mark(")")):
            self._many_rows = True
        elif level.clause == "values" and before.is_mark(","):  # (?, ... , NOW())
            last = len(self._slots.row()) - self._values_behind(at)
            slots = [self._slots.of_row(n) for n in range(level.position, last)]
            self._put(*_add_commas(slots))
            level.position = last - 1
        elif level.clause == "limit" and before.is_mark(","):
            self._put(Slot("limit"))
        elif level.compared is not None and isinstance(self._pieces[-1], Slot):
            self._pieces[-1] = Slot("member", *level.compared, many=True)
        else:
            raise build_workload_error(_LIST_UNKNOWN)

    def _values_behind(self, at: int) -> int:
        """Count the values of a row that stand after a position."""
        depth = behind = 0
        for part in self._sight.parts[at + 1 :]:
            depth += part.is_mark("(") - part.is_mark(")")
            if depth < 0:
                break
            behind += part.is_mark(",") and depth == 0
        return behind

    def _write(self, at: int) -> None:
        """Append a part with uniform spacing, whatever the server's."""
        sight, part, before = self._sight, self._sight.at(at), self._sight.at(at - 1)
        if part.kind == "mark":
            called = part.is_mark("(") and self._is_function(at - 1)
            operator = part.glued and before.is_mark(*"<>=!") and part.is_mark(*"<>=")
            operator |= sight.is_arrow(at)
            self._put(part.text, glued=called or operator or part.is_mark(",", ")", "."))
            return
        table = sight.table(at)
        if table is not None and self._names_table(at):
            self._put(TableMark(table))
        elif self._is_function(at):
            self._put(part.text.upper())
        else:
            self._put(self._column_name(at, part))

    def _is_function(self, at: int) -> bool:
        """Whether a function is called there. MariaDB quotes some function names."""
        part = self._sight.at(at)
        known = part.is_name and part.text.upper() in self._sight.vocabulary.functions
        return known and self._sight.at(at + 1).is_mark("(")

    def _column_name(self, at: int, part: Part) -> str:
        """Return a column's name as in its table. MariaDB writes some in capitals, as keywords."""
        free = part.kind == "name" or (part.kind == "word" and self._sight.is_name_here(at))
        found = self._sight.column(part.text) if free else None
        if found is None and part.kind == "word":
            return part.text
        return self._quote(found[1] if found else part.text)

    def _names_table(self, at: int) -> bool:
        """Whether a table's name stands for the table in this place."""
        sight = self._sight
        if sight.at(at + 1).is_mark("."):
            return sight.is_mention(sight.at(at).text)
        before = sight.at(at - 3 if sight.at(at - 1).is_mark(".") else at - 1)
        among = self._level.tables and before.is_mark(",", "(") and not self._level.call
        return before.word in BEFORE_TABLES or among

    def _quote(self, name: str) -> str:
        folds = self._sight.vocabulary.folds and name != name.lower()
        plain = name.isidentifier() and name.isascii() and not folds
        if plain and self._sight.is_free(name):
            return name
        quote = "`" if self._sight.language == "sql" else '"'
        return f"{quote}{name}{quote}"


def _add_commas(slots: list[Slot]) -> list[Piece]:
    pieces: list[Piece] = []
    for slot in slots:
        pieces += [", ", slot] if pieces else [slot]
    return pieces


def _join_texts(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Merge adjacent texts."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, str) and isinstance(last, str):
            joined[-1] = last + piece
        else:
            joined.append(piece)
    return tuple(joined)
