"""How many rows a statement meets: as its workload says, else by its kind and its key.

Operations that meet fewer rows than that dispute the step (`capacity.steps.audits`). Whatever is
not certain counts as "perhaps none", so that a default never disputes a true figure.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from plimsoll.model.databases import Language
from plimsoll.model.engine.values import (
    FormatValue,
    HashValue,
    IntegerValue,
    KeyValue,
    LiteralValue,
    NextKeyValue,
    PatternValue,
    RowValue,
    SumValue,
    TextValue,
    Value,
    VariableValue,
)
from plimsoll.workload.cursor import read_unquoted_word
from plimsoll.workload.declared import ReadBy, build_workload_error
from plimsoll.workload.tables import TableShape
from plimsoll.workload.tokens import Token

ROWS_MOST = 10**9
_RANGE = re.compile(r"(\d{1,10})\.\.(\d{1,10})?")
_DELETES = re.compile(r"\s*DELETE\b[^{]*\{(\w+)\}", re.IGNORECASE)
_UPDATES = re.compile(r"\s*UPDATE\b[^{]*\{(\w+)\}\s*SET\b(.*)", re.IGNORECASE | re.DOTALL)
# words with which an INSERT may leave a row out
_MAY_SKIP = {"SELECT", "IGNORE", "NOTHING", "WHERE", "IF"}
_DIGITS = 3  # a value of so many digits or letters is rarely the same twice
_AFTER_KEY: tuple[list[str], ...] = (
    [],
    ["FOR", "UPDATE"],
    ["FOR", "SHARE"],
    ["LOCK", "IN", "SHARE", "MODE"],
)


class RowRange(NamedTuple):
    """The rows that one execution meets; `most` is None without an upper bound."""

    least: int
    most: int | None


def read_row_range(value: Any, _: object = None) -> RowRange:
    """Read `1`, `0..1`, `1..` or `[1, 100]`.

    Raises:
        WorkloadError: It is none of these.
    """
    found: RowRange | None = None
    match value:
        case bool():
            pass
        case int():
            found = RowRange(value, value)
        case str() if text := _RANGE.fullmatch(value):
            found = RowRange(int(text[1]), int(text[2]) if text[2] else None)
        case [int() as first, int() as last]:
            found = RowRange(first, last)
    if found is None:
        shown = value if isinstance(value, str | int) else None
        raise build_workload_error(
            "is a number of rows, or a range: 1, 0..1, 1.., [1, 100]", value=shown
        )
    most = ROWS_MOST if found.most is None else found.most
    if not 0 <= found.least <= most <= ROWS_MOST:
        raise build_workload_error(f"goes from few rows to many, from 0 to {ROWS_MOST}")
    return found


RowRangeText = Annotated[RowRange, ReadBy(read_row_range)]


@dataclass(frozen=True)
class RowKey:
    """The key by which a statement names one row of a table.

    Attributes:
        columns: The name of the key's column, in small letters, by language.
        value: The value of the column in a row.
        stays: Whether the rows are there throughout a load: no statement deletes one, or sets its
            key.
    """

    columns: Mapping[Language, str]
    value: Value
    stays: bool


@dataclass(frozen=True)
class KnownRows:
    """What is known of the rows that statements can name.

    Attributes:
        keys: The keys of tables with rows, by the table's name.
        variables: The values of the operation's `let`.
    """

    keys: Mapping[str, RowKey] = field(default_factory=dict)
    variables: Mapping[str, Value] = field(default_factory=dict)

    def names_row(self, table: str, bind: Value) -> bool:
        """Whether a bind is the key of a row that the table has at the beginning of a load."""
        return self._find_row(table, bind) == self.keys[table].value

    def write_out(self, value: Value) -> Value:
        """Return a value with those of `let` in place of their names."""
        match value:
            case VariableValue(name=name):
                return self.write_out(self.variables[name])
            case SumValue(of=of) | HashValue(of=of):
                return value.model_copy(update={"of": self.write_out(of)})
            case FormatValue(of=parts):
                return value.model_copy(update={"of": tuple(map(self.write_out, parts))})
            case _:
                return value

    def _find_row(self, table: str, value: Value) -> Value | None:
        """Return a value with the row's number in place of the drawn key; None if it has others."""
        match value:
            case VariableValue():
                return self._find_row(table, self.write_out(value))
            case KeyValue(key_space=space):
                return RowValue() if space == table else None
            case LiteralValue():
                return value
            case SumValue(of=of) | HashValue(of=of):
                part = self._find_row(table, of)
                return None if part is None else value.model_copy(update={"of": part})
            case FormatValue(of=parts):
                found = [self._find_row(table, part) for part in parts]
                if any(part is None for part in found):
                    return None
                return value.model_copy(update={"of": tuple(found)})
            case _:
                return None


