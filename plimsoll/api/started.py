"""What routes share that start and stop runs and experiments: its team, and their answers."""

from typing import TypeVar

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse, OpenAPIResponseHeader
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api.context import JSON
from plimsoll.model.base import Model
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.checked_request import CheckedRequest, check_request
from plimsoll.teams.caller import Caller

Answer = TypeVar("Answer", bound=Model)
Asked = TypeVar("Asked", Request, Experiment)


def assign_to_team(asked: Asked, caller: Caller) -> Asked:
    """Return what is asked for as the caller's team's.

    Raises:
        OtherTeamError: It names another team.
    """
    if "team" in asked.model_fields_set:
        caller.require_team(asked.team)
    return asked.model_copy(update={"team": caller.team})


def check_run(request: Request, caller: Caller) -> CheckedRequest:
    """Return a run that is asked for, checked, as the caller's team's.

    Raises:
        OtherTeamError: It names another team.
        UsageError: Something in it is not valid, or only `plimsoll run --local` may have it.
    """
    request = assign_to_team(request, caller)
    request.require_nothing_of_one_machine("`plimsoll run --local`")
    return check_request(request)


def describe_start(what: str, answer: type[Model]) -> dict[int, OpenAPIResponse]:
    """Describe the answer to a start: `what` is a run or an experiment."""
    location: OpenAPIResponseHeader = {
        "description": f"Path of the {what}.",
        "schema": {"type": "string"},
    }
    return {
        202: {
            "description": "Accepted; `Location` is its address.",
            "headers": {"Location": location},
            "content": {JSON: {"model": answer}},
        }
    }


def answer_start(router: APIGatewayRouter, own_id: str, answer: Answer) -> Response[Answer]:
    """Answer a start, with the address of what was started."""
    path = router.current_event.request_context.path.rstrip("/")
    headers = {"Location": f"{path}/{own_id}"}
    return Response(status_code=202, content_type=JSON, body=answer, headers=headers)


def describe_stop(answer: type[Model]) -> dict[int, OpenAPIResponse]:
    """Describe the answers to a stop."""
    return {
        200: {"description": "It has ended.", "content": {JSON: {"model": answer}}},
        202: {"description": "It is being stopped.", "content": {JSON: {"model": answer}}},
    }


def answer_stop(state: RunState, answer: Answer) -> Response[Answer]:
    """Answer a stop."""
    status = 200 if state.ended else 202
    return Response(status_code=status, content_type=JSON, body=answer)
