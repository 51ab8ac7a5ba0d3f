"""Creation of a dataset's tables in Cassandra."""

import re

from plimsoll.complaints import Complaint
from plimsoll.errors import WorkloadError
from plimsoll.workload.compiled import Table
from plimsoll.workload.tables import TableShape, copy_names

# SQL types and the CQL types that hold the same values
_TYPES = (
    (r"tinyint$", "tinyint"),
    (r"(tinyint unsigned|smallint)$", "smallint"),
    (r"(smallint unsigned|int|integer)$", "int"),
    (r"(int unsigned|integer unsigned|bigint)$", "bigint"),
    (r"(var)?char\(|(tiny|medium|long)?text$|json$", "varchar"),
    (r"(var)?binary\(|(tiny|medium|long)?blob$", "blob"),
    (r"float$", "float"),
    (r"double$", "double"),
)


def define_cql_tables(table: str, shape: TableShape) -> list[Table]:
    """Define each copy of a table.

    Raises:
        WorkloadError: It has something that Cassandra lacks: secondary indexes, some types.
    """
    columns = shape.cql_names
    return [
        Table(
            name=name,
            key_space=table,
            rows=shape.rows,
            first=shape.first,
            columns=tuple(columns.values()),
            key=tuple(columns[column] for column in shape.primary_key),
            row=tuple(column.value for column in shape.columns.values()),
            create_sql=_create_table(shape, name),
            index_sql={},
        )
        # the server reads unquoted names in lower case
        for name in map(str.lower, copy_names(table, shape.copies))
    ]


def _create_table(shape: TableShape, name: str) -> str:
    """Return the statement that creates one copy of a table if it does not exist."""
    if shape.indexes:
        raise WorkloadError(Complaint(("indexes",), "indexes are made in SQL databases alone"))
    if not shape.primary_key:
        raise WorkloadError(Complaint(("primary_key",), "every table of Cassandra has a key"))
    names = shape.cql_names
    lines = [
        f'"{names[each]}" {_find_cql_type(column.type)}' for each, column in shape.columns.items()
    ]
    key = ", ".join(f'"{names[column]}"' for column in shape.primary_key)
    body = ",\n  ".join([*lines, f"PRIMARY KEY ({key})"])
    return f'CREATE TABLE IF NOT EXISTS "{name}" (\n  {body}\n)'


def _find_cql_type(declared: str) -> str:
    """Return the CQL type for a declared SQL type."""
    for pattern, cql_type in _TYPES:
        if re.match(pattern, declared):
            return cql_type
    raise WorkloadError(f"type {declared!r}: has no counterpart in Cassandra here")
