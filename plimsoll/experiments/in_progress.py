"""The runs and experiments of a deployment that have not ended, before it is updated."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from plimsoll.aws import clients
from plimsoll.experiments.records import Experiments
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.run.run_record import RunState
from plimsoll.teams.limits import Limits
from plimsoll.teams.registry import list_added_teams, list_configured_teams
from plimsoll.workflow.submit import STARTED_WITHIN


def list_in_progress(table: str, machines: Sequence[str], at: datetime) -> list[str]:
    """Return the names of runs and experiments in progress, also of those accepted a moment ago.

    A submission is recorded before its execution starts, and an execution is listed some seconds
    after that. A deployment that is drained records no new ones, so that none is missed.

    Args:
        table: The service table.
        machines: The ARNs of the state machines of runs and experiments.
        at: The current time.
    """
    teams = {**list_added_teams(table), **list_configured_teams(table)}
    accepted = [
        name for team, limits in teams.items() for name in _list_new(table, team, limits, at)
    ]
    return list(dict.fromkeys([*_list_executions(machines), *accepted]))


def _list_new(table: str, team: str, limits: Team, at: datetime) -> Iterator[str]:
    """Yield the names of a team's runs and experiments that may still be about to start."""
    for run_id, grant in Limits(table, team, limits).read_grants().items():
        if at - grant.at <= timedelta(seconds=grant.begins_within_s):
            yield run_id
    records, _ = Experiments(table).of_team(team)
    for record in records:
        if record.state is RunState.PENDING and at - record.submitted_at <= STARTED_WITHIN:
            yield record.experiment_id


def _list_executions(machines: Sequence[str]) -> list[str]:
    pages = clients.stepfunctions().get_paginator("list_executions")
    return [
        execution["name"]
        for machine in machines
        for page in pages.paginate(stateMachineArn=machine, statusFilter="RUNNING")
        for execution in page["executions"]
    ]
