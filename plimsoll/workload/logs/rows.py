"""Guesses of a table's rows where only its schema is known."""

from collections.abc import Mapping

from plimsoll.errors import WorkloadError
from plimsoll.model.databases import find_protocol_facts
from plimsoll.model.run.statements_seen import ColumnSeen, StatementsSeen, TableSeen
from plimsoll.workload.derive.columns import map_type
from plimsoll.workload.derive.reading import read_shape
from plimsoll.workload.tables import parse_indexed

ROWS_GUESSED = 1000  # rows of a table whose number nothing tells
LENGTH_MOST = 200  # length of a text of which only the type is known
_WHY = "the schema alone is known, so rows are as many as keys were seen in the log"


def guess_rows(seen: StatementsSeen, next_numbers: Mapping[str, int]) -> StatementsSeen:
    """Return statistics whose tables have rows and lengths of texts, guessed from the log.

    Args:
        seen: The statements, on tables that are empty.
        next_numbers: The next number of each table with an AUTO_INCREMENT column.
    """
    keys = _count_keys(seen)
    tables = tuple(_guess_table(table, keys, next_numbers) for table in seen.tables)
    note = f"guessed: {_WHY}, or the next AUTO_INCREMENT, and texts are half as long as may be"
    return seen.model_copy(update={"tables": tables, "notes": (*seen.notes, note)})


def _count_keys(seen: StatementsSeen) -> dict[tuple[str, str], int]:
    """Return the number of different values that each column was compared with."""
    language = find_protocol_facts(seen.protocol).language
    tables = {table.name: table for table in seen.tables}
    found: dict[tuple[str, str], int] = {}
    for keys in seen.keys:
        try:
            shape = read_shape(seen.digests[keys.digest].text, language, tables, seen.qualifier)
        except WorkloadError:
            continue
        first = next((slot for slot in shape.slots if slot.role == "equal"), None)
        if first is not None:
            place = first.table, first.column
            found[place] = max(found.get(place, 0), keys.distinct)
    return found


def _guess_table(
    table: TableSeen, keys: Mapping[tuple[str, str], int], next_numbers: Mapping[str, int]
) -> TableSeen:
    known = [
        keys.get((table.name, column), 0)
        for column in (
            *table.primary_key,
            *(parse_indexed(name).column for names in table.indexes.values() for name in names),
        )
    ]
    rows = max([next_numbers.get(table.name, 1) - 1, *known]) or ROWS_GUESSED
    columns = tuple(_guess_column(column, table, keys) for column in table.columns)
    return table.model_copy(update={"rows": rows, "columns": columns})


def _guess_column(
    column: ColumnSeen, table: TableSeen, keys: Mapping[tuple[str, str], int]
) -> ColumnSeen:
    declared, _ = map_type(column.type)
    length = None
    if declared.endswith(("text", "blob")):
        length = float(LENGTH_MOST)
    elif declared.startswith(("char", "varchar", "binary", "varbinary")):
        room = int(declared.partition("(")[2].partition(")")[0] or 0)
        length = float(min(room // 2, LENGTH_MOST))
    return column.model_copy(
        update={
            "lowest": None,
            "highest": None,
            "distinct": keys.get((table.name, column.name)) or None,
            "mean_length": length,
        }
    )