def find_row_keys(shapes: Mapping[str, TableShape], texts: Iterable[object]) -> dict[str, RowKey]:
    """Return the keys of the tables of which a statement can name one row, by the table's name.

    Left out are tables without rows, with a key of several columns, and with a key that does not
    follow from the row's number alone.

    Args:
        shapes: The tables.
        texts: The texts of all statements of the workload.
    """
    written = [text for text in texts if isinstance(text, str)]
    deleted = {match[1] for text in written if (match := _DELETES.match(text))}
    changed = [(match[1], match[2]) for text in written if (match := _UPDATES.match(text))]
    keys: dict[str, RowKey] = {}
    for table, shape in shapes.items():
        if not shape.rows or len(shape.primary_key) != 1:
            continue
        (column,) = shape.primary_key
        value = shape.columns[column].value
        sets = re.compile(rf"\b{column}\b[`\"]?\s*=", re.IGNORECASE)
        moved = any(
            sets.search(re.split(r"(?i)\bwhere\b", assigned)[0])
            for other, assigned in changed
            if other == table
        )
        if follows_from_number(value):
            own, cql = column.lower(), shape.cql_names[column]
            columns: dict[Language, str] = {"sql": own, "postgres": own, "cql": cql}
            stays = table not in deleted and not moved
            keys[table] = RowKey(columns, value, stays)
    return keys


def follows_from_number(value: Value, of: type[RowValue | NextKeyValue] = RowValue) -> bool:
    """Whether a value follows from a row's number alone, without chance."""
    match value:
        case RowValue() | NextKeyValue():
            return isinstance(value, of)
        case SumValue(of=part) | HashValue(of=part):
            return follows_from_number(part, of)
        case FormatValue(of=parts):
            constant = [part for part in parts if isinstance(part, LiteralValue)]
            return len(constant) < len(parts) and all(
                follows_from_number(part, of) for part in parts if part not in constant
            )
        case _:
            return False


@dataclass(frozen=True)
class NamedRow:
    """The one row that a statement names by its key.

    Attributes:
        column: The key's column.
        bind: The index of the key among the statement's binds.
        key: The value of the key, without names of `let`.
        stays: Whether the row is there throughout a load.
        writes: What the statement surely does to the row (`model.engine.asked.RowWritten`); None if
            that is nothing, or not sure.
    """

    column: str
    bind: int
    key: Value
    stays: bool
    writes: Literal["update", "insert", "delete", "insert_again"] | None


def derive_least_rows(
    tokens: tuple[Token, ...], *, named: NamedRow | None, rows_per_statement: int
) -> int:
    """Return the fewest rows that an execution surely meets, by the statement's kind and key.

    An INSERT of VALUES meets all of its rows. A SELECT or UPDATE of one row by its key meets that
    row if it stays. Whatever else may meet none.

    Args:
        tokens: The statement.
        named: The row that it names; None if it names none.
        rows_per_statement: The number of rows of an INSERT.
    """
    words = [read_unquoted_word(token) for token in tokens]
    if words[0] in {"INSERT", "REPLACE"}:
        return rows_per_statement if "VALUES" in words and not _MAY_SKIP & {*words} else 0
    return int(named is not None and named.stays and named.writes != "delete")


