"""Creation of a dataset's tables, in the language of each protocol."""

import re
from collections.abc import Mapping
from typing import assert_never

from plimsoll.complaints import Complaint, Scalar
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import Protocol
from plimsoll.workload.compiled import Table
from plimsoll.workload.tables import Column, Indexed, TableShape, copy_names, parse_indexed

POSTGRES_NAME_MOST = 63  # longest name that a server keeps

# Declared types and the PostgreSQL types that hold the same values. MySQL's unsigned bigint maps to
# BIGINT too: no value of a workload exceeds a signed 64-bit integer.
_POSTGRES_TYPES = (
    (r"tinyint(?: unsigned)?|smallint", "SMALLINT"),
    (r"smallint unsigned|mediumint(?: unsigned)?|int|integer", "INTEGER"),
    (r"(?:int|integer|bigint) unsigned|bigint", "BIGINT"),
    (r"((?:var)?char\(\d+\))", r"\1"),
    (r"(?:tiny|medium|long)?text", "TEXT"),
    (r"(?:var)?binary\(\d+\)|(?:tiny|medium|long)?blob", "BYTEA"),
    (r"(decimal\(\d+, ?\d+\))", r"\1"),
    (r"float", "REAL"),
    (r"double", "DOUBLE PRECISION"),
    (r"date", "DATE"),
    (r"(?:datetime|timestamp)(\(\d\))?", r"TIMESTAMP\1"),
    (r"json", "JSON"),
    (r"boolean", "BOOLEAN"),
)
# Declared types and the CQL types that hold the same values
_CQL_TYPES = (
    (r"tinyint$", "tinyint"),
    (r"(tinyint unsigned|smallint)$", "smallint"),
    (r"(smallint unsigned|int|integer)$", "int"),
    (r"(int unsigned|integer unsigned|bigint)$", "bigint"),
    (r"(var)?char\(|(tiny|medium|long)?text$|json$", "varchar"),
    (r"(var)?binary\(|(tiny|medium|long)?blob$", "blob"),
    (r"float$", "float"),
    (r"double$", "double"),
)


def define_tables(table: str, shapes: Mapping[str, TableShape], protocol: Protocol) -> list[Table]:
    """Define each copy of a table.

    Args:
        table: The table's name in the workload.
        shapes: All tables of the workload, by name.
        protocol: The wire protocol of the database family.

    Raises:
        WorkloadError: The protocol's databases cannot have such a table.
    """
    shape = shapes[table]
    language = _find_language(protocol)
    columns = language.name_columns(shape)
    names = map(language.fold, copy_names(table, shape.copies))
    return [
        Table(
            name=name,
            key_space=table,
            rows=shape.rows,
            first=shape.first,
            columns=tuple(columns.values()),
            key=tuple(columns[column] for column in shape.primary_key),
            row=tuple(column.value for column in shape.columns.values()),
            create_sql=language.create_table(shape, name),
            index_sql=language.create_indexes(shape, name, copy),
            reference_sql=language.add_references(shapes, shape, name, copy),
        )
        for copy, name in enumerate(names, start=1)
    ]


