"""Tables of a workload: columns, keys, indexes, and the values that fill their rows."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from plimsoll.complaints import Scalar, complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.values import PatternValue, RowValue, TextValue, Value
from plimsoll.workload.declared import (
    Declared,
    Given,
    Listed,
    Name,
    Text,
    build_workload_error,
    locate_errors,
)
from plimsoll.workload.values import BIGINT_MAX, AnyValue

MAX_COPIES = 1000
MAX_TABLES = 10_000  # copies included

_INTEGER = r"(?:tinyint|smallint|mediumint|int|integer|bigint)(?: unsigned)?"
_SIZED = r"(?P<sized>char|varchar|binary|varbinary)\((?P<length>\d{1,5})\)"
_OTHER = (
    r"(?:tiny|medium|long)?(?:text|blob)|decimal\(\d{1,2}, ?\d{1,2}\)|float|double"
    r"|date|(?:datetime|timestamp)(?:\([0-6]\))?|json|boolean"
)
_TYPE = re.compile(f"{_INTEGER}|{_SIZED}|{_OTHER}")


def _check_type(text: str) -> str:
    declared = text.lower()
    if not _TYPE.fullmatch(declared):
        raise build_workload_error(
            f"unknown type {declared!r} (allowed: tinyint, smallint, mediumint, int, bigint, each"
            " also unsigned, char(n), varchar(n), binary(n), varbinary(n), text, blob,"
            " decimal(p,s), float, double, date, datetime, timestamp, json, boolean)"
        )
    return declared


def _check_index_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,40}(\{copy\})?", name):
        raise build_workload_error("an index's name has letters, digits and _; {copy} may end it")
    return name


def _require_distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise build_workload_error("names a column twice")
    return names


def _require_some(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise build_workload_error("names no column")
    return names


_INDEXED = re.compile(
    r"(?P<column>[^() ]+)(?:\((?P<length>[1-9]\d{0,3})\))?(?P<order> desc)?", re.IGNORECASE
)


@dataclass(frozen=True)
class Indexed:
    """A column of an index.

    Attributes:
        column: The name of the column.
        length: The number of characters that the index has of it; None for all.
        descending: Whether the index is in descending order.
    """

    column: str
    length: int | None = None
    descending: bool = False


def parse_indexed(text: str) -> Indexed:
    """Parse a column of an index: `slug`, `slug(191)`, `created_at desc`."""
    found = _INDEXED.fullmatch(text.strip())
    if found is None:
        return Indexed(text)
    length = None if found["length"] is None else int(found["length"])
    return Indexed(found["column"], length, found["order"] is not None)


RowNumber = Annotated[int, Field(ge=0, le=BIGINT_MAX // 2)]
KeyColumns = Annotated[Listed[str], AfterValidator(_require_distinct)]
ColumnNames = Annotated[KeyColumns, AfterValidator(_require_some)]


IndexName = Annotated[str, AfterValidator(_check_index_name)]
Indexes = dict[IndexName, ColumnNames]


class Column(Declared):
    """A column as a workload declares it. `cql_name` is the column's name in Cassandra."""

    type: Annotated[Text, AfterValidator(_check_type)]
    value: AnyValue
    nullable: bool = False
    auto_increment: bool = False
    default: Scalar = None
    cql_name: Given[Text] = None

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        longest = _find_value_length_bytes(self.value)
        match = _TYPE.fullmatch(self.type)
        if longest and match and match["sized"] and longest > int(match["length"]):
            raise build_workload_error(f"{longest} bytes do not fit {self.type}", "value")
        return self


class Reference(Declared):
    """A foreign key to the primary key of a table.

    Attributes:
        table: The table that has the key.
        columns: The columns that hold it, in the order of that key.
        made: 0 if it is not made, as a parameter may say.
    """

    table: Name
    columns: ColumnNames
    made: Annotated[int, Field(ge=0, le=1)] = 1