def find_named_row(
    tokens: tuple[Token, ...],
    language: Language,
    *,
    table: str | None,
    binds: tuple[Value, ...],
    known: KnownRows,
) -> NamedRow | None:
    """Return the row that a statement names by `WHERE key = ?` alone, or inserts with that key.

    None if it does neither.

    Args:
        tokens: The statement.
        language: The statement's language.
        table: The workload's name of the only table in it; None if it has several.
        binds: The values of its `?`.
        known: The rows that it can name.
    """
    words = [read_unquoted_word(token) for token in tokens]
    if table is None or table not in known.keys:
        return None
    if words[0] == "INSERT":
        return _find_inserted_row(tokens, language, table=table, binds=binds, known=known)
    if words.count("WHERE") != 1:
        return None
    where = words.index("WHERE")
    match words[0]:
        case "SELECT":
            one_table = words.count("SELECT") == words.count("FROM") == 1
            plain = one_table and words.index("FROM") + 2 == where
        case "UPDATE":
            plain = words[2] == "SET" and "SELECT" not in words
        case "DELETE":
            plain = words[1] == "FROM" and where == 3
        case _:
            plain = False
    key = known.keys[table]
    if not plain or not _is_key_alone(tokens[where + 1 :], key.columns[language]):
        return None
    bind = sum(token.is_mark("?") for token in tokens[:where])
    if not known.names_row(table, binds[bind]):
        return None
    drawn = [known.write_out(value) for value in binds[:bind]]
    writes: Literal["update", "delete"] | None = "delete" if words[0] == "DELETE" else None
    if words[0] == "UPDATE" and (any(map(_has_many_values, drawn)) or _counts_up(tokens[:where])):
        writes = "update"
    value = known.write_out(binds[bind])
    return NamedRow(key.columns[language], bind, value, key.stays, writes)


def _find_inserted_row(
    tokens: tuple[Token, ...],
    language: Language,
    *,
    table: str,
    binds: tuple[Value, ...],
    known: KnownRows,
) -> NamedRow | None:
    """Return the row of `INSERT INTO table (columns) VALUES (values)`.

    It has a new number, or the key of a row that is there and other values than that row, for an
    operation that has deleted it: then `ON CONFLICT` leaves nothing out. None if the statement has
    another form, such as one that may leave the row out.
    """
    words = [read_unquoted_word(token) for token in tokens]
    if "VALUES" not in words or (_MAY_SKIP - {"NOTHING"}) & {*words}:
        return None
    values = words.index("VALUES")
    columns = [token.text.lower() for token in tokens[4 : values - 1 : 2]]
    key = known.keys[table]
    column = key.columns[language]
    if not tokens[3].is_mark("(") or columns.count(column) != 1:
        return None
    place, depth, bind = columns.index(column), 0, 0
    for token in tokens[values + 1 :]:
        depth += token.is_mark("(") - token.is_mark(")")
        if depth == 1 and token.is_mark(","):
            place -= 1
        if token.is_mark("?"):
            if depth == 1 and place == 0:
                value = known.write_out(binds[bind])
                others = map(known.write_out, (*binds[:bind], *binds[bind + 1 :]))
                writes: Literal["insert", "insert_again"]
                if follows_from_number(value, of=NextKeyValue) and "ON" not in words:
                    writes = "insert"
                elif known.names_row(table, binds[bind]) and any(map(_has_many_values, others)):
                    writes = "insert_again"
                else:
                    return None
                return NamedRow(column, bind, value, key.stays, writes)
            bind += 1
    return None


def _has_many_values(value: Value) -> bool:
    """Whether a value is hardly ever the one that is there already."""
    match value:
        case TextValue(length=length):
            return length >= _DIGITS
        case PatternValue(pattern=pattern):
            return pattern.count("#") + pattern.count("@") >= _DIGITS
        case IntegerValue(low=low, high=high):
            return high - low >= 1_000
        case _:
            return False


def _counts_up(tokens: tuple[Token, ...]) -> bool:
    """Whether a statement sets a column to itself plus or minus a number: `k = k + 1`."""
    return any(
        column.text.lower() == again.text.lower()
        and equals.is_mark("=")
        and (sign.is_mark("+") or sign.is_mark("-"))
        and number.kind == "number"
        and number.text.strip("0") not in {"", "."}
        for column, equals, again, sign, number in zip(
            tokens, tokens[1:], tokens[2:], tokens[3:], tokens[4:], strict=False
        )
    )


def _is_key_alone(condition: tuple[Token, ...], column: str) -> bool:
    """Whether a condition is `column = ?`, with nothing after it that may leave the row out."""
    if len(condition) < 3 or condition[0].kind not in {"word", "name"}:
        return False
    named = condition[0].text.lower() == column
    if not named or not condition[1].is_mark("=") or not condition[2].is_mark("?"):
        return False
    rest = [token.text.upper() for token in condition[3:]]
    if rest[:1] == ["LIMIT"] and rest[1:2] and rest[1].isdigit() and int(rest[1]):
        rest = rest[2:]
    return rest in _AFTER_KEY
