"""The first states of a run: its start, and the schedule that ends its target."""

from datetime import timedelta

from plimsoll.aws.event_bus import emit
from plimsoll.aws.function_settings import Deployment
from plimsoll.aws.run_files import REQUEST
from plimsoll.aws.run_records import now
from plimsoll.errors import RunStoppedError
from plimsoll.model.events import RunStarted
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.run_record import RunRecord, RunState
from plimsoll.runs.provision import endpoint_address
from plimsoll.targets.deletion_schedule import arm_deletion


def record_run(deployment: Deployment, run_id: str) -> dict[str, object]:
    """Mark the run as started and set its deadline: its time limit, or its budget's end.

    Raises:
        RunStoppedError: It was stopped before it began.
        UsageError: The deployment has no targets of its kind, or does not allow its endpoint.
    """
    request = deployment.files(run_id).get(REQUEST, Request)
    deployment.require_kind(request.target.kind)
    record = deployment.records.get(run_id)
    changes: dict[str, object] = {}
    if isinstance(request.target, EndpointTarget):
        changes["target"] = endpoint_address(request.target, deployment.allowed_endpoints or {})
    started = now().replace(microsecond=0)
    begun = deployment.records.change(
        run_id,
        states=(RunState.PENDING,),
        state=RunState.RUNNING,
        started_at=started,
        expires_at=started + timedelta(seconds=record.runs_for_s),
        **changes,
    )
    record = deployment.records.get(run_id)
    if not begun and record.state is not RunState.RUNNING:
        raise RunStoppedError(f"run {run_id} was stopped before it began")
    if begun:
        _tell(deployment, record)
    return {
        "provisioned": request.target.provisioned,
        "load_clients": request.prepare.clients,
    }


def _tell(deployment: Deployment, record: RunRecord) -> None:
    event = RunStarted(
        run_id=record.run_id,
        name=record.name,
        team=record.team,
        local=record.local,
        started_at=record.started_at or now(),
        expires_at=record.expires_at,
    )
    emit(deployment.event_bus, event)


def arm(deployment: Deployment, run_id: str) -> None:
    """Arm the deletion of the target at the run's deadline."""
    record = deployment.records.require_running(run_id)
    assert record.expires_at is not None  # noqa: S101 - a running run has a deadline
    assert deployment.schedule_group is not None  # noqa: S101 - the function table gives both
    assert deployment.deletion_role_arn is not None  # noqa: S101
    deployment.records.change(run_id, phase="provision", provision_at=now())
    arm_deletion(
        stack_name=record.stack_name,
        at=record.expires_at,
        group=deployment.schedule_group,
        role_arn=deployment.deletion_role_arn,
    )
