"""The dataset: its tables before its rows are loaded, its indexes and its count after."""

import json

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
from plimsoll.targets.connection import engine_target

ROWS_OF_A_PART = 500_000  # a part of wide rows on a slow volume ends within a client's 15 minutes
SETTLING_MAX_S = 600  # of the 900 s that the function has


def create_schema(settings: ReachSettings, run_id: str) -> dict[str, object]:
    """Create the tables and divide the rows: `parts` is one item for each call of `load_part`.

    A table that is known to be full already, on an endpoint that was used before, has no parts.
    """
    record, request = running(settings, run_id)
    records_of(settings).change(run_id, phase="prepare", prepare_at=now())
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    workloads = prepared_workloads(request)
    master = engine_target(settings, record.target)
    family = family_of(master.protocol)
    with family.open_datasets(master) as datasets:
        notes = [datasets.create_tables(workload) for workload in workloads]
        version = datasets.version()
    target = record.target
    if request.target.provisioned:  # the users of an existing endpoint are its owner's business
        load_user = family.make_load_user(master, run_id)
        target = target.model_copy(update={"load_user": load_user})
    records_of(settings).change(run_id, target=target, server_version=version)
    loaded = {name: rows for note in notes for name, rows in note.loaded_rows.items()}
    parts = [
        {"table": index, "share": share, "shares": shares}
        for index, table in enumerate(prepared_tables(request))
        if loaded.get(table.name, 0) < table.rows
        for shares in [parts_of(table.rows, clients=request.prepare.clients)]
        for share in range(shares)
    ]
    return {"parts": parts}


def parts_of(rows: int, *, clients: int) -> int:
    """Say into how many parts a table's rows are divided.

    One for each client, since a part's rows go in by their keys' order; none so small that its call
    costs more than its rows, none so large that a client's time runs out.
    """
    wanted = min(clients, max(1, rows // 5_000))
    return max(wanted, -(-rows // ROWS_OF_A_PART))


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
    with family.open_datasets(target) as datasets:
        counted = [datasets.finish(workload) for workload in prepared_workloads(request)]
    if not family.settle(target, longest_s=SETTLING_MAX_S):
        raise DatasetError(
            "the server was still busy with the rows loaded when"
            f" {words.duration(SETTLING_MAX_S)} had passed"
        )
    records_of(settings).change(run_id, rows=sum(sum(rows.values()) for rows in counted))


def running(settings: RunSettings, run_id: str) -> tuple[RunRecord, Request]:
    """Read the record and the request of a run that may go on."""
    record = records_of(settings).require_running(run_id)
    return record, files_of(settings, run_id).get(REQUEST, Request)
