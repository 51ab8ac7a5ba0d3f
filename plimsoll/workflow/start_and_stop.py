"""Starts a run, schedules its target's deletion, and stops it from outside."""

from datetime import timedelta

from plimsoll.aws import clients
from plimsoll.aws.event_bus import put_event
from plimsoll.aws.run_files import REQUEST, files_of
from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import RunStoppedError
from plimsoll.model.deployment.events import RunStarted
from plimsoll.model.deployment.function_settings import (
    ArmDeletionSettings,
    BusSettings,
    RecordRunSettings,
    StopSettings,
)
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.targets.deletion_schedule import arm_deletion
from plimsoll.teams.limits import find_team_limits
from plimsoll.workflow.endpoint import find_endpoint_addresses


def record_run(settings: RecordRunSettings, run_id: str) -> dict[str, object]:
    """Mark the run as started and set its deadline: its time limit, or the end of its budget.

    Raises:
        RunStoppedError: The run was stopped before it began.
        UsageError: The deployment has no targets of this kind, or does not allow this endpoint.
    """
    request = files_of(settings, run_id).get(REQUEST, Request)
    settings.require_kind(request.target.kind)
    record = records_of(settings).get(run_id)
    changes: dict[str, object] = {}
    if isinstance(request.target, EndpointTarget):
        addresses = find_endpoint_addresses(request, settings.allowed_endpoints)
        changes["target"] = next(iter(addresses.values()))
        changes["targets_by_state"] = addresses if request.toggle else {}
        # the load clients' zone; the endpoint's is not known
        changes["zone"] = settings.zones[0].name
    started = now()
    # The schedule that deletes the target then has a resolution of one second.
    deadline = started.replace(microsecond=0) + timedelta(seconds=record.runs_for_s)
    begun = records_of(settings).change(
        run_id,
        states=(RunState.PENDING,),
        state=RunState.RUNNING,
        started_at=started,
        expires_at=deadline,
        **changes,
    )
    record = records_of(settings).get(run_id)
    if not begun and record.state is not RunState.RUNNING:
        raise RunStoppedError(f"run {run_id} was stopped before it began")
    if begun:
        _announce_start(settings, record)
    return {
        "provisioned": request.target.provisioned,
        "prepares": record.prepares_until is not None,
        "load_clients": request.prepare.clients,
        "clients_in": settings.zones[0].clients,
    }


def _announce_start(settings: BusSettings, record: RunRecord) -> None:
    event = RunStarted(
        run_id=record.run_id,
        name=record.name,
        team=record.team,
        local=record.local,
        started_at=record.started_at or now(),
        expires_at=record.expires_at,
    )
    put_event(settings.event_bus, event)


def schedule_deletion(settings: ArmDeletionSettings, run_id: str) -> None:
    """Schedule the deletion of the target at the run's deadline."""
    record = records_of(settings).require_running(run_id)
    assert record.expires_at is not None  # noqa: S101 - a running run has a deadline
    records_of(settings).change(run_id, phase="provision", provision_at=now())
    arm_deletion(
        stack_name=record.stack_name,
        at=record.expires_at,
        group=settings.schedule_group,
        role_arn=settings.deletion_role_arn,
    )


# Stopping a run.


def stop_run(settings: StopSettings, run_id: str) -> RunRecord:
    """Stop a run and have its target deleted; a run that has ended stays unchanged.

    The record is marked first: from then on nothing new is made for the run, even if its workflow
    could not be stopped. The end of the workflow starts the teardown (the rule on ABORTED), which
    records the end of the run.

    Returns:
        The run's record after the call.

    Raises:
        RunNotFoundError: There is no such run.
    """
    records = records_of(settings)
    going = (RunState.PENDING, RunState.RUNNING)
    records.change(run_id, states=going, state=RunState.STOPPING)
    record = records.get(run_id)
    # A run that is already being torn down is left alone.
    if record.state is RunState.STOPPING and record.teardown_asked_at is None:
        _stop_workflow(settings, record)
    return records.get(run_id)


def _stop_workflow(settings: StopSettings, record: RunRecord) -> None:
    cause = "the run was stopped by its team"
    if not stop_execution(settings.run_machine_arn, record.run_id, cause=cause):
        records_of(settings).change(  # the run was recorded but its workflow never started
            record.run_id, states=(RunState.STOPPING,), state=RunState.STOPPED, ended_at=now()
        )
        limits = find_team_limits(settings, record.team)
        if limits is not None:
            limits.release(record.run_id, usd=0.0)


def stop_execution(state_machine_arn: str, name: str, *, cause: str) -> bool:
    """Stop a workflow execution by name; return False if it was never started."""
    client = clients.stepfunctions()
    machine = state_machine_arn.replace(":stateMachine:", ":execution:")
    try:
        client.stop_execution(executionArn=f"{machine}:{name}", error="Stopped", cause=cause)
    except client.exceptions.ExecutionDoesNotExist:
        return False
    return True
