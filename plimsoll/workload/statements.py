"""Statements: their text for each copy of a table, and the values of their `?`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Annotated, Literal, Self, assert_never, get_args

from pydantic import AfterValidator, Field, model_validator

from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.databases import Language, find_protocol_facts
from plimsoll.model.engine.asked import Each, EngineStatement, Protocol, Returned, RowWritten
from plimsoll.model.engine.values import Value
from plimsoll.workload.declared import (
    Declared,
    Given,
    Listed,
    Name,
    Text,
    build_workload_error,
    locate_errors,
)
from plimsoll.workload.lists import DrawnList
from plimsoll.workload.names import Names
from plimsoll.workload.reach import read_statement
from plimsoll.workload.rows import KnownRows, RowRangeText, derive_least_rows, find_named_row
from plimsoll.workload.tables import copy_names
from plimsoll.workload.tokens import Token, tokenize
from plimsoll.workload.values import AnyValue, WholeNumber, find_used_variables

MAX_ALTERNATIVES = 10_000
MAX_CHARACTERS = 4 * 2**20  # total of statements, written out for every copy and word
MAX_PLACEHOLDERS = min(find_protocol_facts(name).parameters_max for name in get_args(Protocol))

Copies = Mapping[str, int | None]  # number of copies by table; None for a table without a number

NOTHING_KNOWN = KnownRows()

_NAME = re.compile(r"\{(\w+)\}")
# the part that is repeated for each line of a list: {?, ...}
_PART = re.compile(r"\{([^{}]*),\s*\.\.\.\s*\}")


def _validate_word(word: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", word):
        raise build_workload_error(f"{word!r}: letters, digits and _ only", value=word)
    return word


Words = Annotated[Listed[Annotated[str, AfterValidator(_validate_word)]], Field(min_length=1)]


class Statement(Declared):
    """A statement as a workload declares it, in one or several languages.

    Attributes:
        sql: The text for MySQL and its relatives, and for PostgreSQL if `postgres` is missing.
        cql: The text for Cassandra.
        postgres: The text for PostgreSQL.
        binds: The values of the `?`.
        postgres_binds: The values in PostgreSQL, if they differ.
        rows: How many rows an execution meets; None if that follows from its kind and its key.
        postgres_rows: The same in PostgreSQL, if it differs.
        returns: The variables that take the first columns of its first row, in their order, with
            their kinds. Without a row they are null.
        each: The list for each of whose lines a part of the text is repeated.
    """

    sql: Given[Text] = None
    cql: Given[Text] = None
    postgres: Given[Text] = None
    binds: Listed[AnyValue] = ()
    postgres_binds: Given[Listed[AnyValue]] = None
    repeat: Annotated[int, Field(ge=1, le=100_000)] = 1
    choose: Given[WholeNumber] = None
    one_of: Given[Annotated[dict[str, Words], Field(min_length=1, max_length=1)]] = None
    rows_per_statement: Annotated[int, Field(ge=1, le=10_000)] = 1
    rows: Given[RowRangeText] = None
    postgres_rows: Given[RowRangeText] = None
    returns: dict[Name, Literal["int", "text"]] = Field(default_factory=dict)
    each: Given[Name] = None

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if (self.sql, self.cql, self.postgres) == (None, None, None):
            raise build_workload_error("lacks the field 'sql' (or 'cql', or 'postgres')")
        if self.postgres is None and self.postgres_binds is not None:
            raise build_workload_error("goes with the field 'postgres'", "postgres_binds")
        most = max(len(self.binds), len(self.postgres_binds or ()))
        parameters = most * self.rows_per_statement
        if parameters > MAX_PLACEHOLDERS:
            raise build_workload_error(
                f"{parameters} parameters; a statement takes {MAX_PLACEHOLDERS}"
            )
        if self.returns and (self.repeat > 1 or self.rows_per_statement > 1):
            raise build_workload_error("goes with a statement that is sent once", "returns")
        if self.each and (self.repeat > 1 or self.rows_per_statement > 1):
            raise build_workload_error("goes without repeat and rows_per_statement", "each")
        return self

    @property
    def values(self) -> tuple[Value, ...]:
        """All values that are drawn for the statement."""
        binds = self.binds + (self.postgres_binds or ())
        return binds if self.choose is None else (*binds, self.choose)

    def resolve(
        self,
        tables: Copies,
        names: Mapping[Language, Names],
        wanted: Language | None = None,
        known: KnownRows = NOTHING_KNOWN,
        drawn: DrawnList | None = None,
    ) -> dict[Language, EngineStatement]:
        """Write the statement in each language that it has a text for.

        Args:
            tables: The number of copies of each table.
            names: The names that it may use.
            wanted: The required language. If `sql` serves as its text and is not valid in it, that
                is an error; for other languages the text is skipped.
            known: The rows that are there, from which the rows that it meets are derived.
            drawn: The list for each of whose lines a part of it is repeated.

        Raises:
            WorkloadError: An unknown table, unbound or superfluous parameters ...
        """
        written: dict[Language, EngineStatement] = {}
        for language in get_args(Language):
            text, field = self._text(language)
            if text is None:
                continue
            try:
                written[language] = self._write(
                    text, field, tables, names[language], known, drawn=drawn
                )
            except WorkloadError as error:
                if field == language:
                    raise
                if language == wanted:
                    raise _add_postgres_hint(error) from None
        return written

    def _text(self, language: Language) -> tuple[str | None, Language]:
        """Return the text for a language, and the field that it comes from."""
        match language:
            case "sql":
                return self.sql, "sql"
            case "cql":
                return self.cql, "cql"
            case "postgres" if self.postgres is None:
                return self.sql, "sql"
            case "postgres":
                return self.postgres, "postgres"
            case _:
                assert_never(language)

    def _write(
        self,
        text: str,
        field: Language,
        tables: Copies,
        names: Names,
        known: KnownRows,
        *,
        drawn: DrawnList | None,
    ) -> EngineStatement:
        language = names.language
        own = self.postgres_binds if field == "postgres" else None
        binds = self.binds if own is None else own
        template = text.strip().rstrip("; \n")
        self._check_word(template, tables)
        with locate_errors(field):
            copies = self._copies(template, tables)
        if self.choose is not None and (copies is None) == (self.one_of is None):
            raise build_workload_error(_explain_choice(copies), "choose")
        with locate_errors(field):
            alternatives = self._alternatives(template, tables, copies or 1, language)
            each = None
            if drawn is not None:
                each = _find_repeated_binds(alternatives[0], drawn, binds, language)
                least, most = drawn.bounds
                require_short(sum(map(len, alternatives)) * most * (most - least + 1))
                alternatives = [
                    _repeat_part(one, lines)
                    for one in alternatives
                    for lines in range(least, most + 1)
                ]
                repeated = binds[each.first : each.end] * least
                binds = (*binds[: each.first], *repeated, *binds[each.end :])
            elif _PART.search(template):
                raise build_workload_error("a part for each line, {?, ...}, needs the field 'each'")
            # copies differ only in table names, but chosen words may be any name
            for alternative in alternatives if self.one_of else alternatives[:1]:
                tokens = read_statement(alternative, names)
                count = sum(map(_is_placeholder, tokens))
                if count != len(binds):
                    raise build_workload_error(f"has {count} ? for {len(binds)} binds")
            stated = self.rows
            if language == "postgres" and self.postgres_rows is not None:
                stated = self.postgres_rows
            used = {name for name in _NAME.findall(template) if name in tables}
            table = used.pop() if len(used) == 1 else None
            named = None
            if each is None:
                named = find_named_row(tokens, language, table=table, binds=binds, known=known)
            return EngineStatement(
                sql=tuple(
                    _number_parameters(
                        _repeat_rows(one, self.rows_per_statement, language), language
                    )
                    for one in alternatives
                ),
                binds=(self.binds if own is None else own) * self.rows_per_statement,
                repeat=self.repeat,
                choose=self.choose if len(alternatives) > 1 else None,
                returns=tuple(
                    Returned(name=name, kind="integer" if kind == "int" else kind)
                    for name, kind in self.returns.items()
                ),
                each=each,
                rows_least=stated.least
                if stated is not None
                else derive_least_rows(
                    tokens, named=named, rows_per_statement=self.rows_per_statement
                ),
                row_written=None
                if named is None or table is None or named.writes is None
                else RowWritten(
                    kind=named.writes,
                    table=_fold(copy_names(table, tables[table])[0], language),
                    column=named.column,
                    bind=named.bind,
                    key=named.key,
                    rows=self.rows_per_statement,
                ),
            )

    def _check_word(self, template: str, tables: Copies) -> None:
        for name in self.one_of or ():
            if name in tables:
                raise build_workload_error("is a table's name", "one_of", name)
            if f"{{{name}}}" not in template:
                raise build_workload_error(f"{{{name}}} is not in the statement", "one_of", name)

    def _copies(self, template: str, tables: Copies) -> int | None:
        """Return the number of copies of the statement's tables; they must agree."""
        names = [name for name in _NAME.findall(template) if name not in (self.one_of or ())]
        for name in names:
            if name not in tables:
                raise WorkloadError(complain_of_unknown("table", name, tables))
        counts = {tables[name]: name for name in names if tables[name] is not None}
        if len(counts) > 1:
            raise build_workload_error(
                f"{' and '.join(counts.values())} differ in their number of copies"
            )
        return next(iter(counts), None)

    def _alternatives(
        self, template: str, tables: Copies, copies: int, language: Language
    ) -> list[str]:
        (words,) = self.one_of.values() if self.one_of else [("",)]
        if copies * len(words) > MAX_ALTERNATIVES:
            raise build_workload_error(f"has more than {MAX_ALTERNATIVES} alternatives")
        require_short(len(template) * copies * len(words) * self.rows_per_statement)
        names = {table: copy_names(table, number) for table, number in tables.items()}

        def fill(copy: int, word: str) -> str:
            def replace(match: re.Match[str]) -> str:
                if match[1] not in names:
                    return word
                name = names[match[1]][copy if tables[match[1]] else 0]
                return _quote_table_name(name, language)

            return _NAME.sub(replace, template)

        return [fill(copy, word) for copy in range(copies) for word in words]


