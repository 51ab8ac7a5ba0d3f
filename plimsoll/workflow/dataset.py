"""The dataset: creates tables, loads rows, builds indexes, counts, and checks its conditions."""

from collections.abc import Mapping, Sequence

from plimsoll import words
from plimsoll.aws.run_files import CONDITIONS, PARTS_FAILURES, REQUEST, files_of
from plimsoll.aws.run_records import now, records_of, require_loading_budget
from plimsoll.databases import postgres
from plimsoll.databases.conditions import AUDIT_MAX_S, audit_conditions
from plimsoll.databases.family import find_family
from plimsoll.databases.load_user import switch_to_load_user
from plimsoll.errors import DatasetError
from plimsoll.fleet.failures import extract_cause
from plimsoll.model.deployment.function_settings import (
    ReachSettings,
    RunSettings,
)
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import FailedPart
from plimsoll.model.run.results import CheckedConditions
from plimsoll.model.run.run_record import RunRecord
from plimsoll.requests.checked_request import CheckedRequest, check_request
from plimsoll.targets.connection import connect_as_master
from plimsoll.workflow.dataset_there import (
    count_parts,
    divide_reading,
    has_no_note,
    is_restored,
    note_layout,
    require_drawn_rows,
    require_in_each_state,
)
from plimsoll.workload.compiled import Table

SETTLING_MAX_S = 600  # the function itself has 900 s


def create_schema(settings: ReachSettings, run_id: str) -> dict[str, object]:
    """Create the tables and divide the rows; `parts` has one item for each call of `load_part`.

    A table that an earlier run on the same endpoint has filled gets no parts. A target restored
    from a snapshot gets parts to read instead: each block is read once.
    """
    record, checked = read_running(settings, run_id)
    request = checked.request
    records_of(settings).change(run_id, phase="prepare", prepare_at=now())
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    loaded: dict[str, int] = {}
    master = connect_as_master(settings, record.target)
    family = find_family(master.protocol)
    if request.target.provisioned:
        family.await_ready(master)
    with family.open_datasets(master) as datasets:
        version = datasets.version()
        for workload in checked.datasets:
            if has_no_note(datasets, request, workload):
                require_drawn_rows(workload, datasets.count_own(workload))
            else:
                loaded |= datasets.create_tables(workload).loaded_rows
    target = record.target
    if request.target.provisioned:  # the owner of an existing endpoint manages its users
        load_user = family.make_load_user(master, run_id)
        target = target.model_copy(update={"load_user": load_user})
    if checked.schema and not is_restored(record, request):
        postgres.make_schema(master, switch_to_load_user(master, run_id), checked.schema)
    records_of(settings).change(run_id, target=target, server_version=version)
    if is_restored(record, request):  # on one machine a restored copy is complete at once
        return {"parts": [] if record.local else divide_reading(checked.tables)}
    parts = _divide_rows(checked.tables, loaded, clients=request.prepare.clients)
    return {"parts": parts}


def _divide_rows(
    tables: Sequence[Table], loaded: Mapping[str, int], *, clients: int
) -> list[dict[str, int]]:
    return [
        {"table": index, "share": share, "shares": shares}
        for index, table in enumerate(tables)
        if loaded.get(table.name, 0) < table.rows
        for shares in [count_parts(table.rows, clients=clients)]
        for share in range(shares)
    ]


def verify_dataset(settings: ReachSettings, run_id: str, failed_parts: int) -> None:
    """Build the secondary indexes, count every table's rows, and wait until the server settles.

    Args:
        settings: The function's settings.
        run_id: The run.
        failed_parts: The number of parts that could not be loaded; the workflow has written why.

    Raises:
        DatasetError: A part could not be loaded, or the server does not settle.
        BudgetPassedError: Loading took longer than the budget pays for.
        PlimsollError: A table does not have the expected number of rows.
    """
    record, checked = read_running(settings, run_id)
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    require_loading_budget(record, now())
    if failed_parts:
        written = files_of(settings, run_id).get_all(PARTS_FAILURES, FailedPart)
        causes = [extract_cause(failed.cause) for failed in written]
        first = causes[0] if causes else "its cause could not be written"
        parts = words.format_count(failed_parts, "part")
        raise DatasetError(f"{parts} of the dataset could not be loaded; the first: {first}")
    target = connect_as_master(settings, record.target)
    family = find_family(target.protocol)
    counted: dict[str, int] = {}
    with family.open_datasets(target) as datasets:
        for workload in checked.datasets:
            own = has_no_note(datasets, checked.request, workload)
            counted |= datasets.count_own(workload) if own else datasets.finish(workload)
    if not family.settle(target, longest_s=SETTLING_MAX_S):
        raise DatasetError(
            "the server was still busy with the rows loaded when"
            f" {words.format_duration(SETTLING_MAX_S)} had passed"
        )
    require_in_each_state(settings, record, checked)
    note_layout(settings, record, checked, target, counted)
    records_of(settings).change(run_id, rows=sum(counted.values()))


def check_rows(settings: ReachSettings, run_id: str) -> None:
    """Check what the run's workload says of its rows, after the last step, while time is left."""
    record, checked = read_running(settings, run_id)
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    assert record.expires_at is not None  # noqa: S101 - a running run has a deadline
    left_s = (record.expires_at - now()).total_seconds()
    conditions = audit_conditions(
        connect_as_master(settings, record.target),
        checked.workload,
        longest_s=min(AUDIT_MAX_S, left_s),
    )
    files = files_of(settings, run_id)
    files.put_model(CONDITIONS, CheckedConditions(conditions=conditions))


def read_running(settings: RunSettings, run_id: str) -> tuple[RunRecord, CheckedRequest]:
    """Read the record and the request of a run that may go on."""
    record = records_of(settings).require_running(run_id)
    return record, check_request(files_of(settings, run_id).get(REQUEST, Request))
