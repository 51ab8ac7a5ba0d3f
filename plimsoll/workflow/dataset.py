"""Prepares the dataset: creates tables, loads rows, builds indexes, counts, takes snapshots."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import plimsoll_engine
from plimsoll import words
from plimsoll.aws.run_files import PARTS_FAILURES, REQUEST, files_of
from plimsoll.aws.run_records import deadline_passed, now, records_of, require_loading_budget
from plimsoll.databases.family import family_of
from plimsoll.errors import DatasetError, RunStoppedError
from plimsoll.fleet.failures import plain_cause
from plimsoll.model.deployment.function_settings import (
    ReachSettings,
    RunSettings,
    TakeSnapshotSettings,
)
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.requests.request_workload import prepared_tables, prepared_workloads
from plimsoll.targets.connection import engine_target, load_target
from plimsoll.targets.snapshots import (
    EXPIRES_AT,
    RUN_ID,
    Kind,
    SeenSnapshot,
    arm_snapshot_deletion,
    delete_snapshot,
    find_snapshot,
    require_sound,
    take_snapshot,
)
from plimsoll.workflow.dataset_there import (
    is_own,
    is_restored,
    note_layout,
    parts_of,
    read_through,
    require_in_each_state,
    require_rows,
    to_read,
)
from plimsoll.workload.compiled import Table

SETTLING_MAX_S = 600  # the function itself has 900 s


def create_schema(settings: ReachSettings, run_id: str) -> dict[str, object]:
    """Create the tables and divide the rows; `parts` has one item for each call of `load_part`.

    A table that an earlier run on the same endpoint has filled gets no parts. A target restored
    from a snapshot gets parts to read instead: each block is read once.
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
    if request.target.provisioned:  # the owner of an existing endpoint manages its users
        load_user = family.make_load_user(master, run_id)
        target = target.model_copy(update={"load_user": load_user})
    records_of(settings).change(run_id, target=target, server_version=version)
    if is_restored(record, request):  # on one machine a restored copy is complete at once
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


# Loading one part.


def load_part(settings: ReachSettings, run_id: str, part: Mapping[str, Any]) -> dict[str, object]:
    """Load one part of the dataset; rows that are present stay, so a repeated call completes it.

    If the dataset was restored from a snapshot, the part is read instead; `rest` is what another
    call has to read.

    Raises:
        TimeLimitPassedError: The run's time is up; some rows may be loaded.
        BudgetPassedError: The run's budget is spent; some rows may be loaded.
        EngineError: A statement failed on every retry.
    """
    record, request = running(settings, run_id)
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    table = prepared_tables(request)[part["table"]]
    if is_restored(record, request):
        rest = read_through(engine_target(settings, record.target), table, part)
        return {"rows": 0} if rest is None else {"rows": 0, "rest": rest}
    spec = table.dataset_spec(
        load_target(settings, record.target, run_id),
        share=part["share"],
        shares=part["shares"],
        connections=request.prepare.connections_per_client,
        load_order=request.prepare.load_order,
        seed=request.load.seed,
    )

    def stop_in_time(_rows: int) -> None:
        if record.expires_at is not None and now() >= record.expires_at:
            raise deadline_passed(record, "passed while rows were loaded")
        require_loading_budget(record, now())

    answer = json.loads(plimsoll_engine.load_rows(spec.model_dump_json(), stop_in_time))
    return {"rows": answer["rows_sent"]}


# The snapshot: the last state of a run that only prepares a dataset.


def snapshot_kind(request: Request) -> Kind:
    """Return which service takes the target's snapshot: RDS, or EBS for Cassandra's volume."""
    return "cassandra" if request.target.kind == "cassandra" else "rds"


def keep_dataset(settings: TakeSnapshotSettings, run_id: str) -> dict[str, object]:
    """Take a snapshot of the run's target, schedule its deletion, and check whether it is complete.

    A stop marks the record before it looks for snapshots. So either this function sees the mark and
    deletes the snapshot, or the stop finds the snapshot. If neither can delete it yet, the schedule
    does.

    Returns:
        `taken`: whether the snapshot is complete; if not, call again after `wait_s` seconds.

    Raises:
        RunStoppedError: The run was stopped.
        DatasetError: The snapshot could not be taken.
    """
    records = records_of(settings)
    record = records.require_running(run_id)
    request = files_of(settings, run_id).get(REQUEST, Request)
    kind = snapshot_kind(request)
    take_snapshot(kind, run_id, source=_source(record), tags=_tags(record))
    seen = find_snapshot(kind, run_id)
    if seen is None:  # a listing may lag behind
        return {"taken": False, "wait_s": settings.poll_seconds}
    _arm(settings, record, seen)
    if not records.change(run_id, states=(RunState.RUNNING,), snapshot=seen.id):
        delete_snapshot(kind, run_id)
        raise RunStoppedError(f"run {run_id} was stopped while its snapshot was being taken")
    require_sound(seen)
    return {"taken": seen.whole, "wait_s": settings.poll_seconds}


def _source(record: RunRecord) -> str:
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    source = record.target.volume_id or record.target.identifier
    assert source is not None  # noqa: S101 - a target that is made for a run has one
    return source


def _arm(settings: TakeSnapshotSettings, record: RunRecord, seen: SeenSnapshot) -> None:
    assert record.prepares_until is not None  # noqa: S101 - of a run that prepares a dataset
    arm_snapshot_deletion(
        seen,
        at=record.prepares_until,
        group=settings.schedule_group,
        role_arn=settings.deletion_role_arn,
    )


def _tags(record: RunRecord) -> dict[str, str]:
    assert record.prepares_until is not None  # noqa: S101 - of a run that prepares a dataset
    return {
        RUN_ID: record.run_id,
        "plimsoll:team": record.team,
        EXPIRES_AT: f"{record.prepares_until:%Y-%m-%dT%H:%M:%SZ}",
    }
