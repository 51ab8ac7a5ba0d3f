"""Prepares a dataset: creates tables, inserts rows, builds indexes, verifies the row counts."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import plimsoll_engine
from plimsoll.complaints import Complaint
from plimsoll.databases.family import find_family
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.engine.asked import DatasetSpec, EngineTarget, LoadOrder
from plimsoll.workload.compiled import Compiled


@dataclass(frozen=True)
class Prepared:
    """The outcome of `prepare`.

    Attributes:
        sent_rows: The rows sent. The server skips those that exist.
        inserted_rows: The rows that did not exist before; all written rows if the database does not
            report it (Cassandra).
        counted_rows: The rows counted afterwards, by table.
    """

    sent_rows: int
    inserted_rows: int
    counted_rows: dict[str, int]


def prepare_dataset(
    target: EngineTarget,
    compiled: Compiled,
    *,
    connections: int,
    seed: int = 1,
    load_order: LoadOrder = "key",
    on_progress: Callable[[int], None] = lambda _: None,
    cancel: plimsoll_engine.CancelToken | None = None,
) -> Prepared:
    """Make a dataset, or complete it; if it is complete, only count its rows.

    Args:
        target: The engine's connection settings.
        compiled: The workload whose dataset it is.
        connections: The number of connections that insert at the same time.
        seed: The seed of the rows' random parts.
        load_order: `key`, or `number` as YCSB inserts, so that hashed keys come
            unordered.
        on_progress: Called now and then with the number of all rows present.
        cancel: Token that ends the call while rows are inserted; the next call continues from
            there.

    Raises:
        PlimsollError: The database refuses, rows are missing at the end, or the call was cancelled.
        UsageError: The workload brings no tables.
    """
    if not compiled.tables:
        problem = (
            f"{compiled.name} brings no tables to make: `pgbench -i` makes those of pgbench, and so"
            " does `plimsoll prepare --workload tpcb-like`"
        )
        raise UsageError(Complaint(("workload",), problem))
    family = find_family(target.protocol)
    with family.open_datasets(target) as datasets:
        datasets.version()  # refuses a server on which no load would run
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
            advance = partial(_report_progress, on_progress, before + done)
            answer = _load_slice(spec.model_copy(update=rows), advance, cancel)
            sent += answer["rows_sent"]
            inserted += answer["rows_inserted"]
            loaded[table.name] = upto
            # the first connection may have been idle too long
            with family.open_datasets(target) as datasets:
                datasets.note_progress(compiled, loaded)
        before += table.rows
        on_progress(before)
    with family.open_datasets(target) as datasets:
        return Prepared(sent, inserted, datasets.finish(compiled))


def _report_progress(on_progress: Callable[[int], None], start: int, rows: int) -> None:
    on_progress(start + rows)


def _load_slice(
    spec: DatasetSpec,
    on_progress: Callable[[int], None],
    cancel: plimsoll_engine.CancelToken | None,
) -> dict[str, Any]:
    """Load a slice of rows; the engine retries what fails, since no row can be inserted twice."""
    try:
        text = plimsoll_engine.load_rows(spec.model_dump_json(), on_progress, cancel)
    except plimsoll_engine.EngineError as error:
        raise PlimsollError(f"{error}") from None
    answer: dict[str, Any] = json.loads(text)
    return answer
