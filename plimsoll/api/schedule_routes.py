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
        description="What the check is called; one of its name in a team.",
    ),
]


@router.get(
    "/schedules",
    summary="The team's checks",
    description="Runs on a schedule, each compared with its own history.",
    response_description="All of them, by name.",
    operation_id="list_schedules",
    tags=["schedules"],
)
def list_schedules() -> ScheduledChecks:
    """List the checks of the caller's team."""
    return schedules.list_checks(read_settings(router), read_caller(router).team)


@router.put(
    "/schedules/<name>",
    summary="Make or replace a check",
    description="All of it is checked, its run too, before anything is made. A check that asks for"
    " another run than before begins a new history. A `rate(...)` fires at once.",
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
    summary="A check",
    description="As it was last put, and when it runs next.",
    response_description="The check.",
    operation_id="get_schedule",
    tags=["schedules"],
)
def get_schedule(name: CheckName) -> ScheduledCheck:
    """Show a check of the caller's team."""
    return schedules.read_check(read_settings(router), read_caller(router).team, name)


@router.get(
    "/schedules/<name>/history",
    summary="A check's history",
    description="Its latest 200 points, each a run and its figures (null: a gap, which says why);"
    " the changes in it, as it was last judged; and those of which a message was sent.",
    response_description="The history.",
    operation_id="get_history",
    tags=["schedules"],
)
def get_history(name: CheckName) -> History:
    """Show the history of a check of the caller's team."""
    return schedules.read_history(read_settings(router), read_caller(router).team, name)


@router.delete(
    "/schedules/<name>",
    summary="Delete a check",
    description="And its schedule. Runs under way go on; its history stays, for a check of the same"
    " name and run.",
    status_code=204,
    responses={204: {"description": "Deleted."}},
    operation_id="delete_schedule",
    tags=["schedules"],
)
def delete_schedule(name: CheckName) -> Response[None]:
    """Delete a check of the caller's team."""
    schedules.delete_check(read_settings(router), read_caller(router).team, name)
    return Response(status_code=204)
