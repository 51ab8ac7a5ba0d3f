"""Creation of a dataset's tables in MySQL and its relatives."""

from plimsoll.complaints import Scalar
from plimsoll.workload.compiled import Table
from plimsoll.workload.tables import Column, TableShape, copy_names


def define_mysql_tables(table: str, shape: TableShape) -> list[Table]:
    """Define each copy of a table."""
    return [
        Table(
            name=name,
            key_space=table,
            rows=shape.rows,
            first=shape.first,
            columns=tuple(shape.columns),
            key=shape.primary_key,
            row=tuple(column.value for column in shape.columns.values()),
            create_sql=_create_table(shape, name),
            index_sql=_create_indexes(shape, name, copy),
        )
        for copy, name in enumerate(copy_names(table, shape.copies), start=1)
    ]


def _create_table(shape: TableShape, name: str) -> str:
    """Return the statement that creates one copy of a table if it does not exist."""
    lines = [_write_column(*named) for named in shape.columns.items()]
    if shape.primary_key:
        lines.append(f"PRIMARY KEY ({_list_names(shape.primary_key)})")
    body = ",\n  ".join(lines)
    return f"CREATE TABLE IF NOT EXISTS `{name}` (\n  {body}\n) ENGINE = InnoDB"


def _create_indexes(shape: TableShape, name: str, copy: int) -> dict[str, str]:
    """Return the statements that create a copy's secondary indexes, by index name.

    They run after loading, as in the original benchmarks: building a whole index at once is faster.
    """
    statements = {}
    for template, columns in shape.indexes.items():
        index = template.replace("{copy}", str(copy))
        statements[index] = f"CREATE INDEX `{index}` ON `{name}` ({_list_names(columns)})"
    return statements


def _write_column(name: str, column: Column) -> str:
    parts = [f"`{name}`", column.type, "NULL" if column.nullable else "NOT NULL"]
    if column.auto_increment:
        parts.append("AUTO_INCREMENT")
    if column.default is not None:
        parts.append(f"DEFAULT {_quote_literal(column.default)}")
    return " ".join(parts)


def _quote_literal(value: Scalar) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return str(int(value) if isinstance(value, bool) else value)


def _list_names(columns: tuple[str, ...]) -> str:
    return ", ".join(f"`{column}`" for column in columns)
