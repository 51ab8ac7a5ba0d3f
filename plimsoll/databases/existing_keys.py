"""The keys that tables have: which of a workload's are missing, and draws from real ones."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from random import Random

import plimsoll_engine
from plimsoll.databases.family import find_family
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineOperation, EngineStatement, EngineTarget, Let
from plimsoll.model.engine.values import (
    ColumnValue,
    DecimalValue,
    Distribution,
    FormatValue,
    HashValue,
    IfValue,
    KeyValue,
    LastNameValue,
    RowValue,
    SumValue,
    Value,
    WeightedValue,
)
from plimsoll.workload.compiled import Compiled, Table
from plimsoll.workload.rows import follows_from_number

LOOKED_UP = 10_000  # most keys of a table that are looked up: a sample if it has more
SAMPLED = 50_000  # most keys that are drawn from
DRAWS = 65_536  # draws of one value, which then repeat
DRAWS_IN_ALL = 1_000_000
SEED = 1


@dataclass(frozen=True)
class MissingKeys:
    """Keys that a workload draws, and that its table does not have.

    Attributes:
        table: The table.
        key_space: The table's name in the workload.
        keys: The number of keys that the workload draws from.
        looked_up: The number of them that were looked for.
        missing: The number of these that are not there.
        rows_meant: Whether an operation that draws them expects to find their rows.
    """

    table: str
    key_space: str
    keys: int
    looked_up: int
    missing: int
    rows_meant: bool

    @property
    def share(self) -> float:
        """The share of the keys that are missing."""
        return self.missing / self.looked_up

    def __str__(self) -> str:
        """Describe them: `4,500 of 5,000 keys of orders are missing`."""
        if self.looked_up == self.keys:
            return f"{self.missing:,} of {self.keys:,} keys of {self.table} are missing"
        about = round(self.share * self.keys)
        return (
            f"about {about:,} of {self.keys:,} keys of {self.table} are missing"
            f" ({self.missing:,} of {self.looked_up:,} that were looked for)"
        )


def find_missing_keys(target: EngineTarget, compiled: Compiled) -> list[MissingKeys]:
    """Look for the keys that a workload draws; return the tables that lack some.

    Tables whose keys are sampled, and those whose key does not follow from the row's number alone,
    are not looked at.

    Raises:
        PlimsollError: The database refuses, or a table is not there.
    """
    drawn: dict[str, bool] = {}
    for operation in compiled.engine.operations:
        for key in _list_keys(operation):
            meant = drawn.get(key.key_space, False)
            drawn[key.key_space] = meant or operation.rows_least > 0
    found = []
    with find_family(target.protocol).open_datasets(target) as datasets:
        for table in compiled.tables:
            if table.key_space not in drawn or len(table.key) != 1 or not table.rows:
                continue
            value = table.row[table.columns.index(table.key[0])]
            if not follows_from_number(value):
                continue
            keys = _compute_keys(table, value)
            there = datasets.count_keys(table.name, table.key[0], keys)
            if there < len(keys):
                lack = MissingKeys(
                    table=table.name,
                    key_space=table.key_space,
                    keys=table.rows,
                    looked_up=len(keys),
                    missing=len(keys) - there,
                    rows_meant=drawn[table.key_space],
                )
                found.append(lack)
    return found


def _compute_keys(table: Table, value: Value) -> list[int | str]:
    """Return the keys of a table's rows, or of a random `LOOKED_UP` of them if there are more."""
    numbers = range(table.first, table.first + table.rows)
    some = Random(SEED).sample(numbers, min(LOOKED_UP, table.rows))  # noqa: S311 - not for cryptography
    each = _replace_within(value, lambda _: ColumnValue(values=tuple(some)))
    drawn = plimsoll_engine.sample(each.model_dump_json(), "[]", SEED, len(some))
    return [key for key in drawn if isinstance(key, int | str)]