class _MySql:
    """The statements of MySQL and its relatives, and what those of other databases differ in."""

    quote = "`"
    increment = "AUTO_INCREMENT"
    options = " ENGINE = InnoDB"

    def fold(self, name: str) -> str:
        """Return a name as the server keeps it."""
        return name

    def name_columns(self, shape: TableShape) -> dict[str, str]:
        """Return the columns' names in the database, by those in the workload."""
        return {name: self.fold(name) for name in shape.columns}

    def create_table(self, shape: TableShape, name: str) -> str:
        """Return the statement that creates one copy of a table if it does not exist."""
        names = self.name_columns(shape)
        lines = [self.write_column(names[each], column) for each, column in shape.columns.items()]
        if shape.primary_key:
            lines.append(f"PRIMARY KEY ({self._list_names(shape.primary_key, names)})")
        body = ",\n  ".join(lines)
        return f"CREATE TABLE IF NOT EXISTS {self._quote(name)} (\n  {body}\n){self.options}"

    def create_indexes(self, shape: TableShape, name: str, copy: int) -> dict[str, str]:
        """Return the statements that create a copy's secondary indexes, by index name.

        They run after loading, as in the original benchmarks: building a whole index at once is
        faster.
        """
        names, statements = self.name_columns(shape), {}
        for kind, indexes in (("INDEX", shape.indexes), ("UNIQUE INDEX", shape.unique)):
            for template, columns in indexes.items():
                index = self.name_index(name, template.replace("{copy}", str(copy)))
                listed = ", ".join(self.write_indexed(parse_indexed(c), names) for c in columns)
                place = f"{self._quote(name)} ({listed})"
                statements[index] = f"CREATE {kind} {self._quote(index)} ON {place}"
        return statements

    def add_references(
        self, shapes: Mapping[str, TableShape], shape: TableShape, name: str, copy: int
    ) -> dict[str, str]:
        """Return what an ALTER TABLE adds for a copy's foreign keys, by the key's name."""
        added = {}
        for own, reference in shape.references.items():
            if not reference.made:
                continue
            other = shapes[reference.table]
            others = copy_names(reference.table, other.copies)
            columns = self._list_names(reference.columns, self.name_columns(shape))
            key = self._list_names(other.primary_key, self.name_columns(other))
            there = self._quote(self.fold(others[copy - 1 if other.copies else 0]))
            constraint = self.fold(_join_names(name, own.replace("{copy}", str(copy))))
            added[constraint] = (
                f"ADD CONSTRAINT {self._quote(constraint)} FOREIGN KEY ({columns})"
                f" REFERENCES {there} ({key})"
            )
        return added

    def write_indexed(self, indexed: Indexed, names: dict[str, str]) -> str:
        """Return a column of an index."""
        length = "" if indexed.length is None else f"({indexed.length})"
        order = " DESC" if indexed.descending else ""
        return f"{self._quote(names[indexed.column])}{length}{order}"

    def name_index(self, _table: str, own: str) -> str:
        """Return the name of an index of a table."""
        return own

    def write_column(self, name: str, column: Column) -> str:
        """Return the definition of a column."""
        null = "NULL" if column.nullable else "NOT NULL"
        parts = [self._quote(name), self.write_type(column.type), null]
        if column.auto_increment:
            parts.append(self.increment)
        if column.default is not None:
            parts.append(f"DEFAULT {self._write_default(column)}")
        return " ".join(parts)

    def write_type(self, declared: str) -> str:
        """Return the database's type for a declared one."""
        return declared

    def escape(self, text: str) -> str:
        """Return a text as it stands between quotes."""
        return text.replace("\\", "\\\\").replace("'", "''")

    def _quote(self, name: str) -> str:
        return f"{self.quote}{name}{self.quote}"

    def _list_names(self, columns: tuple[str, ...], names: dict[str, str]) -> str:
        return ", ".join(self._quote(names[column]) for column in columns)

    def _write_default(self, column: Column) -> str:
        if column.type == "boolean":  # PostgreSQL makes none of a number
            return "TRUE" if column.default else "FALSE"
        return self._write_literal(column.default)

    def _write_literal(self, value: Scalar) -> str:
        if isinstance(value, str):
            return f"'{self.escape(value)}'"
        return str(int(value) if isinstance(value, bool) else value)


class _Postgres(_MySql):
    """PostgreSQL's. All names are in lower case, as unquoted names are read."""

    quote = '"'
    increment = "GENERATED BY DEFAULT AS IDENTITY"
    options = ""

    def fold(self, name: str) -> str:
        return name.lower()

    def name_index(self, table: str, own: str) -> str:
        """Index names are unique within a schema, so one begins with the name of its table."""
        return _join_names(table, own.lower())

    def write_type(self, declared: str) -> str:
        for pattern, ours in _POSTGRES_TYPES:
            if match := re.fullmatch(pattern, declared):
                return match.expand(ours).upper()
        raise WorkloadError(f"type {declared!r}: has no counterpart in PostgreSQL here")

    def write_indexed(self, indexed: Indexed, names: dict[str, str]) -> str:
        if indexed.length is not None:
            problem = f"{indexed.column!r}: PostgreSQL has no indexes of a part of a column"
            raise WorkloadError(Complaint(("indexes",), problem))
        return super().write_indexed(indexed, names)

    def escape(self, text: str) -> str:
        return text.replace("'", "''")


class _Cassandra(_MySql):
    """Cassandra's, which lacks secondary indexes and some types. Names as PostgreSQL's."""

    quote = '"'
    options = ""

    def fold(self, name: str) -> str:
        return name.lower()

    def name_columns(self, shape: TableShape) -> dict[str, str]:
        return shape.cql_names

    def create_table(self, shape: TableShape, name: str) -> str:
        if shape.indexes or shape.unique:
            raise WorkloadError(Complaint(("indexes",), "indexes are made in SQL databases alone"))
        if shape.references:
            problem = "foreign keys are made in SQL databases alone"
            raise WorkloadError(Complaint(("references",), problem))
        if not shape.primary_key:
            raise WorkloadError(Complaint(("primary_key",), "every table of Cassandra has a key"))
        return super().create_table(shape, name)

    def write_column(self, name: str, column: Column) -> str:
        return f"{self._quote(name)} {self.write_type(column.type)}"

    def write_type(self, declared: str) -> str:
        for pattern, ours in _CQL_TYPES:
            if re.match(pattern, declared):
                return ours
        raise WorkloadError(f"type {declared!r}: has no counterpart in Cassandra here")


def _join_names(table: str, own: str) -> str:
    """Return the name of something of a table's that is unique among those of all tables.

    If both are too long, only the end of the table's name is kept, which has the number of the
    copy.
    """
    return f"{table[-(POSTGRES_NAME_MOST - 1 - len(own)) :]}_{own}"


def _find_language(protocol: Protocol) -> _MySql:
    match protocol:
        case "mysql":
            return _MySql()
        case "cql":
            return _Cassandra()
        case "postgres":
            return _Postgres()
        case _:
            assert_never(protocol)
