"""Preparing a dataset: tables, rows by the engine, indexes, and the count verified."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import plimsoll_engine
from plimsoll.databases.family import family_of
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import DatasetSpec, EngineTarget, LoadOrder
from plimsoll.workload.compiled import Compiled


@dataclass(frozen=True)
class Prepared:
    """What `prepare` has done.

    Attributes:
        sent_rows: Rows sent; those that were there already are skipped by the server.
        inserted_rows: Rows that were not there before; all rows that were written where the
            database does not say (Cassandra).
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
    load_order: LoadOrder = "key",
    on_progress: Callable[[int], None] = lambda _: None,
    cancel: plimsoll_engine.CancelToken | None = None,
) -> Prepared:
    """Make a dataset, or complete it; a call that finds it complete only counts.

    Args:
        target: The database.
        compiled: The workload whose dataset it is.
        connections: Connections that insert at the same time.
        seed: Seed of the rows' random parts.
        load_order: `number`: as YCSB inserts, so that hashed keys come in no order.
        on_progress: Called now and then with the number of all rows that are there.
        cancel: Ends the call while rows are inserted; the next call goes on from there.

    Raises:
        PlimsollError: The database refuses, rows are missing at the end, or it was cancelled.
    """
    family = family_of(target.protocol)
    with family.open_datasets(target) as datasets:
        loaded = dict(datasets.create_tables(compiled).loaded_rows)
    sent = inserted = before = 0
    for table in compiled.tables:
        step = max(50_000, 10 * connections * 500)
        while (done := min(loaded.get(table.name, 0), table.rows)) < table.rows:
            on_progress(before + done)
            upto = min(done + step, table.rows)
            spec = table.dataset_spec(
                target, connections=connections, seed=seed, load_order=load_order
            )
            rows = {"from_row": table.first + done, "to_row": table.first + upto}
            advance = partial(_advance, on_progress, before + done)
            answer = _load(spec.model_copy(update=rows), advance, cancel)
            sent += answer["rows_sent"]
            inserted += answer["rows_inserted"]
            loaded[table.name] = upto
            with family.open_datasets(target) as datasets:  # the first may have been idle too long
                datasets.note_progress(compiled, loaded)
        before += table.rows
        on_progress(before)
    with family.open_datasets(target) as datasets:
        return Prepared(sent, inserted, datasets.finish(compiled))


def _advance(on_progress: Callable[[int], None], start: int, rows: int) -> None:
    on_progress(start + rows)


def _load(
    spec: DatasetSpec,
    on_progress: Callable[[int], None],
    cancel: plimsoll_engine.CancelToken | None,
) -> dict[str, Any]:
    """Load a slice; the engine sends again what fails, since no row can come twice."""
    try:
        text = plimsoll_engine.load_rows(spec.model_dump_json(), on_progress, cancel)
    except plimsoll_engine.EngineError as error:
        raise PlimsollError(f"{error}") from None
    answer: dict[str, Any] = json.loads(text)
    return answer
