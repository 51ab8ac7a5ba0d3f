"""Reads back, in a second session, rows that were written as a load writes.

An answer without an error does not prove that a write is kept: a session that never commits has
each write answered, and the server counts its rows and, in MySQL, its statements as commits. What
another session sees, is kept.

This module imports no family, as `watching` does not: load clients use it.
"""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, assert_never

import plimsoll_engine
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.answered import LoadReport, ReadBack
from plimsoll.model.engine.asked import (
    SESSION_SETTINGS,
    EngineOperation,
    EngineTarget,
    EngineWorkload,
    LoadSpec,
)
from plimsoll.model.engine.values import ColumnValue
from plimsoll.workload.values import find_used_variables

ROWS = 8
# Others may write the same rows at the same moment.
TRIES = 3
PAUSE_S = 0.2
LONGEST_S = 10.0


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

    The statements count among those that the client sent. Without an UPDATE of a row by its key,
    or without a second session, the report stays as it is.
    """
    update = _find_update(spec.workload)
    if update is None or report.ended == "cancelled" or not report.operations_sent:
        return report
    own = {"session_settings": SESSION_SETTINGS[spec.target.protocol]}
    try:
        opened = connect(spec.target.model_copy(update=own))
        if opened is None:
            return report
        with opened as second:
            for left in reversed(range(TRIES)):
                sent, found = _write_and_read(spec, update, second)
                report = report.model_copy(
                    update={
                        "read_back": found,
                        "statements_sent": report.statements_sent + sent.statements_sent,
                        "transaction_commands_sent": report.transaction_commands_sent
                        + sent.transaction_commands_sent,
                    }
                )
                if found.kept or not found.written or not left:
                    break
                time.sleep(PAUSE_S)
    except (PlimsollError, plimsoll_engine.EngineError):
        return report
    return report


def _find_update(workload: EngineWorkload) -> EngineOperation | None:
    """Return an operation with only the first UPDATE of a row by its key; None if there is none."""
    for operation in workload.operations:
        # an operation with logic may keep sums over several tables, which one UPDATE would break
        for statement in operation.statements if operation.weight and not operation.steps else ():
            if statement.row_updated is not None:
                one = {"sql": statement.sql[:1], "choose": None, "repeat": 1}
                alone = (statement.model_copy(update=one),)
                used = find_used_variables(statement.binds)
                for let in reversed(operation.let):
                    used |= find_used_variables([let.value]) if let.name in used else set()
                kept = tuple(let for let in operation.let if let.name in used)
                return operation.model_copy(
                    update={"statements": alone, "weight": 1.0, "let": kept}
                )
    return None


def _write_and_read(
    spec: LoadSpec, update: EngineOperation, second: Rows
) -> tuple[LoadReport, ReadBack]:
    """Update rows as the load does, in a session like its own, and see whether they changed."""
    (statement,) = update.statements
    row = statement.row_updated
    assert row is not None  # noqa: S101 - `_find_update` has looked
    spaces = [space.model_dump() for space in spec.workload.key_spaces]
    drawn = plimsoll_engine.sample(row.key.model_dump_json(), json.dumps(spaces), spec.seed, ROWS)
    keys = [key for key in dict.fromkeys(drawn) if isinstance(key, int | str)]
    binds = list(statement.binds)
    binds[row.bind] = ColumnValue(values=tuple(keys))
    of_keys = update.model_copy(
        update={"statements": (statement.model_copy(update={"binds": tuple(binds)}),)}
    )
    probe = LoadSpec(
        target=spec.target,
        workload=spec.workload.model_copy(update={"operations": (of_keys,)}),
        connections=1,
        duration_s=LONGEST_S,
        operations_limit=len(keys),
        timeout_ms=spec.timeout_ms,
        seed=spec.seed,
    )
    before = [second.read_row(row.table, row.column, key) for key in keys]
    report = LoadReport.model_validate_json(plimsoll_engine.run(probe.model_dump_json()))
    after = [second.read_row(row.table, row.column, key) for key in keys]
    written = sum(one.succeeded for one in report.operations.values())
    changed = sum(old != new for old, new in zip(before, after, strict=True))
    return report, ReadBack(written=written, kept=min(changed, written))