def _explain_choice(copies: int | None) -> str:
    if copies is None:
        return "picks a table's copy or a word of one_of, and there is neither"
    return "picks a table's copy: it does not go with one_of"


def _quote_table_name(name: str, language: Language) -> str:
    match language:
        case "sql":
            return f"`{name}`"
        case "cql":
            return name
        case "postgres":
            return f'"{_fold(name, language)}"'
        case _:
            assert_never(language)


def _fold(name: str, language: Language) -> str:
    """Return a table's name in the database."""
    return name if language == "sql" else name.lower()


def require_short(characters: int) -> None:
    """Refuse statements that are too long in total, written out for every copy and word.

    Raises:
        WorkloadError: They are too long.
    """
    if characters > MAX_CHARACTERS:
        raise build_workload_error(
            f"more than {MAX_CHARACTERS} characters, written out for each copy, word and row"
        )


def _is_placeholder(token: Token) -> bool:
    return token.is_mark("?")


def _repeat_rows(text: str, rows: int, language: Language) -> str:
    """Repeat the list after VALUES. It must hold all placeholders and no parentheses."""
    if rows == 1:
        return text
    tokens = tokenize(text, language)
    row = list(takewhile(lambda token: token.text.upper() != "VALUES", reversed(tokens)))[::-1]
    marks = [token.text for token in row if token.is_mark("(") or token.is_mark(")")]
    whole = len(row) > 2 and row[0].is_mark("(") and row[-1].is_mark(")") and marks == ["(", ")"]
    outside = tokens[: len(tokens) - len(row)]
    if not whole or not outside or any(map(_is_placeholder, outside)):
        raise build_workload_error(
            "rows_per_statement needs a statement that ends in VALUES (?, ?, ...)"
        )
    written = text[row[0].start : row[-1].end]
    return text[: row[0].start] + ", ".join([written] * rows)


