"""Keys that a server has as texts, and that a workload's statements compare with numbers."""

from collections.abc import Iterator

from plimsoll.databases.family import find_family
from plimsoll.model.engine.asked import EngineOperation, EngineTarget
from plimsoll.model.engine.values import Value
from plimsoll.workload.compiled import Compiled
from plimsoll.workload.cursor import read_unquoted_word
from plimsoll.workload.tokens import Token, tokenize
from plimsoll.workload.values import Scope, is_number

_COMPARES = {"=", "<", ">", "<=", ">=", "BETWEEN", "IN("}


def find_texts_compared_with_numbers(target: EngineTarget, compiled: Compiled) -> tuple[str, ...]:
    """Describe the columns of tables of the user's own whose index a workload's numbers cannot use.

    MySQL and MariaDB read a whole table to compare a text with a number. PostgreSQL binds the
    number as the column's type, and Cassandra refuses it.

    Raises:
        PlimsollError: The database refuses.
    """
    with find_family(target.protocol).open_datasets(target) as datasets:
        texts = {table.name: datasets.texts_apart_from_numbers(table) for table in compiled.tables}
    if not any(texts.values()):
        return ()
    compared = {
        (table, column)
        for operation in compiled.engine.operations
        for column, sql in list_compared_with_numbers(operation)
        for table, types in texts.items()
        if column.lower() in types and f"`{table}`" in sql
    }
    return tuple(
        f"the column {column} of {table} is {texts[table][column.lower()]}, and {compiled.name}"
        " compares it with a number: the server reads the whole table for that, without an index."
        " Give the column a text as its value in the workload, such as"
        ' {format: "{}", of: [row]}'
        for table, column in sorted(compared)
    )


def list_compared_with_numbers(operation: EngineOperation) -> Iterator[tuple[str, str]]:
    """Yield each column that a condition compares with a bound whole number, with its statement.

    `SELECT v FROM t WHERE id = ?` with the bind `{key: t}` gives `("id", "SELECT v ...")`. Of
    alternatives, the first is read, in MySQL's dialect. Variables that statements return are left
    out.
    """
    scope = Scope(variables={let.name: let.value for let in operation.let})
    for statement in operation.statements:
        tokens = tokenize(statement.sql[0], "sql")
        binds = iter(statement.binds)
        in_condition = False
        for at, token in enumerate(tokens):
            in_condition |= read_unquoted_word(token) == "WHERE"
            if token.is_mark("?") and _is_known_number(next(binds), scope) and in_condition:
                column = _find_compared(tokens[:at])
                if column:
                    yield column, statement.sql[0]


def _is_known_number(value: Value, scope: Scope) -> bool:
    known = value.kind != "variable" or value.name in scope.variables
    return known and is_number(value, scope)


def _find_compared(before: tuple[Token, ...]) -> str | None:
    """Return the column of `column = ?`, given the tokens before the `?`; None of other forms."""
    compares = ""
    for token in reversed(before):
        if token.kind in {"word", "name"} and read_unquoted_word(token) not in {"BETWEEN", "IN"}:
            return token.text if compares.upper() in _COMPARES else None
        compares = token.text + compares
    return None