def draw_from_existing(target: EngineTarget, compiled: Compiled) -> Compiled:
    """Return a workload that draws the keys of tables with `keys: sampled` from those that exist.

    At most `SAMPLED` keys of a table are kept, so that memory does not grow with it.

    Raises:
        PlimsollError: The database refuses, a table has no rows, or its keys cannot be sampled.
    """
    if not compiled.sampled:
        return compiled
    keys: dict[str, tuple[int | str, ...]] = {}
    with find_family(target.protocol).open_datasets(target) as datasets:
        for table in compiled.tables:
            if table.key_space in compiled.sampled:
                sampled = datasets.sample_keys(table.name, table.key[0], SAMPLED)
                if not sampled:
                    raise PlimsollError(f"the table {table.name} has no rows to draw keys from")
                keys[table.key_space] = sampled
    operations = compiled.engine.operations
    uses = sum(key.key_space in keys for one in operations for key in _list_keys(one))
    draws = min(DRAWS, DRAWS_IN_ALL // max(uses, 1))
    seeds = count(SEED)

    def draw(value: Value) -> Value:
        if not isinstance(value, KeyValue) or value.key_space not in keys:
            return value
        own = keys[value.key_space]
        indexes = _draw_indexes(value.distribution, len(own), draws, next(seeds))
        return ColumnValue(values=tuple(own[index] for index in indexes))

    changed = tuple(_change_values(one, draw) for one in operations)
    return replace(compiled, engine=compiled.engine.model_copy(update={"operations": changed}))


def _draw_indexes(distribution: Distribution, keys: int, draws: int, seed: int) -> list[int]:
    if distribution.kind == "sequential":
        return list(range(keys))
    value = KeyValue(key_space="keys", distribution=distribution).model_dump_json()
    spaces = json.dumps([{"name": "keys", "first": 0, "records": keys}])
    return [int(index) for index in plimsoll_engine.sample(value, spaces, seed, draws)]


def _change_values(operation: EngineOperation, change: Callable[[Value], Value]) -> EngineOperation:
    """Return an operation with each drawn key changed, at any depth."""

    def within(value: Value) -> Value:
        return _replace_within(value, change)

    def of_statement(statement: EngineStatement) -> EngineStatement:
        row = statement.row_written
        changed = {
            "binds": tuple(map(within, statement.binds)),
            "choose": None if statement.choose is None else within(statement.choose),
            "row_written": row and row.model_copy(update={"key": within(row.key)}),
        }
        return statement.model_copy(update=changed)

    def of_let(let: tuple[Let, ...]) -> tuple[Let, ...]:
        return tuple(Let(name=one.name, value=within(one.value)) for one in let)

    changed = {
        "let": of_let(operation.let),
        "lists": tuple(
            one.model_copy(update={"count": within(one.count), "let": of_let(one.let)})
            for one in operation.lists
        ),
        "statements": tuple(map(of_statement, operation.statements)),
    }
    return operation.model_copy(update=changed)


def _replace_within(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return a value with its numbers of rows, drawn or created, changed at any depth."""
    match value:
        case KeyValue() | RowValue():
            return change(value)
        case SumValue(of=of) | HashValue(of=of) | DecimalValue(of=of) | LastNameValue(of=of):
            changed = _replace_within(of, change)
            if isinstance(changed, ColumnValue) and not isinstance(changed.values[0], int):
                raise PlimsollError("the sampled keys are texts: no number can be made of them")
            return value.model_copy(update={"of": changed})
        case FormatValue(of=parts) | WeightedValue(of=parts):
            return value.model_copy(
                update={"of": tuple(_replace_within(part, change) for part in parts)}
            )
        case IfValue(then=then, otherwise=otherwise):
            sides = {
                "then": _replace_within(then, change),
                "otherwise": _replace_within(otherwise, change),
            }
            return value.model_copy(update=sides)
        case _:
            return value


def _list_keys(operation: EngineOperation) -> list[KeyValue]:
    """List every drawn key of an operation, with repetitions."""
    found: list[KeyValue] = []

    def note(value: Value) -> Value:
        if isinstance(value, KeyValue):
            found.append(value)
        return value

    _change_values(operation, note)
    return found