def _find_repeated_binds(
    text: str, drawn: DrawnList, binds: tuple[Value, ...], language: Language
) -> Each:
    """Return which binds stand in the part that is repeated; the others are of no line."""
    parts = list(_PART.finditer(text))
    if len(parts) != 1:
        raise build_workload_error(
            f"each: has {len(parts)} parts for each line, {{?, ...}}, and needs one"
        )
    first = _count_placeholders(text[: parts[0].start()], language)
    end = first + _count_placeholders(parts[0][1], language)
    count = end + _count_placeholders(text[parts[0].end() :], language)
    if count != len(binds):
        raise build_workload_error(f"has {count} ? for {len(binds)} binds")
    if first == end:
        raise build_workload_error("each: the part for each line has no ?")
    for name in sorted(find_used_variables([*binds[:first], *binds[end:]])):
        if name in drawn.variables:
            problem = f"{name} has a value for each line: use it within {{?, ...}} alone"
            raise build_workload_error(problem)
    parameters = len(binds) + (drawn.bounds[1] - 1) * (end - first)
    if parameters > MAX_PLACEHOLDERS:
        raise build_workload_error(f"{parameters} parameters; a statement takes {MAX_PLACEHOLDERS}")
    return Each(list=drawn.name, first=first, end=end)


def _count_placeholders(text: str, language: Language) -> int:
    return sum(map(_is_placeholder, tokenize(text, language)))


def _repeat_part(text: str, lines: int) -> str:
    """Write the part for each line as often as there are lines."""
    return _PART.sub(lambda part: ", ".join([part[1]] * lines), text)


def _number_parameters(text: str, language: Language) -> str:
    """Write each `?` in the form that the server expects: $1, $2 ... for PostgreSQL."""
    if language != "postgres" or "?" not in text:
        return text
    parts, at = [], 0
    marks = filter(_is_placeholder, tokenize(text, language))
    for number, mark in enumerate(marks, start=1):
        # a space keeps it apart from a word or number beside it
        before = " " if re.match(r"\w", text[mark.start - 1 : mark.start]) else ""
        after = " " if re.match(r"\w", text[mark.end : mark.end + 1]) else ""
        parts.append(f"{text[at : mark.start]}{before}${number}{after}")
        at = mark.start + 1
    return "".join(parts) + text[at:]


def _add_postgres_hint(error: WorkloadError) -> WorkloadError:
    """Add to an error that the SQL text is not valid in PostgreSQL."""
    hint = "in PostgreSQL; give another text in the field 'postgres'"
    return WorkloadError(
        *(replace(about, problem=f"{about.problem} ({hint})") for about in error.complaints)
    )
