"""A run that takes turns with another: it waits for it before its first measured step."""

from datetime import timedelta

from plimsoll.aws.run_records import Records, now
from plimsoll.fleet.plan import wait_for_period_ms
from plimsoll.model.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run_record import RunRecord, RunState
from plimsoll.model.turns import Turn

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


def wait_ms(plan: StepPlan, period_s: int | None, turn: Turn | None) -> int:
    """Give how much later a step has to start, for its turn and for whole periods of metrics.

    Args:
        plan: The step, to start as soon as its clients can be there.
        period_s: Of its target's metrics; None: it has none.
        turn: Whose slots it keeps to; None: it takes no turns.
    """
    if turn is None or plan.index == WARMING_STEP or plan.phase is not None:
        return wait_for_period_ms(plan, period_s)
    return turn.wait_ms(plan.window_start_epoch_ms)  # a slot begins with a period, and so with it
