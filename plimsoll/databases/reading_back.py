"""Reads back, in a second session, rows that were written as a load writes.

An answer without an error does not prove that a write is kept: a session that never commits has
each write answered, and the server counts its rows and, in MySQL, its statements as commits. What
another session sees, is kept.

This module imports no family, as `watching` does not: load clients use it.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, assert_never

import plimsoll_engine
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.answered import LoadReport, ReadBack
from plimsoll.model.engine.asked import (
    SESSION_SETTINGS,
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    KeySpace,
    Let,
    LoadSpec,
)
from plimsoll.model.engine.values import ColumnValue, VariableValue
from plimsoll.workload.values import find_used_variables

ROWS = 8
LOOKED_UP = 4 * ROWS  # rows that are looked for to delete some; others may be gone
# Numbers of inserted rows: beyond those of the load, and within 32 bits on a fresh dataset
BEYOND = 2**30
# Others may write the same rows at the same moment.
TRIES = 3
PAUSE_S = 0.2
LONGEST_S = 10.0
# SELECTs of the second session for all tries: updates and inserts are read before and after, rows
# to delete, for good or to insert again, are looked up and the chosen ones read again
READS_MOST = TRIES * 2 * (2 * ROWS + LOOKED_UP + ROWS)
_KEY = "key to read back"  # the variable of the rows to write; no name of a workload has blanks

_INSERTS = re.compile(r"\s*(INSERT|REPLACE)\b", re.IGNORECASE)


class Rows(Protocol):
    """Reads rows in a session of its own."""

    def read_row(self, table: str, column: str, key: int | str) -> tuple[object, ...] | None:
        """Read the row in which a column has a value; None if there is none."""


def open_rows(target: EngineTarget) -> AbstractContextManager[Rows] | None:
    """Connect to read rows; None for Cassandra, whose driver the load clients' package lacks.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    match target.protocol:
        case "mysql":
            # Imported here, since the first client of a step alone reads back.
            from plimsoll.databases.mysql.datasets import open_datasets  # noqa: PLC0415

            return open_datasets(target)
        case "postgres":
            from plimsoll.databases.postgres.datasets import open_datasets as open_postgres  # noqa: PLC0415

            return open_postgres(target)
        case "cql":
            return None
        case _:
            assert_never(target.protocol)


def add_read_back(
    spec: LoadSpec,
    report: LoadReport,
    connect: Callable[[EngineTarget], AbstractContextManager[Rows] | None] = open_rows,
) -> LoadReport:
    """Write a few rows as a finished load did, read them in a second session, and report both.

    One write of each kind is tried: an UPDATE of a row by its key, an INSERT of a numbered row, a
    DELETE by the key, and a DELETE with the INSERT that puts the row back with other values.
    Reported is the kind of which the second session saw the smallest share. The statements count
    among those that the client sent. Without such a write, or without a second session, the report
    stays as it is.
    """
    writes = _list_writes(spec.workload)
    if not writes or report.ended == "cancelled" or not report.operations_sent:
        return report
    worst: ReadBack | None = None
    own = {"session_settings": SESSION_SETTINGS[spec.target.protocol]}
    try:
        opened = connect(spec.target.model_copy(update=own))
        if opened is None:
            return report
        with opened as second:
            for write in writes:
                for attempt in range(TRIES):
                    if attempt:
                        time.sleep(PAUSE_S)
                    sent, found = _write_and_read(spec, write, second, attempt)
                    if sent is not None:
                        statements = report.statements_sent + sent.statements_sent
                        commands = report.transaction_commands_sent
                        commands += sent.transaction_commands_sent
                        counts = {
                            "statements_sent": statements,
                            "transaction_commands_sent": commands,
                        }
                        report = report.model_copy(update=counts)
                    if found.kept or not found.written:
                        break
                worst = _choose_worse(worst, found)
                report = report.model_copy(update={"read_back": worst})
    except (PlimsollError, plimsoll_engine.EngineError):
        return report
    return report


def _choose_worse(one: ReadBack | None, other: ReadBack) -> ReadBack:
    """Return the one of which a smaller share was kept; what wrote nothing shows nothing."""
    if one is None or not one.written:
        return other
    if not other.written:
        return one
    return min(one, other, key=lambda found: found.kept / found.written)


def _list_writes(workload: EngineWorkload) -> list[EngineOperation]:
    """List an operation for each kind of write, with the statements of that write alone.

    The last statement of each says the kind.
    """
    found: dict[str, EngineOperation] = {}
    for operation in workload.operations:
        # with steps, it may keep sums over several tables, which one write would break
        if operation.weight and not operation.steps:
            for statements in _find_writes(operation):
                row = statements[-1].row_written
                if row is not None and row.kind not in found:
                    found[row.kind] = _cut(operation, statements)
    return list(found.values())


