"""A run's target is deleted, and the deletion is seen: on every way out of a run."""

from datetime import timedelta

from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import TeardownError
from plimsoll.model.function_settings import DeleteTargetSettings
from plimsoll.model.run_record import RunState
from plimsoll.targets.deletion_schedule import disarm_deletion
from plimsoll.targets.target_stacks import Deletion, delete_stack


def delete_target(settings: DeleteTargetSettings, run_id: str) -> dict[str, object]:
    """Mark the run as stopping, ask for the deletion of its target, and look how far it is.

    The mark comes first: from then on `create_target` takes back what it has just made. A deletion
    that fails is asked for again, within the patience counted from the first asking: RDS refuses to
    delete an instance that it is still creating. The record tells why the last one failed.

    Raises:
        TeardownError: The deletion failed, and the patience is over; it has been asked for again.
    """
    records = records_of(settings)
    running = (RunState.PENDING, RunState.RUNNING)
    records.change(run_id, states=running, state=RunState.STOPPING)
    record = records.get(run_id)
    asked_at = record.teardown_asked_at
    if asked_at is None:
        asked_at = now()
        records.change(run_id, teardown_asked_at=asked_at)
    try:
        deletion = delete_stack(name=record.stack_name, stack_id=record.stack_id)
    except TeardownError as error:
        records.change(run_id, teardown_error=str(error))
        if now() - asked_at >= timedelta(seconds=settings.teardown_patience_seconds):
            raise
        deletion = Deletion.UNDER_WAY
    if deletion is Deletion.SEEN:
        if record.deleted_at is None:
            records.change(run_id, deleted_at=now(), teardown_error=None)
        disarm_deletion(stack_name=record.stack_name, group=settings.schedule_group)
    return {"gone": deletion is not Deletion.UNDER_WAY, "wait_s": settings.poll_seconds}
