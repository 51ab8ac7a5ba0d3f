"""A run that takes turns with another: it waits for it before its first measured step."""

from datetime import timedelta

from plimsoll.aws.run_records import Records, now
from plimsoll.model.run_record import RunRecord, RunState

PATIENCE_SHARE = 0.5  # of the time limit: then it goes on without the other, and without pairs


def waits_for_other(records: Records, record: RunRecord) -> bool:
    """Say whether the other run can still come; notes that this one is ready.

    It does not wait for one that has ended or is being stopped, nor beyond half its time limit.

    Args:
        records: Of the runs.
        record: Of the run that could begin to measure.
    """
    if record.turn is None:
        return False
    if record.turn_ready_at is None:
        records.change(record.run_id, turn_ready_at=now())
    other = records.find(record.turn.beside)
    ready = other is not None and (
        other.turn_ready_at is not None or other.state not in (RunState.PENDING, RunState.RUNNING)
    )
    patience = timedelta(seconds=PATIENCE_SHARE * record.time_limit_s)
    return not ready and now() < (record.started_at or record.submitted_at) + patience
