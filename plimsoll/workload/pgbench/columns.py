r"""The names of the columns that a statement returns, as PostgreSQL gives them.

`\gset` and `\aset` name their variables by them. Only names that are certain are read: that of
`AS`, of a column, of a function. For all others the script has to say `AS`.
"""

from collections.abc import Sequence
from itertools import pairwise

from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.pgbench.scanner import Piece

_AFTER_LIST = {
    *("FROM", "INTO", "WHERE", "GROUP", "HAVING", "WINDOW", "UNION", "INTERSECT", "EXCEPT"),
    *("ORDER", "LIMIT", "OFFSET", "FETCH", "FOR"),
}
# Words that look like a column's or a function's name, and are named otherwise
_OTHERWISE = {
    *("NULL", "TRUE", "FALSE", "END", "ARRAY", "ROW", "CAST", "EXTRACT", "EXISTS", "OVERLAY"),
    *("POSITION", "SUBSTRING", "TRIM", "NOT", "CASE", "INTERVAL", "USER", "CURRENT_ROLE"),
    *("CURRENT_CATALOG", "CURRENT_SCHEMA", "SESSION_USER", "CURRENT_USER", "NORMALIZE"),
    *("TREAT", "COLLATION", "ANY", "ALL", "SOME", "IN", "LIKE", "ILIKE", "IS", "AND", "OR"),
    *("DISTINCT", "ISNULL", "NOTNULL", "BETWEEN", "COLLATE", "ZONE", "PRECISION", "VARYING"),
}
_WRITES = {"INSERT", "UPDATE", "DELETE", "MERGE"}


def name_columns(statement: Sequence[Piece]) -> tuple[str, ...]:
    """Return the names of a statement's columns, in their order.

    Raises:
        WorkloadError: They are not certain.
    """
    pieces = [piece for piece in statement if piece.kind != "comment"]
    tops = list(_list_tops(pieces))
    first = pieces[0].unquoted
    words = {pieces[at].unquoted: at for at in reversed(tops)}
    if first == "WITH":
        kinds = [word for word in ("SELECT", *_WRITES) if word in words]
        first = min(kinds, key=words.__getitem__, default="")
    if first == "SELECT":
        return _name_list(pieces, words["SELECT"] + 1, tops)
    if first in _WRITES and "RETURNING" in words:
        return _name_list(pieces, words["RETURNING"] + 1, tops)
    raise build_workload_error("which columns it returns is read of SELECT and RETURNING alone")


def _list_tops(pieces: Sequence[Piece]) -> list[int]:
    """List the indexes of the pieces outside parentheses and brackets."""
    depth, tops = 0, []
    for index, piece in enumerate(pieces):
        opens, closes = piece.text in {"(", "["}, piece.text in {")", "]"}
        depth -= piece.kind == "mark" and closes
        if depth == 0:
            tops.append(index)
        depth += piece.kind == "mark" and opens
    return tops


def _name_list(pieces: Sequence[Piece], start: int, tops: Sequence[int]) -> tuple[str, ...]:
    if start < len(pieces) and pieces[start].unquoted in {"ALL", "DISTINCT"}:
        start += 1
        if start < len(pieces) and pieces[start].unquoted == "ON":
            raise build_workload_error("which columns it returns is not known after DISTINCT ON")
    ends = [at for at in tops if at >= start and pieces[at].unquoted in _AFTER_LIST]
    end = ends[0] if ends else len(pieces)
    commas = [at for at in tops if start <= at < end and pieces[at].is_mark(",")]
    bounds = [start - 1, *commas, end]
    items = [pieces[one + 1 : other] for one, other in pairwise(bounds)]
    if items == [[]]:
        return ()
    return tuple(_name_item(item, number) for number, item in enumerate(items, 1))


def _name_item(item: Sequence[Piece], number: int) -> str:
    last, before = item[-1] if item else None, item[:-1]
    if last is not None and before and before[-1].unquoted == "AS":
        name: str | None = _fold(last)
    else:
        name = _name_value(item)
        if name is None and last is not None and _is_value(before) and last.gap:
            name = _fold(last)
    if name is None:
        raise build_workload_error(
            f"column {number} has no name that is certain: write AS name after it"
        )
    return name


def _name_value(item: Sequence[Piece]) -> str | None:
    """Return the name of a column, a function, or a cast of either; None of anything else."""
    item = _strip_cast(item)
    at = 0
    while at + 2 < len(item) and _fold(item[at]) is not None and item[at + 1].is_mark("."):
        at += 2
    if at >= len(item):
        return None
    name = _fold(item[at])
    return name if at + 1 == len(item) or _is_in_parentheses(item[at + 1 :]) else None


def _is_value(item: Sequence[Piece]) -> bool:
    """Whether an alias without AS may follow."""
    item = _strip_cast(item)
    constant = len(item) == 1 and item[0].kind in {"text", "number", "variable"}
    return constant or _is_in_parentheses(item) or _name_value(item) is not None


def _strip_cast(item: Sequence[Piece]) -> Sequence[Piece]:
    while len(item) > 2 and item[-2].text == "::" and item[-1].kind == "word":
        item = item[:-2]
    return item


def _is_in_parentheses(item: Sequence[Piece]) -> bool:
    inner = [at for at in _list_tops(item) if not item[at].is_mark(")")]
    return len(item) > 1 and item[0].is_mark("(") and inner == [0]


def _fold(piece: Piece) -> str | None:
    """Return a name as the server has it; None if the piece is none."""
    if piece.kind == "name":
        return piece.text[1:-1].replace('""', '"') if piece.text[0] == '"' else None
    if piece.kind == "word" and piece.text.upper() not in _OTHERWISE:
        return piece.text.lower()
    return None
