"""Facts about a loaded dataset: its layout, its owner, and the first reading of a restored one."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.aws.run_files import DATASET, files_of
from plimsoll.databases.dataset_notes import check_complete
from plimsoll.databases.family import Datasets, find_family
from plimsoll.errors import DatasetError, PlimsollError
from plimsoll.model.datasets import DatasetLayout, LoadOrder, TableLayout
from plimsoll.model.deployment.function_settings import ReachSettings, RunSettings
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.targets.connection import connect_as_master
from plimsoll.workload.compiled import ROWS_PER_STATEMENT, Compiled, Table

READING_S = 720.0  # a call has 900 s, and its last piece takes a while
ROWS_OF_A_PART = 500_000  # small enough for wide rows on a slow volume within 15 minutes


def count_parts(rows: int, *, clients: int) -> int:
    """Return into how many parts a table's rows are divided.

    Rows of a part are inserted in key order, so each client gets one part. A part is never so small
    that its call costs more than its rows, nor so large that a client's time runs out.
    """
    wanted = min(clients, max(1, rows // 5_000))
    return max(wanted, -(-rows // ROWS_OF_A_PART))


def note_layout(
    settings: RunSettings,
    record: RunRecord,
    checked: CheckedRequest,
    target: EngineTarget,
    counts: Mapping[str, int],
) -> None:
    """Write how the dataset is stored, before any load of the run, to `dataset.json`.

    If the server does not say, the file notes why, and the run goes on.
    """
    tables, unknown = _read_layout(target, checked.datasets, counts)
    own_snapshot = checked.request.target.snapshot
    layout = DatasetLayout(
        tables=tables,
        order=_load_order(settings, record, checked),
        restored_from=record.restores.snapshot if record.restores else own_snapshot,
        unknown=unknown,
    )
    files_of(settings, record.run_id).put_model(DATASET, layout)


def _read_layout(
    target: EngineTarget, workloads: Sequence[Compiled], counts: Mapping[str, int]
) -> tuple[tuple[TableLayout, ...], str | None]:
    try:
        with find_family(target.protocol).open_datasets(target) as datasets:
            tables = [table for one in workloads for table in datasets.layout(one, counts)]
            return tuple(tables), None
    except PlimsollError as error:
        known = (TableLayout(name=name, rows=rows) for name, rows in counts.items())
        return tuple(known), str(error)


def _load_order(
    settings: RunSettings, record: RunRecord, checked: CheckedRequest
) -> LoadOrder | None:
    """Return the order in which this run, or the one that prepared the dataset, loaded the rows.

    None if it is not known: on an existing endpoint, or from a snapshot of the user's.
    """
    if record.restores is not None:
        prepared = files_of(settings, record.restores.prepared_by)
        layout = prepared.find_model(DATASET, DatasetLayout)
        return None if layout is None else layout.order
    request = checked.request
    if not request.target.provisioned or request.target.snapshot is not None:
        return None
    clients = request.prepare.clients
    return LoadOrder(
        clients=clients,
        connections_per_client=request.prepare.connections_per_client,
        parts={table.name: count_parts(table.rows, clients=clients) for table in checked.tables},
        rows_per_statement=ROWS_PER_STATEMENT,
    )


def is_restored(record: RunRecord, request: Request) -> bool:
    """Return whether the target comes with its data."""
    return record.restores is not None or request.target.snapshot is not None


def has_no_note(datasets: Datasets, request: Request, compiled: Compiled) -> bool:
    """Return whether the tables are the user's: his snapshot holds no note of a dataset."""
    if request.target.snapshot is None:
        return False
    return datasets.read_note(compiled) is None


def require_drawn_rows(compiled: Compiled, counts: Mapping[str, int]) -> None:
    """Check that the user's tables have the rows that the workload draws keys from.

    A read of a missing row would count as a success.

    Raises:
        DatasetError: A table of the user's has fewer rows than the workload draws from.
    """
    for table in compiled.tables:
        if counts[table.name] < table.rows:
            raise DatasetError(
                f"the snapshot's table {table.name} has {counts[table.name]:,} rows, and"
                f" workload.records draws from {table.rows:,}: name fewer"
            )


def require_in_each_state(
    settings: ReachSettings, record: RunRecord, checked: CheckedRequest
) -> None:
    """Check, before anything is measured, that every state of a toggle reaches the dataset.

    Raises:
        PlimsollError: In one of the states the dataset is missing, incomplete or unreachable.
    """
    for state, address in record.targets_by_state.items():
        target = connect_as_master(settings, address)
        with find_family(target.protocol).open_datasets(target) as datasets:
            for workload in checked.datasets:
                note = datasets.read_note(workload) if datasets.has_place() else None
                check_complete(workload, note, f"state {state}: {address.host}:{address.port}")


def divide_reading(tables: Sequence[Table]) -> list[dict[str, object]]:
    """Divide the first reading of a restored volume: one item for each call.

    A volume made from a snapshot fetches each block from S3 when it is first read, at many times
    the latency (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_RestoreFromSnapshot.html); a
    full scan fetches them all (repost.aws/knowledge-center/rds-point-in-time-restore-issues).
    """
    return [
        {"table": number, "share": share, "shares": 0, "index": index}
        for number, table in enumerate(tables)
        for share, index in enumerate([None, *table.index_sql])
    ]


def read_through(
    target: EngineTarget, table: Table, part: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Read a table, or one of its indexes, for as long as a call may last.

    Returns:
        The part that another call has to read; None if nothing is left.
    """
    ends_at = time.monotonic() + READING_S
    with find_family(target.protocol).open_datasets(target) as datasets:
        going_on = lambda: time.monotonic() < ends_at  # noqa: E731 - read with the next line
        rest = datasets.scan(table, part["index"], part.get("start"), going_on)
    return None if rest is None else {**part, "start": rest}
