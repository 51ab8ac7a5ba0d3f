"""Facts about MySQL and MariaDB tables: columns, keys, statistics, and counts of a few rows.

The only values read are the lowest and the highest of integer columns that lead an index. The
server itself measures texts and counts values.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from plimsoll.databases.counted_statements import SAMPLE_ROWS, SPREAD_ROWS, find_top_share
from plimsoll.databases.mysql.session import Connection, Rows, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.run.statements_seen import TOP_VALUES, ColumnSeen, IndexLeft, TableSeen
from plimsoll.workload.tables import parse_indexed

_COLUMNS = """
SELECT column_name, column_type, is_nullable = 'YES' OR COALESCE(generation_expression, '') <> '',
       extra LIKE '%%auto_increment%%', data_type, column_default IS NOT NULL
  FROM information_schema.columns c WHERE table_schema = %s AND table_name = %s
   AND (extra NOT LIKE '%%VIRTUAL%%' OR EXISTS (
       SELECT 1 FROM information_schema.statistics s WHERE s.table_schema = c.table_schema
          AND s.table_name = c.table_name AND s.column_name = c.column_name))
 ORDER BY ordinal_position
"""  # a generated column counts as nullable, since no statement sets it
_INDEXES = """
SELECT index_name, column_name, cardinality, sub_part, non_unique = 0, collation = 'D', index_type
  FROM information_schema.statistics
 WHERE table_schema = %s AND table_name = %s
 ORDER BY index_name, seq_in_index
