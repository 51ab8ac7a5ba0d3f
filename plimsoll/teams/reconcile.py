"""Releases shares of teams' limits whose runs have ended or never began.

The janitor does this regularly, and so does a submission that finds no room.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from plimsoll.aws import clients
from plimsoll.aws.items import log_unreadable
from plimsoll.aws.run_records import records_of
from plimsoll.errors import UnreadableRecordError
from plimsoll.model.deployment.function_settings import RunSettings, StopSettings
from plimsoll.model.run.run_record import Failure, RunRecord, RunState
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.registry import list_teams
from plimsoll.teams.room import Grant

LASTS_AT_MOST = timedelta(
    days=3
)  # the time-outs of the workflow (2 days) and of its teardown together


@dataclass(frozen=True)
class Over:
    """A run that has ended, with its cost in US dollars; None if the cost is unknown."""

    usd: float | None


def reconcile_teams(settings: StopSettings, *, at: datetime) -> list[str]:
    """Release the shares of runs that have ended, never began, or are unknown.

    Returns:
        The ids of the runs whose shares were released.
    """
    return [
        run_id for team in list_teams(settings) for run_id in reconcile_team(settings, team, at=at)
    ]


def reconcile_team(settings: StopSettings, team: str, *, at: datetime) -> list[str]:
    """Release such shares of one team; returns the ids of their runs."""
    released: list[str] = []
    limits = find_team_limits(settings, team)
    for run_id, grant in limits.read_grants().items() if limits is not None else ():
        try:
            over = _find_end(settings, run_id, grant, at)
        except UnreadableRecordError as error:
            log_unreadable(error)
            over = Over(None) if at - grant.at > LASTS_AT_MOST else None
        if limits is not None and over is not None and limits.release(run_id, usd=over.usd):
            released.append(run_id)
    return released


def _find_end(settings: StopSettings, run_id: str, grant: Grant, at: datetime) -> Over | None:
    """Check whether a run has ended; None if it may still be running."""
    record = records_of(settings).find(run_id)
    held_for = at - grant.at
    late = held_for > timedelta(seconds=grant.begins_within_s)
    if record is None:
        return Over(0.0) if late else None
    if record.state.ended:
        return _read_cost(record)
    if record.state is RunState.PENDING and late and not _is_started(settings, run_id):
        return Over(0.0) if _fail_unstarted(settings, run_id, at) else None
    return Over(None) if held_for > LASTS_AT_MOST else None


def _read_cost(record: RunRecord) -> Over:
    if record.started_at is None:
        return Over(0.0)
    return Over(None if record.cost_usd is None else float(record.cost_usd))


def _is_started(settings: StopSettings, run_id: str) -> bool:
    """Whether a run has a workflow, even if it has not reached its first state yet."""
    client = clients.stepfunctions()
    machine = settings.run_machine_arn.replace(":stateMachine:", ":execution:")
    try:
        client.describe_execution(executionArn=f"{machine}:{run_id}")
    except client.exceptions.ExecutionDoesNotExist:
        return False
    return True


def _fail_unstarted(settings: RunSettings, run_id: str, at: datetime) -> bool:
    """Fail a run that never began, so that it cannot begin later; False if it just has."""
    failure = Failure(phase="record", error="NotStartedError", cause="it never began")
    return records_of(settings).change(
        run_id, states=(RunState.PENDING,), state=RunState.FAILED, failure=failure, ended_at=at
    )
