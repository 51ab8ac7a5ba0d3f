"""The dataset: its tables before its rows are loaded, its indexes and its count after."""

import json
from collections.abc import Mapping, Sequence

from plimsoll import words
from plimsoll.aws.run_files import PARTS_FAILURES, REQUEST, files_of
from plimsoll.aws.run_records import now, records_of, require_loading_budget
from plimsoll.errors import DatasetError
from plimsoll.families.family import family_of
from plimsoll.fleet.failures import plain_cause
from plimsoll.model.function_settings import ReachSettings, RunSettings
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord
from plimsoll.requests.request_workload import prepared_tables, prepared_workloads
from plimsoll.runs.dataset_there import (
    is_own,
    is_restored,
    note_layout,
    parts_of,
    require_in_each_state,
    require_rows,
    to_read,
)
from plimsoll.targets.connection import engine_target
from plimsoll.workload.compiled import Table

SETTLING_MAX_S = 600  # of the 900 s that the function has


def create_schema(settings: ReachSettings, run_id: str) -> dict[str, object]:
    """Create the tables and divide the rows: `parts` is one item for each call of `load_part`.

    A table that is known to be full already, on an endpoint that was used before, has no parts.
    Of a target restored from a snapshot nothing is loaded: its parts are read through once.
    """
    record, request = running(settings, run_id)
    records_of(settings).change(run_id, phase="prepare", prepare_at=now())
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    loaded: dict[str, int] = {}
    master = engine_target(settings, record.target)
    family = family_of(master.protocol)
    if request.target.provisioned:
        family.await_ready(master)
    with family.open_datasets(master) as datasets:
        version = datasets.version()
        for workload in prepared_workloads(request):
            if is_own(datasets, request, workload):
                require_rows(workload, datasets.count_own(workload))
            else:
                loaded |= datasets.create_tables(workload).loaded_rows
    target = record.target
    if request.target.provisioned:  # the users of an existing endpoint are its owner's business
        load_user = family.make_load_user(master, run_id)
        target = target.model_copy(update={"load_user": load_user})
    records_of(settings).change(run_id, target=target, server_version=version)
    if is_restored(record, request):  # on one machine a copy lies there whole
        return {"parts": [] if record.local else to_read(prepared_tables(request))}
    parts = _to_load(prepared_tables(request), loaded, clients=request.prepare.clients)
    return {"parts": parts}


def _to_load(
    tables: Sequence[Table], loaded: Mapping[str, int], *, clients: int
) -> list[dict[str, int]]:
    return [
        {"table": index, "share": share, "shares": shares}
        for index, table in enumerate(tables)
        if loaded.get(table.name, 0) < table.rows
        for shares in [parts_of(table.rows, clients=clients)]
        for share in range(shares)
    ]


def verify_dataset(settings: ReachSettings, run_id: str, failed_parts: int) -> None:
    """Build the secondary indexes, count every table's rows, and let the server settle.

    Args:
        settings: Of the function.
        run_id: The run.
        failed_parts: How many parts could not be loaded; the workflow has written why.

    Raises:
        DatasetError: A part could not be loaded, or the server does not settle.
        BudgetPassedError: Loading took longer than the budget pays for.
        PlimsollError: A table has not the rows that it should have.
    """
    record, request = running(settings, run_id)
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    require_loading_budget(record, now())
    if failed_parts:
        written = files_of(settings, run_id).read_all(PARTS_FAILURES)
        causes = [plain_cause(str(json.loads(file)["cause"])) for file in written]
        first = causes[0] if causes else "its cause could not be written"
        parts = words.plural(failed_parts, "part")
        raise DatasetError(f"{parts} of the dataset could not be loaded; the first: {first}")
    target = engine_target(settings, record.target)
    family = family_of(target.protocol)
    counted: dict[str, int] = {}
    with family.open_datasets(target) as datasets:
        for workload in prepared_workloads(request):
            own = is_own(datasets, request, workload)
            counted |= datasets.count_own(workload) if own else datasets.finish(workload)
    if not family.settle(target, longest_s=SETTLING_MAX_S):
        raise DatasetError(
            "the server was still busy with the rows loaded when"
            f" {words.duration(SETTLING_MAX_S)} had passed"
        )
    require_in_each_state(settings, record, request)
    note_layout(settings, record, request, target, counted)
    records_of(settings).change(run_id, rows=sum(counted.values()))


def running(settings: RunSettings, run_id: str) -> tuple[RunRecord, Request]:
    """Read the record and the request of a run that may go on."""
    record = records_of(settings).require_running(run_id)
    return record, files_of(settings, run_id).get(REQUEST, Request)