"""
_NUMBERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext")
BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")


def describe_table(connection: Connection, database: str, name: str) -> TableSeen:
    """Describe a table of a database, which need not be that of the connection.

    Raises:
        PlimsollError: The server refuses.
    """
    rows = execute(
        connection,
        "SELECT table_rows, (data_length + index_length) DIV @@innodb_page_size"
        " FROM information_schema.tables"
        " WHERE table_schema = %s AND table_name = %s",
        (database, name),
    )
    columns = execute(connection, _COLUMNS, (database, name))
    parts = execute(connection, _INDEXES, (database, name))
    indexes, left = read_indexes(parts, {str(column[0]) for column in columns})
    distinct = count_distinct(parts)
    unique = tuple(dict.fromkeys(str(row[0]) for row in parts if row[4] and row[0] in indexes))
    table = f"{_quote_name(database)}.{_quote_name(name)}"
    lengths = _measure_lengths(connection, table, columns)
    nulls = _measure_nulls(connection, table, columns)
    primary = _name_columns(indexes.pop("PRIMARY", []))
    leading = {parse_indexed(names[0]).column for names in (primary, *indexes.values()) if names}
    estimate = max(int(rows[0][0] or 0), 0) if rows else 0
    counted = _count_rows(connection, table) if estimate < SPREAD_ROWS else None
    return TableSeen(
        name=name,
        rows=estimate if counted is None else counted,
        rows_counted=counted is not None,
        pages=int(rows[0][1]) if rows and rows[0][1] is not None else None,
        columns=tuple(
            _describe_column(
                connection,
                table,
                row,
                lengths=lengths,
                nulls=nulls,
                distinct=distinct,
                leading=leading,
                primary=primary,
            )
            for row in columns
        ),
        primary_key=tuple(primary),
        indexes={index: tuple(names) for index, names in indexes.items()},
        unique=tuple(name for name in unique if name in indexes),
        indexes_left=left,
    )


def read_indexes(
    parts: Iterable[Sequence[Any]], columns: Collection[str]
) -> tuple[dict[str, list[str]], dict[str, IndexLeft]]:
    """Read the parts of a table's indexes.

    Args:
        parts: The rows of `_INDEXES`.
        columns: The columns that a workload may have.

    Returns:
        The columns of the indexes that a workload can have, each with its length and order; and
        those that it cannot have.
    """
    found: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for index, column, _, length, _, descending, kind in parts:
        names = found.setdefault(str(index), [])
        if column is None:
            reasons.setdefault(str(index), "has an expression")
        elif str(column) not in columns:
            reasons.setdefault(str(index), "has a generated column")
        elif str(kind) != "BTREE":
            reasons.setdefault(str(index), f"is {str(kind).lower()}")
        if column is not None:
            part = "" if length is None else f"({int(length)})"
            names.append(f"{column}{part}{' desc' if descending else ''}")
    left = {
        name: IndexLeft(columns=tuple(_name_columns(found.pop(name))), why=why)
        for name, why in reasons.items()
    }
    return found, left


def _name_columns(names: Iterable[str]) -> list[str]:
    return [parse_indexed(name).column for name in names]


def count_distinct(parts: Iterable[Sequence[Any]]) -> dict[str, int]:
    """Return the number of values of indexed columns, from the cardinality of each prefix.

    InnoDB counts the values of a prefix of the columns. For a column that no index begins with it
    is at least the ratio to the prefix before. Of a column of which an index has a part, that part
    is counted, if nothing else is known.
    """
    leading: dict[str, int] = {}
    later: dict[str, int] = {}
    cut: dict[str, int] = {}
    of, before = None, 1
    for index, column, cardinality, length, *_ in parts:
        if index != of:
            of, before, first = index, 1, True
        if cardinality is not None and column is not None:
            each = max(1, round(int(cardinality) / max(before, 1)))
            known = cut if length is not None else leading if first else later
            known.setdefault(str(column), each)
        before, first = int(cardinality or before), False
    return {**cut, **later, **leading}


def _describe_column(
    connection: Connection,
    table: str,
    row: tuple[Any, ...],
    *,
    lengths: dict[str, float],
    nulls: dict[str, float],
    distinct: dict[str, int],
    leading: set[str],
    primary: list[str],
) -> ColumnSeen:
    name, kind, nullable, own_number, data_type, has_default = row
    lowest = highest = None
    if name in leading and data_type in _NUMBERS:
        sql = f"SELECT MIN({_quote_name(name)}), MAX({_quote_name(name)}) FROM {table}"  # noqa: S608 - quoted
        ((lowest, highest),) = _query_rows(connection, sql) or ((None, None),)
    spread = None
    if name in leading and primary and name not in primary:
        spread = _measure_spread(connection, table, str(name))
    return ColumnSeen(
        name=str(name),
        type=str(kind),
        nullable=bool(nullable),
        auto_increment=bool(own_number),
        has_default=bool(has_default),
        mean_length=lengths.get(str(name)),
        distinct=distinct.get(str(name)),
        top_share=spread,
        null_share=nulls.get(str(name), 0.0),
        lowest=None if lowest is None else int(lowest),
        highest=None if highest is None else int(highest),
    )


def _count_rows(connection: Connection, table: str) -> int | None:
    """Return the number of rows of a small table; None if it is not small, or not readable."""
    most = 2 * SPREAD_ROWS
    sql = f"SELECT COUNT(*) FROM (SELECT 1 FROM {table} LIMIT {most}) AS s"  # noqa: S608 - quoted
    ((rows,),) = _query_rows(connection, sql) or ((most,),)
    return int(rows) if int(rows) < most else None


def _measure_lengths(
    connection: Connection, table: str, columns: tuple[tuple[Any, ...], ...]
) -> dict[str, float]:
    """Return the mean length of each text column over a few rows, measured in the server."""
    named = {
        str(name): "CHAR_LENGTH" if data_type in TEXTS else "LENGTH"
        for name, _, _, _, data_type, _ in columns
        if data_type in TEXTS + BYTES
    }
    if not named:
        return {}
    means = ", ".join(f"AVG({function}({_quote_name(name)}))" for name, function in named.items())
    chosen = ", ".join(map(_quote_name, named))
    sql = f"SELECT {means} FROM (SELECT {chosen} FROM {table} LIMIT {SAMPLE_ROWS}) AS s"  # noqa: S608 - quoted
    row = (_query_rows(connection, sql) or ((None,) * len(named),))[0]
    pairs = zip(named, row, strict=True)
    return {name: float(mean) for name, mean in pairs if mean is not None}


def _measure_nulls(
    connection: Connection, table: str, columns: tuple[tuple[Any, ...], ...]
) -> dict[str, float]:
    """Return the share of a few rows in which each nullable column is null."""
    named = [str(name) for name, _, nullable, *_ in columns if nullable]
    if not named:
        return {}
    means = ", ".join(f"AVG({_quote_name(name)} IS NULL)" for name in named)
    chosen = ", ".join(map(_quote_name, named))
    sql = f"SELECT {means} FROM (SELECT {chosen} FROM {table} LIMIT {SAMPLE_ROWS}) AS s"  # noqa: S608 - quoted
    ((*row,),) = _query_rows(connection, sql) or ((None,) * len(named),)
    return {name: float(mean) for name, mean in zip(named, row, strict=True) if mean is not None}


def _measure_spread(connection: Connection, table: str, column: str) -> float | None:
    """Return the share of some rows, in key order, that have the commonest values."""
    rows = _query_rows(
        connection,
        f"SELECT COUNT(*) FROM (SELECT {_quote_name(column)} AS v FROM {table}"  # noqa: S608 - quoted
        f" FORCE INDEX (PRIMARY) LIMIT {SPREAD_ROWS}) AS s GROUP BY v",
    )
    return find_top_share([int(count) for (count,) in rows or ()], TOP_VALUES)


def _query_rows(connection: Connection, sql: str) -> Rows | None:
    """Query rows; None if the user may not read them, or it takes too long."""
    try:
        return execute(connection, sql)
    except PlimsollError:
        return None


def _quote_name(name: object) -> str:
    return "`" + str(name).replace("`", "``") + "`"
