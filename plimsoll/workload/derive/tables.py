"""The tables of a derived workload. Equal tables become copies of one."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from plimsoll.model.run.statements_seen import TableSeen
from plimsoll.workload.derive.binds import Known
from plimsoll.workload.derive.columns import find_row_numbers, list_unique
from plimsoll.workload.derive.shapes import Shape
from plimsoll.workload.tables import MAX_COPIES, parse_indexed

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,55}")
_NUMBERED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*?)([1-9][0-9]{0,3})")


def filter_usable(tables: Iterable[TableSeen], *, folds: bool = False) -> dict[str, TableSeen]:
    """Return the tables by name, without tables and columns whose names a workload cannot have.

    Args:
        tables: The tables of the database.
        folds: Whether the workload's names are read in lower case (PostgreSQL).
    """

    def fits(name: str) -> bool:
        return bool(_NAME.fullmatch(name)) and (not folds or name == name.lower())

    return {
        table.name: table.model_copy(update={"columns": columns})
        for table in tables
        if fits(table.name)
        and (columns := tuple(column for column in table.columns if fits(column.name)))
        and set(table.primary_key) <= {column.name for column in columns}
    }


def describe_tables(tables: Mapping[str, TableSeen], shapes: Collection[Shape]) -> dict[str, Known]:
    """Return the tables that statements name, with the values that stand in for their rows."""
    named = {table for shape in shapes for table in shape.tables}
    common = _find_copies({name: tables[name] for name in named})
    known = {}
    for name in named:
        base, copies = common.get(name, (name, None))
        prefixes = any(_asks_for_prefix(shape, tables[name]) for shape in shapes)
        known[name] = Known.of(tables[name], base, copies, prefixes=prefixes)
    return known


def _find_copies(tables: Mapping[str, TableSeen]) -> dict[str, tuple[str, int]]:
    """Find numbered tables `name1`, `name2` ... with equal columns; returns base name and count."""
    found: dict[str, dict[int, TableSeen]] = {}
    for name, table in tables.items():
        if match := _NUMBERED.fullmatch(name):
            found.setdefault(match[1], {})[int(match[2])] = table
    alike: dict[str, tuple[str, int]] = {}
    for base, numbered in found.items():
        columns = {tuple((c.name, c.type) for c in table.columns) for table in numbered.values()}
        count = len(numbered)
        whole = set(numbered) == set(range(1, count + 1)) and 2 <= count <= MAX_COPIES
        if whole and len(columns) == 1 and base not in tables:
            alike |= {table.name: (base, count) for table in numbered.values()}
    return alike


def _asks_for_prefix(shape: Shape, table: TableSeen) -> bool:
    """Whether a statement compares only some columns of a table's key."""
    asked: dict[str, set[str]] = {}
    for slot in shape.slots:
        if slot.table == table.name and slot.role in {"equal", "member", "low", "high"}:
            asked.setdefault(slot.alias, set()).add(slot.column)
    key = set(table.primary_key)
    return any(columns & key and not key <= columns for columns in asked.values())


def write_tables(known: Collection[Known]) -> tuple[dict[str, Any], int]:
    """Return the tables as in a document, and the number of records: the largest table's rows."""
    by_name: dict[str, list[Known]] = {}
    for one in known:
        by_name.setdefault(one.name, []).append(one)
    rows = {
        name: max(1, sum(find_row_numbers(one.seen)[1] for one in alike) // len(alike))
        for name, alike in by_name.items()
    }
    records = max(rows.values(), default=1)
    tables = {
        name: _write_table(by_name[name][0], "$records" if rows[name] == records else rows[name])
        for name in sorted(by_name)
    }
    return tables, records


def _write_table(known: Known, rows: int | str) -> dict[str, Any]:
    seen = known.seen
    columns = {}
    for column in seen.columns:
        filled = known.columns[column.name]
        columns[column.name] = {
            "type": filled.type,
            "value": filled.of("row"),
            **({"nullable": True} if column.nullable else {}),
            **({"auto_increment": True} if column.auto_increment else {}),
        }
    indexes: dict[str, dict[str, list[str]]] = {"indexes": {}, "unique": {}}
    unique = list_unique(seen)
    for number, (index, names) in enumerate(seen.indexes.items(), start=1):
        of = [parse_indexed(name).column for name in names]
        if names and set(of) <= set(columns):
            kind = "unique" if index in unique else "indexes"
            indexes[kind][f"{'by_' + '_'.join(of)[:30]}_{number}"] = list(names)
    return {
        "rows": rows if seen.primary_key else 0,
        **({"copies": known.copies} if known.copies else {}),
        "first": find_row_numbers(seen)[0],
        "primary_key": list(seen.primary_key),
        **{kind: made for kind, made in indexes.items() if made},
        "columns": columns,
    }
