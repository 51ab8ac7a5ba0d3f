"""Data definition: what makes a dataset's tables in Cassandra."""

import re

from plimsoll.errors import Complaint, WorkloadError
from plimsoll.workload.tables import TableShape

# SQL's types by their beginning, and CQL's that hold the same values
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


def create_cql_table(shape: TableShape, name: str) -> str:
    """Write the statement that makes one copy of a table, unless it is there.

    Raises:
        WorkloadError: It has what Cassandra has not: secondary indexes, some types.
    """
    if shape.indexes:
        problem = "indexes are made in SQL databases alone"
        raise WorkloadError(Complaint(("tables", shape.name), problem))
    lines = [f'"{column.cql_name}" {cql_type(column.type)}' for column in shape.columns]
    names = {column.name: column.cql_name for column in shape.columns}
    key = ", ".join(f'"{names[column]}"' for column in shape.primary_key)
    body = ",\n  ".join([*lines, f"PRIMARY KEY ({key})"])
    return f'CREATE TABLE IF NOT EXISTS "{name}" (\n  {body}\n)'


def cql_type(declared: str) -> str:
    """Find CQL's type for a column that is declared in SQL's words.

    Raises:
        WorkloadError: No type of CQL takes what the engine binds to it.
    """
    for pattern, found in _TYPES:
        if re.match(pattern, declared):
            return found
    raise WorkloadError(f"type {declared!r}: has no counterpart in Cassandra here")