def _find_writes(operation: EngineOperation) -> Iterator[tuple[EngineStatement, ...]]:
    """Yield each statement that writes a row by its key, after the one that deletes it first.

    A DELETE whose operation inserts is left out otherwise: it alone would leave rows missing that
    the operation puts back.
    """
    inserts = any(_INSERTS.match(sql) for one in operation.statements for sql in one.sql)
    for number, statement in enumerate(operation.statements):
        row = statement.row_written
        if row is None:
            continue
        if row.kind == "insert_again":
            before = operation.statements[:number]
            yield from ((one, statement) for one in before if _deletes_row_of(one, statement))
        elif row.kind != "delete" or not inserts:
            yield (statement,)


def _deletes_row_of(statement: EngineStatement, insert: EngineStatement) -> bool:
    """Whether a statement deletes the row that an INSERT puts back: by one drawn key."""
    deleted, inserted = statement.row_written, insert.row_written
    if deleted is None or inserted is None or deleted.kind != "delete":
        return False
    key = statement.binds[deleted.bind]
    one_table = len(statement.sql) == len(insert.sql) == 1
    one_table = one_table or isinstance(insert.choose, VariableValue)
    return (
        isinstance(key, VariableValue)
        and key == insert.binds[inserted.bind]
        and (statement.choose, statement.repeat) == (insert.choose, insert.repeat)
        and deleted.table == inserted.table
        and one_table
        and inserted.rows == 1
    )


def _cut(operation: EngineOperation, statements: tuple[EngineStatement, ...]) -> EngineOperation:
    """Return an operation with the first alternative of each of some of its statements alone."""
    alone = tuple(
        one.model_copy(update={"sql": one.sql[:1], "choose": None, "repeat": 1})
        for one in statements
    )
    used = find_used_variables([bind for one in statements for bind in one.binds])
    for let in reversed(operation.let):
        used |= find_used_variables([let.value]) if let.name in used else set()
    kept = tuple(let for let in operation.let if let.name in used)
    return operation.model_copy(update={"statements": alone, "weight": 1.0, "let": kept})


def _write_and_read(
    spec: LoadSpec, write: EngineOperation, second: Rows, attempt: int
) -> tuple[LoadReport | None, ReadBack]:
    """Write rows as the load does, in a session like its own, and see whether they changed.

    Nothing is sent, and no report returned, if none of the rows to delete is there.
    """
    row = write.statements[-1].row_written
    assert row is not None  # noqa: S101 - `_list_writes` has looked
    offset = BEYOND + attempt * ROWS * row.rows
    spaces = tuple(_insert_from(space, offset) for space in spec.workload.key_spaces)
    deletes = len(write.statements) > 1 or row.kind == "delete"
    draws = LOOKED_UP if deletes else ROWS * row.rows
    spaces_json = json.dumps([space.model_dump() for space in spaces])
    drawn = plimsoll_engine.sample(row.key.model_dump_json(), spaces_json, spec.seed, draws)
    keys = [key for key in dict.fromkeys(drawn[:: row.rows]) if isinstance(key, int | str)]
    before = {key: second.read_row(row.table, row.column, key) for key in keys}
    if deletes:
        before = dict([found for found in before.items() if found[1] is not None][:ROWS])
    if not before:
        return None, ReadBack(written=0, kept=0)
    probe = LoadSpec(
        target=spec.target,
        workload=EngineWorkload(
            key_spaces=spaces,
            operations=(write if row.kind == "insert" else _name_rows(write, tuple(before)),),
        ),
        connections=1,
        duration_s=LONGEST_S,
        operations_limit=len(before),
        timeout_ms=spec.timeout_ms,
        seed=spec.seed,
    )
    report = LoadReport.model_validate_json(plimsoll_engine.run(probe.model_dump_json()))
    after = {key: second.read_row(row.table, row.column, key) for key in before}
    written = sum(one.succeeded for one in report.operations.values())
    changed = sum(
        before[key] != after[key] and (after[key] is None) == (row.kind == "delete")
        for key in before
    )
    return report, ReadBack(written=written, kept=min(changed, written))


def _name_rows(write: EngineOperation, keys: tuple[int | str, ...]) -> EngineOperation:
    """Return an operation that writes the rows of these keys, one after the other."""
    statements = []
    for statement in write.statements:
        binds = list(statement.binds)
        if statement.row_written is not None:
            binds[statement.row_written.bind] = VariableValue(name=_KEY)
        statements.append(statement.model_copy(update={"binds": tuple(binds)}))
    let = (*write.let, Let(name=_KEY, value=ColumnValue(values=keys)))
    return write.model_copy(update={"statements": tuple(statements), "let": let})


def _insert_from(space: KeySpace, offset: int) -> KeySpace:
    """Return a key space whose new rows have numbers that the load has not used."""
    first = space.first + space.records if space.insert_from is None else space.insert_from
    return space.model_copy(update={"insert_from": first + offset})