class TableShape(Declared):
    """A table as a workload declares it: one table, or several equal copies.

    Attributes:
        rows: The number of rows of each copy.
        primary_key: The columns of the key. A table without a key must begin without rows, since
            rows of an interrupted load could not be distinguished from new ones.
        copies: The number of copies, named `name1`, `name2` ...; None for one table `name`.
        first: The number of the first row.
        keys: `sampled` if operations draw the keys that the table has, whatever they are; None if
            they draw the numbers of rows.
        indexes: The columns by index name; `{copy}` in a name stands for the number of the copy.
            A column may have a length or an order (`parse_indexed`).
        unique: Unique indexes, as `indexes`. The values of the rows have to differ.
        references: Foreign keys, by name.
    """

    rows: RowNumber
    columns: Annotated[dict[Name, Column], Field(min_length=1)]
    primary_key: KeyColumns
    copies: Given[Annotated[int, Field(ge=1, le=MAX_COPIES)]] = None
    first: RowNumber = 0
    keys: Given[Literal["sampled"]] = None
    indexes: Indexes = Field(default_factory=dict)
    unique: Indexes = Field(default_factory=dict)
    references: dict[IndexName, Reference] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _columns_are_known(self) -> Self:
        with locate_errors("primary_key"):
            self._require_known(self.primary_key)
            if self.rows and not self.primary_key:
                raise build_workload_error("names no column: a table with rows needs a key")
        for kind, indexes in (("indexes", self.indexes), ("unique", self.unique)):
            for index, names in indexes.items():
                with locate_errors(kind, index):
                    self._require_known(tuple(parse_indexed(name).column for name in names))
        for name, reference in self.references.items():
            with locate_errors("references", name, "columns"):
                self._require_known(reference.columns)
        if twice := self.indexes.keys() & self.unique.keys():
            raise build_workload_error(f"{min(twice)!r} is an index too", "unique")
        return self

    @model_validator(mode="after")
    def _keys_can_be_sampled(self) -> Self:
        if self.keys is None:
            return self
        if self.copies is not None:
            raise build_workload_error("a table with copies has no common keys to sample", "keys")
        key = self.primary_key[0] if len(self.primary_key) == 1 else None
        if key is None or not isinstance(self.columns[key].value, RowValue):
            problem = "needs a primary key of one column, the value of which is row"
            raise build_workload_error(problem, "keys")
        return self

    def _require_known(self, names: tuple[str, ...]) -> None:
        for position, name in enumerate(names):
            if name not in self.columns:
                raise WorkloadError(
                    complain_of_unknown("column", name, self.columns, (position,), value=name)
                )

    @model_validator(mode="after")
    def _columns_have_names_in_cql(self) -> Self:
        names = self.cql_names
        for name, cql_name in names.items():
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,47}", cql_name):
                problem = (
                    f"{cql_name!r} is not a column name of CQL: small letters, digits and _, a"
                    " letter first, up to 48; cql_name sets another name"
                )
                raise build_workload_error(problem, "columns", name, "cql_name", value=cql_name)
        if len(set(names.values())) < len(names):
            raise build_workload_error("two columns would have the same name in CQL", "columns")
        return self

    @property
    def cql_names(self) -> dict[str, str]:
        """The columns' names in Cassandra."""
        return {name: column.cql_name or name.lower() for name, column in self.columns.items()}


def copy_names(table: str, copies: int | None) -> tuple[str, ...]:
    """Return the copies' names in the database; None for one table with the name as it is."""
    if copies is None:
        return (table,)
    return tuple(f"{table}{number}" for number in range(1, copies + 1))


class Tables(Declared):
    """The tables of a dataset, by name."""

    tables: Annotated[dict[Name, TableShape], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        if sum(shape.copies or 1 for shape in self.tables.values()) > MAX_TABLES:
            raise build_workload_error(
                f"more than {MAX_TABLES} tables, their copies counted", "tables"
            )
        seen: dict[str, str] = {}
        for table, shape in self.tables.items():
            for name in copy_names(table, shape.copies):
                if other := seen.get(name.lower()):
                    problem = f"{table} and {other} would both make a table {name!r}"
                    raise build_workload_error(problem, "tables")
                seen[name.lower()] = table
        return self

    @model_validator(mode="after")
    def _references_are_keys(self) -> Self:
        for table, shape in self.tables.items():
            for name, reference in shape.references.items():
                with locate_errors("tables", table, "references", name):
                    self._require_key(shape, reference)
        return self

    def _require_key(self, shape: TableShape, reference: Reference) -> None:
        if reference.table not in self.tables:
            raise WorkloadError(
                complain_of_unknown("table", reference.table, self.tables, ("table",))
            )
        other = self.tables[reference.table]
        if other.copies not in (None, shape.copies):
            raise build_workload_error(f"{reference.table} has other copies", "table")
        types = [shape.columns[column].type for column in reference.columns]
        wanted = [other.columns[column].type for column in other.primary_key]
        if types != wanted:
            problem = f"has to be as the key of {reference.table}: {', '.join(wanted) or 'none'}"
            raise build_workload_error(f"{problem}, not {', '.join(types)}", "columns")


def _find_value_length_bytes(value: Value) -> int | None:
    match value:
        case TextValue(length=length, most=most):
            return length if most is None else most
        case PatternValue(pattern=pattern):
            return len(pattern.encode())
        case _:
            return None
