"""Stopping a run from outside: its workflow ends, and its target is torn down."""

from plimsoll.aws import clients
from plimsoll.aws.run_records import now, records_of
from plimsoll.model.function_settings import StopSettings
from plimsoll.model.run_record import RunRecord, RunState
from plimsoll.teams.limits import limits_of


def stop_run(settings: StopSettings, run_id: str) -> RunRecord:
    """Stop a run and have its target deleted; one that has ended stays as it is.

    The mark in its record comes first: from then on nothing new is made for it, even if its
    workflow could not be stopped. The end of the workflow starts the teardown (the rule on
    ABORTED), which says at last that the run has ended.

    Returns:
        The run's record, after it.

    Raises:
        RunNotFoundError: There is none.
    """
    records = records_of(settings)
    going = (RunState.PENDING, RunState.RUNNING)
    records.change(run_id, states=going, state=RunState.STOPPING)
    record = records.get(run_id)
    # a run that is already being torn down is left alone
    if record.state is RunState.STOPPING and record.teardown_asked_at is None:
        _stop_workflow(settings, record)
    return records.get(run_id)


def _stop_workflow(settings: StopSettings, record: RunRecord) -> None:
    cause = "the run was stopped by its team"
    if not stop_execution(settings.run_machine_arn, record.run_id, cause=cause):
        records_of(settings).change(  # recorded, and never started
            record.run_id, states=(RunState.STOPPING,), state=RunState.STOPPED, ended_at=now()
        )
        limits = limits_of(settings, record.team)
        if limits is not None:
            limits.release(record.run_id, usd=0.0)


def stop_execution(state_machine_arn: str, name: str, *, cause: str) -> bool:
    """Stop a workflow's execution by its name; False where it was never started."""
    client = clients.stepfunctions()
    machine = state_machine_arn.replace(":stateMachine:", ":execution:")
    try:
        client.stop_execution(executionArn=f"{machine}:{name}", error="Stopped", cause=cause)
    except client.exceptions.ExecutionDoesNotExist:
        return False
    return True
