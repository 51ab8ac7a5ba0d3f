"""The tables of a derived workload. Equal tables become copies of one."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from plimsoll.model.run.statements_seen import ColumnSeen, TableSeen
from plimsoll.workload.derive.binds import Known, compute_unchanged_share, find_led
from plimsoll.workload.derive.columns import find_row_numbers, list_unique
from plimsoll.workload.derive.shapes import Shape
from plimsoll.workload.derive.statements import Taken
from plimsoll.workload.tables import MAX_COPIES, parse_indexed

_COMPARED = {"equal", "member", "low", "high", "same"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,55}")
_INDEX_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")  # hints name indexes
_NAME_MOST = 50  # characters of a name that is written otherwise
ASKED_LEAST = 2  # times as many rows as a value has on average, from which it counts as asked for
ASKED_MOST = 0.99
ROW_COLUMN = "plimsoll_row"  # the key of a table that has none
_NUMBERED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*?)([1-9][0-9]{0,3})")


def find_plain_names(tables: Collection[TableSeen], *, folds: bool = False) -> dict[str, str]:
    """Return other names for those of tables and columns that a workload cannot have.

    Args:
        tables: The tables of the database.
        folds: Whether the workload's names are read in lower case (PostgreSQL).
    """
    names = [name for table in tables for name in (table.name, *(c.name for c in table.columns))]
    plain: dict[str, str] = {}
    taken = {name.lower() for name in names if _is_plain(name, folds=folds)}
    for name in names:
        if name in plain or _is_plain(name, folds=folds):
            continue
        written = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        written = re.sub(r"\W", "_", written.lower() if folds else written)
        chosen = base = re.sub(r"^(?=\d|$)", "t_", written)[:_NAME_MOST]
        number = 1
        while chosen.lower() in taken:
            number += 1
            chosen = f"{base}_{number}"
        taken.add(chosen.lower())
        plain[name] = chosen
    return plain


def _is_plain(name: str, *, folds: bool) -> bool:
    return bool(_NAME.fullmatch(name)) and (not folds or name == name.lower())


def rename_tables(tables: Iterable[TableSeen], plain: Mapping[str, str]) -> dict[str, TableSeen]:
    """Return the tables by name, with other names where there are some."""

    def rename(name: str) -> str:
        return plain.get(name, name)

    def rename_indexed(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            name.replace(of, rename(of), 1) for name in names for of in [parse_indexed(name).column]
        )

    renamed = {}
    for table in tables:
        columns = (one.model_copy(update={"name": rename(one.name)}) for one in table.columns)
        renamed[rename(table.name)] = table.model_copy(
            update={
                "name": rename(table.name),
                "columns": tuple(columns),
                "primary_key": tuple(map(rename, table.primary_key)),
                "indexes": {one: rename_indexed(names) for one, names in table.indexes.items()},
                "indexes_left": {
                    name: left.model_copy(update={"columns": tuple(map(rename, left.columns))})
                    for name, left in table.indexes_left.items()
                },
            }
        )
    return renamed


def _add_key(table: TableSeen) -> TableSeen:
    """Return a table with a key, without which its rows cannot be made.

    It is the first unique index without nulls, by which InnoDB orders the rows too, or a column
    more.
    """
    required = {column.name for column in table.columns if not column.nullable}
    for name in table.unique:
        if set(table.indexes[name]) <= required:
            return table.model_copy(
                update={
                    "primary_key": table.indexes[name],
                    "indexes": {k: v for k, v in table.indexes.items() if k != name},
                    "unique": tuple(one for one in table.unique if one != name),
                }
            )
    number = ColumnSeen(name=ROW_COLUMN, type="bigint", auto_increment=True)
    return table.model_copy(
        update={"columns": (*table.columns, number), "primary_key": (ROW_COLUMN,)}
    )


def describe_tables(tables: Mapping[str, TableSeen], taken: Collection[Taken]) -> dict[str, Known]:
    """Return the tables that statements name, with the values that stand in for their rows."""
    named = {table for one in taken for table in one.shape.tables}
    read = {table for one in taken if one.shape.verb != "INSERT" for table in one.shape.tables}
    tables = {
        name: _add_key(tables[name])
        if name in read and tables[name].rows and not tables[name].primary_key
        else tables[name]
        for name in named
    }
    common = _find_copies(tables)
    compared: dict[str, set[str]] = {}
    for one in taken:
        stays = compute_unchanged_share(one.shape, one.digest) > 0
        for slot in one.shape.slots:
            if slot.role in _COMPARED or (stays and slot.role == "set"):
                base, _ = common.get(slot.table, (slot.table, None))
                compared.setdefault(base, set()).add(slot.column)
    asked = _find_asked(tables, taken)
    known = {}
    for name in named:
        base, copies = common.get(name, (name, None))
        known[name] = Known.of(
            tables[name],
            base,
            copies,
            prefixes=any(_asks_for_prefix(one.shape, tables[name]) for one in taken),
            compared=compared.get(base, ()),
            asked=asked.get(name),
        )
    return known


def _find_asked(
    tables: Mapping[str, TableSeen], taken: Collection[Taken]
) -> dict[str, dict[str, float]]:
    """Return, by table and column, the share of the rows that have the value that is asked for.

    It is told by the rows that a statement examines, where those are far more than the number of
    values would have it.
    """
    found: dict[str, dict[str, float]] = {}
    for one in taken:
        examined = one.digest.rows_examined
        if len(one.shape.tables) != 1 or examined is None or not one.digest.calls:
            continue
        table = tables[one.shape.tables[0]]
        equal = [slot.column for slot in one.shape.slots if slot.role == "equal"]
        led = max((find_led(names, equal) for names in table.indexes.values()), key=len, default=[])
        rows = find_row_numbers(table)[1]
        values = {column.name: column.distinct or rows for column in table.columns}
        share = min(ASKED_MOST, examined / one.digest.calls / rows)
        others = max(1 / rows, 1 / math.prod(values[name] for name in led))
        if not led or share < ASKED_LEAST * others:
            continue
        shares = found.setdefault(table.name, {})
        for name in led:
            shares[name] = max(shares.get(name, 0.0), round(share ** (1 / len(led)), 3))
    return found


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
        if slot.table == table.name and slot.role in _COMPARED:
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


def _write_default(column: ColumnSeen, declared: str) -> dict[str, Any]:
    """Return the default of a column that an INSERT may leave out, or that it may be null instead.

    It is made up: a default is a value of yours, too.
    """
    if column.nullable or column.auto_increment or not column.has_default:
        return {}
    if declared.endswith(("text", "blob")) or declared == "json":
        return {"nullable": True}
    if declared.startswith(("char", "varchar", "binary", "varbinary")):
        return {"default": ""}
    return {"default": "2026-01-01" if declared.startswith(("date", "timestamp")) else 0}


def _write_table(known: Known, rows: int | str) -> dict[str, Any]:
    seen = known.seen
    columns = {}
    for column in seen.columns:
        filled = known.columns[column.name]
        columns[column.name] = {
            "type": filled.type,
            "value": filled.fill(),
            **({"nullable": True} if column.nullable else {}),
            **_write_default(column, filled.type),
            **({"auto_increment": True} if column.auto_increment else {}),
        }
    indexes: dict[str, dict[str, list[str]]] = {"indexes": {}, "unique": {}}
    unique = list_unique(seen)
    for number, (index, names) in enumerate(seen.indexes.items(), start=1):
        of = [parse_indexed(name).column for name in names]
        if names and set(of) <= set(columns):
            kind = "unique" if index in unique else "indexes"
            made_up = f"{'by_' + '_'.join(of)[:30]}_{number}"
            indexes[kind][index if _INDEX_NAME.fullmatch(index) else made_up] = list(names)
    return {
        "rows": rows if seen.primary_key else 0,
        **({"copies": known.copies} if known.copies else {}),
        "first": find_row_numbers(seen)[0],
        "primary_key": list(seen.primary_key),
        **{kind: made for kind, made in indexes.items() if made},
        "columns": columns,
    }
