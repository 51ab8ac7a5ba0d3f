"""Tables: columns, keys, indexes, and the values that fill their rows."""

import re
from dataclasses import dataclass

from plimsoll.complaints import Scalar
from plimsoll.model.values import PatternValue, TextValue, Value
from plimsoll.workload.items import Item
from plimsoll.workload.values import BIGINT_MAX, Scope, read_value

MAX_COPIES = 1000

_INTEGER = r"(?:tinyint|smallint|mediumint|int|integer|bigint)(?: unsigned)?"
_SIZED = r"(?P<sized>char|varchar|binary|varbinary)\((?P<length>\d{1,5})\)"
_OTHER = (
    r"(?:tiny|medium|long)?(?:text|blob)|decimal\(\d{1,2}, ?\d{1,2}\)|float|double"
    r"|date|(?:datetime|timestamp)(?:\([0-6]\))?|json"
)
_TYPE = re.compile(f"{_INTEGER}|{_SIZED}|{_OTHER}")


@dataclass(frozen=True)
class Column:
    """One column as its table declares it; `cql_name`: what Cassandra calls it."""

    name: str
    cql_name: str
    type: str
    nullable: bool
    auto_increment: bool
    default: Scalar
    value: Value


@dataclass(frozen=True)
class TableShape:
    """A table as the workload declares it: one or several copies alike.

    Attributes:
        copies: Number of tables of this shape, named `name1`, `name2` ...; None: one, `name`.
        rows: Rows of each copy.
        first: Number of the first row.
        indexes: Columns by index name; `{copy}` in a name stands for the copy's number.
    """

    name: str
    copies: int | None
    rows: int
    first: int
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    indexes: dict[str, tuple[str, ...]]

    def names(self) -> tuple[str, ...]:
        """Name each copy as the database knows it."""
        if self.copies is None:
            return (self.name,)
        return tuple(f"{self.name}{number}" for number in range(1, self.copies + 1))


def read_tables(item: Item) -> dict[str, TableShape]:
    """Read the tables of a dataset.

    Raises:
        WorkloadError: Something in them cannot be.
    """
    tables = {name: _read_table(part) for name, part in item.entries().items()}
    if not tables:
        raise item.error("names no table")
    seen: dict[str, str] = {}
    for shape in tables.values():
        for name in shape.names():
            if other := seen.get(name.lower()):
                raise item.error(f"{shape.name} and {other} would both make a table {name!r}")
            seen[name.lower()] = shape.name
    return tables


def _read_table(item: Item) -> TableShape:
    fields = item.fields("rows", "columns", "primary_key", optional=("copies", "first", "indexes"))
    columns = tuple(_read_column(part) for part in fields["columns"].entries().values())
    if not columns:
        raise fields["columns"].error("names no column")
    names = tuple(column.name for column in columns)
    if len({column.cql_name for column in columns}) < len(columns):
        raise fields["columns"].error("two columns would have the same name in CQL")
    indexes = fields["indexes"].entries() if "indexes" in fields else {}
    for name, part in indexes.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,40}(\{copy\})?", name):
            raise part.error("an index's name has letters, digits and _; {copy} may end it")
    return TableShape(
        name=item.name(),
        copies=fields["copies"].integer(1, MAX_COPIES) if "copies" in fields else None,
        rows=fields["rows"].integer(0, BIGINT_MAX // 2),
        first=fields["first"].integer(0, BIGINT_MAX // 2) if "first" in fields else 0,
        columns=columns,
        primary_key=_column_names(fields["primary_key"], names),
        indexes={name: _column_names(part, names) for name, part in indexes.items()},
    )


def _column_names(item: Item, known: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(part.one_of(known, "column") for part in item.sequence())
    if not names:
        raise item.error("names no column")
    if len(set(names)) < len(names):
        raise item.error("names a column twice")
    return names


def _read_column(item: Item) -> Column:
    fields = item.fields(
        "type", "value", optional=("nullable", "auto_increment", "default", "cql_name")
    )
    declared = fields["type"].text().lower()
    match = _TYPE.fullmatch(declared)
    if match is None:
        raise fields["type"].error(
            f"unknown type {declared!r} (allowed: tinyint, smallint, mediumint, int, bigint, each"
            " also unsigned, char(n), varchar(n), binary(n), varbinary(n), text, blob,"
            " decimal(p,s), float, double, date, datetime, timestamp, json)"
        )
    value = read_value(fields["value"], Scope(row=True))
    longest = _length(value)
    if match["sized"] and longest is not None and longest > int(match["length"]):
        raise fields["value"].error(f"{longest} bytes do not fit {declared}")
    cql_name = fields["cql_name"].text() if "cql_name" in fields else item.name().lower()
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,47}", cql_name):
        raise fields.get("cql_name", item).error(
            f"{cql_name!r} names no column in CQL: small letters, digits and _, a letter first, up"
            " to 48; cql_name says another name"
        )
    return Column(
        name=item.name(),
        cql_name=cql_name,
        type=declared,
        nullable=fields["nullable"].boolean() if "nullable" in fields else False,
        auto_increment=fields["auto_increment"].boolean() if "auto_increment" in fields else False,
        default=fields["default"].scalar() if "default" in fields else None,
        value=value,
    )


def _length(value: Value) -> int | None:
    if isinstance(value, TextValue):
        return value.length
    if isinstance(value, PatternValue):
        return len(value.pattern.encode())
    return None


def check_table(item: Item, name: str, tables: dict[str, TableShape]) -> TableShape:
    """Look a table up by name.

    Raises:
        WorkloadError: There is none of that name.
    """
    if name not in tables:
        raise item.unknown("table", name, tables)
    return tables[name]
