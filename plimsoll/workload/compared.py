"""The columns that statements compare with numbers; a server may have texts in them."""

from collections.abc import Iterator

from plimsoll.model.engine.asked import EngineOperation
from plimsoll.model.engine.values import Value
from plimsoll.workload.cursor import unquoted_word
from plimsoll.workload.tokens import Token, tokenize
from plimsoll.workload.values import Scope, is_number

_COMPARES = {"=", "<", ">", "<=", ">=", "BETWEEN", "IN("}


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
            in_condition |= unquoted_word(token) == "WHERE"
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
        if token.kind in {"word", "name"} and unquoted_word(token) not in {"BETWEEN", "IN"}:
            return token.text if compares.upper() in _COMPARES else None
        compares = token.text + compares
    return None
