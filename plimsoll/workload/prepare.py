"""Preparing a dataset: tables, rows by the engine, indexes, and the count verified."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import plimsoll_engine
from plimsoll.errors import PlimsollError
from plimsoll.model.engine import DatasetSpec, EngineTarget
from plimsoll.workload.compiled import Compiled
from plimsoll.workload.dataset import create_tables, finish, note_progress
from plimsoll.workload.mysql import connect

_ATTEMPTS = 3


@dataclass(frozen=True)
class Prepared:
    """What `prepare` has done.

    Attributes:
        sent_rows: Rows sent; those that were there already are skipped by the server.
        inserted_rows: Rows that were not there.
        counted_rows: Rows counted afterwards, by table.
    """

    sent_rows: int
    inserted_rows: int
    counted_rows: dict[str, int]


def prepare(
    target: EngineTarget,
    compiled: Compiled,
    *,
    connections: int,
    seed: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Prepared:
    """Make a dataset, or complete it; a call that finds it complete only counts.

    Args:
        target: The database.
        compiled: The workload whose dataset it is.
        connections: Connections that insert at the same time.
        seed: Seed of the rows' random parts.
        on_progress: Told now and then how many of all rows are there.

    Raises:
        PlimsollError: The database refuses, or rows are missing at the end.
    """
    connection = connect(target)
    sent = inserted = 0
    try:
        loaded = dict(create_tables(connection, compiled).loaded_rows)
        before = 0
        for table in compiled.tables:
            step = max(50_000, 10 * connections * 500)
            while (done := min(loaded.get(table.name, 0), table.rows)) < table.rows:
                on_progress(before + done)
                upto = min(done + step, table.rows)
                spec = table.dataset_spec(target, connections=connections, seed=seed)
                rows = {"from_row": table.first + done, "to_row": table.first + upto}
                spec = spec.model_copy(update=rows)
                answer = _load(spec, partial(_advance, on_progress, before + done))
                sent += answer["rows_sent"]
                inserted += answer["rows_inserted"]
                loaded[table.name] = upto
                connection.ping(reconnect=True)  # a long slice may outlast the server's patience
                note_progress(connection, compiled, loaded)
            before += table.rows
            on_progress(before)
        return Prepared(sent, inserted, finish(connection, compiled))
    finally:
        connection.close()


def _advance(on_progress: Callable[[int], None], start: int, rows: int) -> None:
    on_progress(start + rows)


def _load(spec: DatasetSpec, on_progress: Callable[[int], None]) -> dict[str, Any]:
    """Load a slice; what failed is sent again, since no row can come twice."""
    text = spec.model_dump_json()
    for _ in range(_ATTEMPTS):
        try:
            answer: dict[str, Any] = json.loads(plimsoll_engine.load_rows(text, on_progress))
        except plimsoll_engine.EngineError as error:
            raise PlimsollError(f"loading {spec.table}: {error}") from None
        if not answer["errors"]:
            return answer
    errors = ", ".join(f"{code} ({count} times)" for code, count in answer["errors"].items())
    raise PlimsollError(f"loading {spec.table}: the inserts failed {_ATTEMPTS} times: {errors}")
