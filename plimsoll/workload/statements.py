"""Statements: their text for each copy and choice, and what fills their `?`."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import assert_never, get_args

from plimsoll.model.databases import Language, protocol_facts
from plimsoll.model.engine import EngineStatement, Protocol
from plimsoll.model.values import Value
from plimsoll.workload.items import Item
from plimsoll.workload.reach import beyond
from plimsoll.workload.tables import TableShape, check_table
from plimsoll.workload.values import Scope, is_number, read_value

MAX_ALTERNATIVES = 10_000
MAX_PLACEHOLDERS = min(protocol_facts(name).parameters_max for name in get_args(Protocol))

_NAME = re.compile(r"\{(\w+)\}")
# What a `?` inside does not count in: quoted text, quoted names, comments.
_QUOTED = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`[^`]*`|--[ \t][^\n]*|\#[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
_VALUES = re.compile(r"^(?P<head>.*\bvalues\s*)(?P<row>\([^()]*\))\s*$", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """A statement in each language; None where the workload has no text in it."""

    sql: EngineStatement | None
    cql: EngineStatement | None

    def in_language(self, language: Language) -> EngineStatement | None:
        """Give the statement in a language; None where the workload has no text in it."""
        match language:
            case "sql":
                return self.sql
            case "cql":
                return self.cql
            case _:
                assert_never(language)


def read_statement(item: Item, tables: dict[str, TableShape], scope: Scope) -> Statement:
    """Read one statement.

    Raises:
        WorkloadError: Unknown tables or variables, unbound or superfluous parameters ...
    """
    fields = item.fields(
        optional=("sql", "cql", "binds", "repeat", "choose", "one_of", "rows_per_statement")
    )
    if "sql" not in fields and "cql" not in fields:
        raise item.error("lacks the field 'sql' (or 'cql')")
    rows = fields["rows_per_statement"].integer(1, 10_000) if "rows_per_statement" in fields else 1
    binds = (
        tuple(read_value(part, scope) for part in fields["binds"].sequence())
        if "binds" in fields
        else ()
    )
    if len(binds) * rows > MAX_PLACEHOLDERS:
        raise item.error(f"{len(binds) * rows} parameters; a statement takes {MAX_PLACEHOLDERS}")
    choose = _read_choose(fields["choose"], scope) if "choose" in fields else None
    repeat = fields["repeat"].integer(1, 100_000) if "repeat" in fields else 1

    def resolve(language: Language) -> EngineStatement | None:
        if language not in fields:
            return None
        text = fields[language]
        alternatives = _alternatives(text, fields.get("one_of"), tables, language)
        copies = _copies(text, tables)
        if choose is not None and "one_of" in fields:
            raise fields["choose"].error("picks a table's copy: it does not go with one_of")
        if choose is not None and copies is None:
            raise fields["choose"].error("picks a table's copy, and no table here has copies")
        for alternative in alternatives:
            _check_placeholders(text, alternative, len(binds))
        # copies of a table differ in names of ours; chosen words may be anything's name
        for alternative in alternatives if "one_of" in fields else alternatives[:1]:
            if what := beyond(alternative):
                raise text.error(f"reaches beyond the workload's tables: {what}")
        return EngineStatement(
            sql=tuple(_with_rows(text, alternative, rows) for alternative in alternatives),
            binds=binds * rows,
            repeat=repeat,
            choose=choose if len(alternatives) > 1 else None,
        )

    return Statement(sql=resolve("sql"), cql=resolve("cql"))


def _read_choose(item: Item, scope: Scope) -> Value:
    value = read_value(item, scope)
    if not is_number(value, scope):
        raise item.error("must be a whole number: the copy's index from 0")
    return value


def _copies(item: Item, tables: dict[str, TableShape]) -> int | None:
    """How many copies the tables of a statement have; they must agree."""
    counts = {tables[name].copies: name for name in _NAME.findall(item.text()) if name in tables}
    counts.pop(None, None)
    if len(counts) > 1:
        raise item.error(f"{' and '.join(counts.values())} differ in their number of copies")
    return next(iter(counts), None)


def _alternatives(
    item: Item, one_of: Item | None, tables: dict[str, TableShape], language: Language
) -> list[str]:
    template = item.text().strip().rstrip("; \n")
    if ";" in _QUOTED.sub("", template):
        raise item.error("holds more than one statement")
    choices = _read_choices(one_of, template, tables) if one_of is not None else {}
    for name in _NAME.findall(template):
        if name not in choices:
            check_table(item, name, tables)
    copies = _copies(item, tables) or 1
    words = next(iter(choices.values()), [""])
    if copies * len(words) > MAX_ALTERNATIVES:
        raise item.error(f"has more than {MAX_ALTERNATIVES} alternatives")

    def fill(copy: int, word: str) -> str:
        def replace(match: re.Match[str]) -> str:
            shape = tables.get(match[1])
            if shape is None:
                return word
            name = shape.names()[copy if shape.copies is not None else 0]
            return _table_name(name, language)

        return _NAME.sub(replace, template)

    return [fill(copy, word) for copy in range(copies) for word in words]


def _table_name(name: str, language: Language) -> str:
    match language:
        case "sql":
            return f"`{name}`"
        case "cql":
            return name
        case _:
            assert_never(language)


def _read_choices(item: Item, template: str, tables: dict[str, TableShape]) -> dict[str, list[str]]:
    entries = item.entries()
    if len(entries) != 1:
        raise item.error("must have one name with its list of words")
    words: dict[str, list[str]] = {}
    for name, part in entries.items():
        if name in tables:
            raise part.error("is a table's name")
        if f"{{{name}}}" not in template:
            raise part.error(f"{{{name}}} is not in the statement")
        words[name] = [word.text() for word in part.sequence()]
        if not words[name]:
            raise part.error("has no words to choose from")
        for word in words[name]:
            if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", word):
                raise part.error(f"{word!r}: letters, digits and _ only")
    return words


def _check_placeholders(item: Item, text: str, binds: int) -> None:
    count = placeholders(text)
    if count != binds:
        raise item.error(f"has {count} ? for {binds} binds")


def placeholders(text: str) -> int:
    """Count the `?` of a statement that stand for values."""
    return _QUOTED.sub("", text).count("?")


def _with_rows(item: Item, text: str, rows: int) -> str:
    if rows == 1:
        return text
    match = _VALUES.match(text)
    if match is None or placeholders(match["row"]) != placeholders(text):
        raise item.error("rows_per_statement needs a statement that ends in VALUES (?, ?, ...)")
    return match["head"] + ", ".join([match["row"]] * rows)


def used_variables(values: Collection[Value]) -> set[str]:
    """Name the variables that values refer to, at any depth."""
    names: set[str] = set()
    for value in values:
        if value.kind == "variable":
            names.add(value.name)
        elif value.kind == "format":
            names |= used_variables(value.of)
        elif value.kind in {"sum", "fnv_hash"}:
            names |= used_variables([value.of])
    return names
