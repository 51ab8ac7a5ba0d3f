"""The API's routes together, and the way of each call through them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Route
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic_core import ErrorDetails

from plimsoll.api import (
    experiment_routes,
    health_routes,
    problems,
    quote_routes,
    run_routes,
    schedule_routes,
    workload_routes,
)
from plimsoll.api.body_guards import check_body, read_json
from plimsoll.api.problems import ApiError
from plimsoll.errors import PlimsollError
from plimsoll.model.base import Model
from plimsoll.model.function_settings import ApiSettings
from plimsoll.requests.complaints import Complaint, complaint
from plimsoll.teams.teams import caller_of
from plimsoll.workload.items import unknown

LOG = Logger(service="plimsoll-api")
OPEN_PATHS = {"/health"}  # whoever API Gateway lets in may ask; the rest needs a team
_UNEXPECTED = ApiError(500, "unexpected", "something went wrong; the logs have it by request_id")

app = APIGatewayRestResolver(
    enable_validation=True,
    response_validation_error_http_code=500,  # an answer that is not as documented is our fault
    json_body_deserializer=read_json,
)
for module in (
    health_routes,
    workload_routes,
    quote_routes,
    run_routes,
    experiment_routes,
    schedule_routes,
):
    app.include_router(module.router)


def answer(event: Mapping[str, Any], context: Any, *, settings: ApiSettings) -> dict[str, Any]:
    """Answer a call.

    Args:
        event: A proxy event of API Gateway (REST, payload version 1).
        context: The function's.
        settings: Of the deployment that is served.
    """
    try:
        app.append_context(settings=settings, event=event)
        check_body(event)
        if event["path"].rstrip("/") not in OPEN_PATHS:
            app.append_context(caller=caller_of(settings.teams, _principal(event)))
        return app.resolve(event, context)
    except Exception as error:  # noqa: BLE001 - the last line: no trace reaches a caller
        return _plain(_problem(error, event), event)
    finally:
        app.clear_context()


def _principal(event: Mapping[str, Any]) -> str | None:
    identity = event["requestContext"].get("identity") or {}
    principal: str | None = identity.get("userArn")
    return principal


def _plain(error: ApiError, event: Mapping[str, Any]) -> dict[str, Any]:
    made = _respond(error, event)
    return {
        "statusCode": made.status_code,
        "multiValueHeaders": {k: [str(v)] for k, v in made.headers.items()},
        "body": made.body,
        "isBase64Encoded": False,
    }


def _respond(error: ApiError, event: Mapping[str, Any]) -> Response[str]:
    request_id = _request_id(event)
    return problems.response(error, instance=str(event.get("path")), request_id=request_id)


def _request_id(event: Mapping[str, Any]) -> str:
    return str((event.get("requestContext") or {}).get("requestId") or "-")


def _problem(error: Exception, event: Mapping[str, Any]) -> ApiError:
    """What an error is to a caller; one that nobody expected is logged, and told without detail."""
    if isinstance(error, PlimsollError) and (found := problems.told(error)):
        return problems.with_values(found, _body(event), _parameters(event))
    LOG.error("unexpected", extra={"request_id": _request_id(event)}, exc_info=error)
    return _UNEXPECTED


@app.exception_handler(Exception)
def _failed(error: Exception) -> Response[str]:
    event = app.context["event"]
    return _respond(_problem(error, event), event)


@app.exception_handler(RequestValidationError)
def _invalid(error: RequestValidationError) -> Response[str]:
    event = app.context["event"]
    found = problems.invalid(_complaint(one) for one in error.errors())
    return _respond(problems.with_values(found, _body(event), _parameters(event)), event)


def _body(event: Mapping[str, Any]) -> Any:
    """Read the body for what it says; None where it is no JSON, which has been refused then."""
    with suppress(ValueError, RecursionError):
        return json.loads(event.get("body") or "null")
    return None


def _parameters(event: Mapping[str, Any]) -> dict[str, str]:
    """Give what an error may name besides the body's fields: the query's, and one header."""
    headers = {name.title(): text for name, text in (event.get("headers") or {}).items()}
    key = {name: text for name, text in headers.items() if name == "Idempotency-Key"}
    return {**(event.get("queryStringParameters") or {}), **key}


def _complaint(found: Any) -> Complaint:
    """Say which field is meant: of the body by its path, of the query and headers by its name."""
    place, *location = found["loc"]
    error = cast("ErrorDetails", {**found, "loc": tuple(location) if place == "body" else ()})
    bodies = app.context["_route"].dependant.body_params
    if place != "body" or not bodies:
        about = complaint(Model, error)
        names = tuple(str(name).title() if place == "header" else name for name in location)
        if error["type"] == "missing":
            return Complaint(names, "is missing")
        return Complaint(names, about.message, about.value, about.allowed)
    if not location and error["type"] == "missing":
        return Complaint((), "a body is needed: a JSON object")
    return complaint(bodies[0].type_, error)


def _routes() -> list[Route]:
    return [*app._static_routes, *app._dynamic_routes]  # noqa: SLF001 - there is no other way


@app.not_found
def _no_such_path(_error: NotFoundError) -> Response[str]:
    event = app.context["event"]
    path = app.context["_path"]
    known = {route.method for route in _routes() if route.rule.match(path)}
    if known:
        methods = ", ".join(sorted(known))
        detail = f"{event['httpMethod']} is not for this path (allowed: {methods})"
        return _respond(ApiError(405, "wrong-method", detail, headers={"Allow": methods}), event)
    return _respond(ApiError(404, "not-found", "there is no such path"), event)


def refuse_unknown_parameters(
    resolver: APIGatewayRestResolver, next_middleware: NextMiddleware
) -> Response[Any]:
    """Refuse query parameters that the route does not know: a misspelt filter filters nothing."""
    route = resolver.context["_route"]
    if route not in _routes():
        return next_middleware(resolver)  # no such path or method, whatever the parameters
    known = [parameter.alias for parameter in route.dependant.query_params]
    given = resolver.current_event.query_string_parameters or {}
    wrong = [name for name in given if name not in known]
    if wrong:
        raise problems.invalid(
            Complaint((name,), unknown("parameter", name, known), None, tuple(known))
            for name in wrong
        )
    return next_middleware(resolver)


app.use([refuse_unknown_parameters])
