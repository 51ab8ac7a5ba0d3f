"""How many rows a statement meets: as its workload says, else by its kind and its key.

Operations that meet fewer rows than that dispute the step (`capacity.steps.audits`). Whatever is
not certain counts as "perhaps none", so that a default never disputes a true figure.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from plimsoll.model.databases import Language
from plimsoll.model.engine.values import (
    FormatValue,
    HashValue,
    KeyValue,
    LiteralValue,
    RowValue,
    SumValue,
    Value,
    VariableValue,
)
from plimsoll.workload.cursor import unquoted_word
from plimsoll.workload.declared import ReadBy, workload_error
from plimsoll.workload.tables import TableShape
from plimsoll.workload.tokens import Token

ROWS_MOST = 10**9
_RANGE = re.compile(r"(\d{1,10})\.\.(\d{1,10})?")
_DELETES = re.compile(r"\s*DELETE\b[^{]*\{(\w+)\}", re.IGNORECASE)
_UPDATES = re.compile(r"\s*UPDATE\b[^{]*\{(\w+)\}\s*SET\b(.*)", re.IGNORECASE | re.DOTALL)
# words with which an INSERT may leave a row out
_MAY_SKIP = {"SELECT", "IGNORE", "NOTHING", "WHERE", "IF"}
_AFTER_KEY = ([], ["FOR", "UPDATE"], ["FOR", "SHARE"], ["LOCK", "IN", "SHARE", "MODE"])


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
        raise workload_error("is a number of rows, or a range: 1, 0..1, 1.., [1, 100]", value=shown)
    most = ROWS_MOST if found.most is None else found.most
    if not 0 <= found.least <= most <= ROWS_MOST:
        raise workload_error(f"goes from few rows to many, from 0 to {ROWS_MOST}")
    return found


RowRangeText = Annotated[RowRange, ReadBy(read_row_range)]


@dataclass(frozen=True)
class RowKey:
    """The key by which a statement names one row of a table.

    Attributes:
        columns: The name of the key's column, in small letters, by language.
        value: The value of the column in a row.
    """

    columns: Mapping[Language, str]
    value: Value


@dataclass(frozen=True)
class KnownRows:
    """What is known of the rows that statements can name.

    Attributes:
        keys: The keys of the tables whose rows are surely there, by the table's name.
        variables: The values of the operation's `let`.
    """

    keys: Mapping[str, RowKey] = field(default_factory=dict)
    variables: Mapping[str, Value] = field(default_factory=dict)

    def names_row(self, table: str, bind: Value) -> bool:
        """Whether a bind is the key of a row of the table that is surely there."""
        known = self.keys.get(table)
        return known is not None and self._find_row(table, bind) == known.value

    def _find_row(self, table: str, value: Value) -> Value | None:
        """Return a value with the row's number in place of the drawn key; None if it has others."""
        match value:
            case VariableValue(name=name):
                return self._find_row(table, self.variables[name])
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
    """Return the keys of the tables whose rows are there throughout a load, by the table's name.

    Left out are tables without rows, with a key of several columns, with a key that does not follow
    from the row's number alone, and those from which a statement deletes, or whose key it sets.

    Args:
        shapes: The tables.
        texts: The texts of all statements of the workload.
    """
    written = [text for text in texts if isinstance(text, str)]
    deleted = {match[1] for text in written if (match := _DELETES.match(text))}
    changed = [(match[1], match[2]) for text in written if (match := _UPDATES.match(text))]
    keys: dict[str, RowKey] = {}
    for table, shape in shapes.items():
        if table in deleted or not shape.rows or len(shape.primary_key) != 1:
            continue
        (column,) = shape.primary_key
        value = shape.columns[column].value
        sets = re.compile(rf"\b{column}\b[`\"]?\s*=", re.IGNORECASE)
        moved = any(
            sets.search(re.split(r"(?i)\bwhere\b", assigned)[0])
            for other, assigned in changed
            if other == table
        )
        if not moved and _follows_from_number(value):
            own, cql = column.lower(), shape.cql_names[column]
            keys[table] = RowKey({"sql": own, "postgres": own, "cql": cql}, value)
    return keys


def _follows_from_number(value: Value) -> bool:
    match value:
        case RowValue():
            return True
        case SumValue(of=of) | HashValue(of=of):
            return _follows_from_number(of)
        case FormatValue(of=parts):
            constant = [part for part in parts if isinstance(part, LiteralValue)]
            return len(constant) < len(parts) and all(
                _follows_from_number(part) for part in parts if part not in constant
            )
        case _:
            return False


def derive_least_rows(
    tokens: tuple[Token, ...],
    language: Language,
    *,
    table: str | None,
    binds: tuple[Value, ...],
    rows_per_statement: int,
    known: KnownRows,
) -> int:
    """Return the fewest rows that an execution surely meets, by the statement's kind and key.

    An INSERT of VALUES meets all of its rows. A SELECT or UPDATE with `WHERE key = ?` and no other
    condition meets one, if the bind draws from the rows that are there. Whatever else may meet
    none.

    Args:
        tokens: The statement.
        language: Its language.
        table: The workload's name of the only table in it; None if it has several.
        binds: The values of its `?`.
        rows_per_statement: The number of rows of an INSERT.
        known: The rows that are there.
    """
    words = [unquoted_word(token) for token in tokens]
    if words[0] in {"INSERT", "REPLACE"}:
        return rows_per_statement if "VALUES" in words and not _MAY_SKIP & {*words} else 0
    key = known.keys.get(table or "")
    if key is None or words.count("WHERE") != 1:
        return 0
    where = words.index("WHERE")
    match words[0]:
        case "SELECT":
            one_table = words.count("SELECT") == words.count("FROM") == 1
            plain = one_table and words.index("FROM") + 2 == where
        case "UPDATE":
            plain = words[2] == "SET" and "SELECT" not in words
        case _:
            plain = False
    if not plain or not _is_key_alone(tokens[where + 1 :], key.columns[language]):
        return 0
    before = sum(token.is_mark("?") for token in tokens[:where])
    return int(known.names_row(table or "", binds[before]))


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
