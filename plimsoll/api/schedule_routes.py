"""Checks: `GET /schedules`, `PUT`, `GET` and `DELETE /schedules/{name}`, and its history."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api.context import JSON, read_caller, read_settings
from plimsoll.checks import schedules
from plimsoll.checks.schedules import ScheduledCheck, ScheduledChecks
from plimsoll.model.request.check import Check, CheckDefinition
from plimsoll.model.run.check_history import History

router = APIGatewayRouter()
CheckName = Annotated[
    str,
    Path(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        max_length=40,
        description="Name of the check; unique in a team.",
    ),
]


@router.get(
    "/schedules",
    summary="List the team's checks",
    description="Checks are runs on a schedule, each compared with its own history.",
    response_description="All checks, sorted by name.",
    operation_id="list_schedules",
    tags=["schedules"],
)
def list_schedules() -> ScheduledChecks:
    """List the checks of the caller's team."""
    return schedules.list_checks(read_settings(router), read_caller(router).team)


@router.put(
    "/schedules/<name>",
    summary="Create or replace a check",
    description="The check and the request of its run are validated before anything is created. A"
    " check whose request changes starts a new history. A `rate(...)` schedule starts its first"
    " run at once.",
    responses={
        200: {"description": "Replaced.", "content": {JSON: {"model": ScheduledCheck}}},
        201: {"description": "Made.", "content": {JSON: {"model": ScheduledCheck}}},
    },
    operation_id="put_schedule",
    tags=["schedules"],
)
def put_schedule(
    name: CheckName,
    definition: Annotated[CheckDefinition, Body(description="docs/checks.md explains each field.")],
) -> Response[ScheduledCheck]:
    """Create or replace a check of the caller's team."""
    settings, caller = read_settings(router), read_caller(router)
    if "team" in definition.request.model_fields_set:
        caller.require_team(definition.request.team, ("request", "team"))
    new = schedules.put_check(settings, caller.team, Check(name=name, **dict(definition)))
    return Response(
        status_code=201 if new else 200,
        content_type=JSON,
        body=schedules.read_check(settings, caller.team, name),
    )


@router.get(
    "/schedules/<name>",
    summary="Get a check",
    description="Returns its definition, and when it runs next.",
    response_description="The check.",
    operation_id="get_schedule",
    tags=["schedules"],
)
def get_schedule(name: CheckName) -> ScheduledCheck:
    """Show a check of the caller's team."""
    return schedules.read_check(read_settings(router), read_caller(router).team, name)


@router.get(
    "/schedules/<name>/history",
    summary="Get a check's history",
    description="Returns the last 200 points, each a run with its figures (null for a gap, with"
    " the reason); the changes found at the last evaluation; and those that were announced.",
    response_description="The history.",
    operation_id="get_history",
    tags=["schedules"],
)
def get_history(name: CheckName) -> History:
    """Show the history of a check of the caller's team."""
    return schedules.read_check_history(read_settings(router), read_caller(router).team, name)


@router.delete(
    "/schedules/<name>",
    summary="Delete a check",
    description="Deletes the check and its schedule. Runs in progress go on. The history is kept,"
    " and used again by a check with the same name and request.",
    status_code=204,
    responses={204: {"description": "Deleted."}},
    operation_id="delete_schedule",
    tags=["schedules"],
)
def delete_schedule(name: CheckName) -> Response[None]:
    """Delete a check of the caller's team."""
    schedules.delete_check(read_settings(router), read_caller(router).team, name)
    return Response(status_code=204)
