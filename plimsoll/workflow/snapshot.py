"""Keeps a dataset as a snapshot: the last state of a run that only prepares one."""

from plimsoll.aws.run_files import REQUEST, files_of
from plimsoll.aws.run_records import records_of
from plimsoll.errors import RunStoppedError
from plimsoll.model.deployment.function_settings import (
    TakeSnapshotSettings,
)
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord, RunState
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


def find_snapshot_kind(request: Request) -> Kind:
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
    kind = find_snapshot_kind(request)
    tags = {**settings.tags, **_make_tags(record)}
    take_snapshot(kind, run_id, source=_find_source(record), tags=tags)
    seen = find_snapshot(kind, run_id)
    if seen is None:  # a listing may lag behind
        return {"taken": False, "wait_s": settings.poll_seconds}
    _schedule_deletion(settings, record, seen)
    if not records.change(run_id, states=(RunState.RUNNING,), snapshot=seen.id):
        delete_snapshot(kind, run_id)
        raise RunStoppedError(f"run {run_id} was stopped while its snapshot was being taken")
    require_sound(seen)
    return {"taken": seen.whole, "wait_s": settings.poll_seconds}


def _find_source(record: RunRecord) -> str:
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    source = record.target.volume_id or record.target.identifier
    assert source is not None  # noqa: S101 - a target that is made for a run has one
    return source


def _schedule_deletion(
    settings: TakeSnapshotSettings, record: RunRecord, seen: SeenSnapshot
) -> None:
    assert record.prepares_until is not None  # noqa: S101 - of a run that prepares a dataset
    arm_snapshot_deletion(
        seen,
        at=record.prepares_until,
        group=settings.schedule_group,
        role_arn=settings.deletion_role_arn,
    )


def _make_tags(record: RunRecord) -> dict[str, str]:
    assert record.prepares_until is not None  # noqa: S101 - of a run that prepares a dataset
    return {
        RUN_ID: record.run_id,
        "plimsoll:team": record.team,
        EXPIRES_AT: f"{record.prepares_until:%Y-%m-%dT%H:%M:%SZ}",
    }
