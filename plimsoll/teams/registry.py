"""The teams of a deployment: those of its configuration, and those that `plimsoll team put` added.

| pk | sk | what |
|---|---|---|
| `teams` | the team's name | `team`: the team as JSON, as cdk.json would have it |

A team belongs either to cdk.json or to the table. If both have one of the same name, the one of
cdk.json counts.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from plimsoll.aws import clients
from plimsoll.aws.configuration import list_configurations
from plimsoll.aws.items import query_items, read_all_readable, read_item
from plimsoll.complaints import Complaint
from plimsoll.errors import NotFoundError, UsageError
from plimsoll.model.base import Model
from plimsoll.model.deployment.deployment import Team, TeamName, require_one_team_each
from plimsoll.model.deployment.function_settings import TeamSettings
from plimsoll.model.settings import Setting

_PARTITION = "teams"


class Teams(Model):
    """Teams by name, as `teams` of cdk.json."""

    teams: dict[TeamName, Team]


def find_team(settings: TeamSettings, name: str) -> Team | None:
    """Return a team; None if the deployment does not have it."""
    known = settings.teams.get(name)
    if known is not None:
        return known
    item = clients.dynamodb().get_item(TableName=settings.service_table, Key=_key(name)).get("Item")
    return None if item is None else _read_team(item)[1]


def list_teams(settings: TeamSettings) -> dict[str, Team]:
    """Return every team by name; unreadable ones are left out."""
    return {**list_added_teams(settings.service_table), **settings.teams}


def list_added_teams(table: str) -> dict[str, Team]:
    """Return the teams in the table, by name; unreadable ones are left out."""
    readable, _ = read_all_readable(
        partial(_read_team, item) for item in query_items(table, _PARTITION)
    )
    return dict(readable)


def list_configured_teams(table: str) -> dict[str, Team]:
    """Return the teams of cdk.json, by name, as the deployment's functions know them."""
    teams: dict[str, Team] = {}
    for values in list_configurations(table):
        teams |= Teams.model_validate({"teams": json.loads(values[Setting.TEAMS.name])}).teams
    return teams


def put_teams(table: str, teams: Mapping[str, Team]) -> None:
    """Add teams, or replace those of the same names. Functions know them at their next call.

    Raises:
        UsageError: One of them is a team of cdk.json, or a principal would be in two teams. Nothing
            is written.
    """
    configured = list_configured_teams(table)
    for name in teams:
        if name in configured:
            raise UsageError(Complaint((name,), f"{name} is a team of cdk.json: change it there"))
    try:
        require_one_team_each({**configured, **list_added_teams(table), **teams})
    except ValueError as error:
        raise UsageError(Complaint((), str(error))) from None
    for name, team in teams.items():
        value = team.model_dump_json(exclude_defaults=True)
        clients.dynamodb().put_item(TableName=table, Item={**_key(name), "team": {"S": value}})


def remove_team(table: str, name: str) -> None:
    """Remove a team from the table. Its runs go on, and nobody may call in its name.

    Raises:
        NotFoundError: The table does not have it.
    """
    answer = clients.dynamodb().delete_item(TableName=table, Key=_key(name), ReturnValues="ALL_OLD")
    if not answer.get("Attributes"):
        raise NotFoundError(f"no team {name!r} was added with `plimsoll team put`")


def _read_team(item: Mapping[str, Any]) -> tuple[str, Team]:
    name = item["sk"]["S"]
    return name, read_item(f"team {name}", lambda: Team.model_validate_json(item["team"]["S"]))


def _key(name: str) -> dict[str, Any]:
    return {"pk": {"S": _PARTITION}, "sk": {"S": name}}
