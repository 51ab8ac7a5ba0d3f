"""The API's entry point: checks a call, routes it, and turns errors into problem documents."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Route
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic_core import ErrorDetails

from plimsoll.api import (
    catalog_routes,
    experiment_routes,
    live_routes,
    problems,
    quote_routes,
    run_routes,
    schedule_routes,
    size_routes,
)
from plimsoll.api.body_guards import check_body, read_json
from plimsoll.api.problems import ApiError
from plimsoll.aws.function_log import take_cold_start
from plimsoll.complaints import Complaint, complain_of_unknown
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.deployment.function_settings import ApiSettings
from plimsoll.model.validation import make_complaints
from plimsoll.teams.caller import identify_caller
from plimsoll.teams.registry import list_teams

LOG = Logger(service="plimsoll-api", level=os.environ.get("LOG_LEVEL", "INFO"))
OPEN_PATHS = {"/health"}  # no team needed; API Gateway still decides who may call
_PATH_MOST = 200  # logged characters
_ABOUT = re.compile(r"/(runs|experiments)/([a-z0-9-]{1,60})")
_UNEXPECTED = ApiError(500, "unexpected", "something went wrong; the logs have it by request_id")

app = APIGatewayRestResolver(
    enable_validation=True,
    response_validation_error_http_code=500,  # an answer that violates the document is our fault
    json_body_deserializer=read_json,
)
for module in (
    catalog_routes,
    quote_routes,
    run_routes,
    live_routes,
    size_routes,
    experiment_routes,
    schedule_routes,
):
    app.include_router(module.router)


def answer_call(event: Mapping[str, Any], context: Any, *, settings: ApiSettings) -> dict[str, Any]:
    """Answer a call.

    Args:
        event: A proxy event of API Gateway (REST, payload version 1).
        context: The function's context.
        settings: The deployment's settings.
    """
    began = time.monotonic()
    answer = _resolve(event, context, settings)
    _log_call(event, context, answer, began)
    return answer


def _resolve(event: Mapping[str, Any], context: Any, settings: ApiSettings) -> dict[str, Any]:
    try:
        app.append_context(settings=settings, event=event)
        check_body(event)
        if event["path"].rstrip("/") not in OPEN_PATHS:
            app.append_context(caller=identify_caller(list_teams(settings), _read_principal(event)))
        return app.resolve(event, context)
    except Exception as error:  # noqa: BLE001 - so that no trace reaches a caller
        return _make_plain_answer(_to_api_error(error, event), event)
    finally:
        app.clear_context()


def _log_call(
    event: Mapping[str, Any], context: Any, answer: Mapping[str, Any], began: float
) -> None:
    """Log a call; its correlation id is the run or experiment that it names or starts."""
    headers = answer.get("multiValueHeaders") or {}
    place = (headers.get("Location") or [str(event.get("path"))])[0]
    about = _ABOUT.search(place)
    fields = {
        "correlation_id": about[2] if about else None,
        "function_request_id": getattr(context, "aws_request_id", None),
        "request_id": _request_id(event),
        "cold_start": take_cold_start(),
        "method": event.get("httpMethod"),
        "path": str(event.get("path"))[:_PATH_MOST],
        "status": answer["statusCode"],
        "duration_ms": round((time.monotonic() - began) * 1000, 1),
    }
    LOG.info("ended", extra=fields)


def _read_principal(event: Mapping[str, Any]) -> str | None:
    identity = event["requestContext"].get("identity") or {}
    principal: str | None = identity.get("userArn")
    return principal


def _make_plain_answer(error: ApiError, event: Mapping[str, Any]) -> dict[str, Any]:
    made = _respond(error, event)
    return {
        "statusCode": made.status_code,
        "multiValueHeaders": {k: [str(v)] for k, v in made.headers.items()},
        "body": made.body,
        "isBase64Encoded": False,
    }


def _respond(error: ApiError, event: Mapping[str, Any]) -> Response[str]:
    request_id = _request_id(event)
    return problems.build_problem_response(
        error, instance=str(event.get("path")), request_id=request_id
    )


def _request_id(event: Mapping[str, Any]) -> str:
    return str((event.get("requestContext") or {}).get("requestId") or "-")


def _to_api_error(error: Exception, event: Mapping[str, Any]) -> ApiError:
    """Turn an error into the caller's; an unexpected one is logged and not revealed."""
    if isinstance(error, PlimsollError) and (known := problems.to_api_error(error)):
        return known
    LOG.error("unexpected", extra={"request_id": _request_id(event)}, exc_info=error)
    return _UNEXPECTED


@app.exception_handler(Exception)
def _respond_to_failure(error: Exception) -> Response[str]:
    event = app.context["event"]
    return _respond(_to_api_error(error, event), event)


@app.exception_handler(RequestValidationError)
def _respond_to_invalid(error: RequestValidationError) -> Response[str]:
    return _respond(
        problems.build_invalid_fields_error(_find_complaints(error.errors())), app.context["event"]
    )


def _find_complaints(errors: Sequence[Any]) -> list[Complaint]:
    """Name the wrong fields: those of the body by path, parameters by name.

    Args:
        errors: Errors from pydantic; each location begins with `body`, `query`, `path` or `header`.
    """
    dependant = app.context["_route"].dependant
    in_body = [_shorten_location(error, 1) for error in errors if error["loc"][0] == "body"]
    if any(error["type"] == "missing" and not error["loc"] for error in in_body):
        return [Complaint((), "a body is needed: a JSON object")]
    complaints = make_complaints(dependant.body_params[0].type_, in_body) if in_body else []
    known = [*dependant.query_params, *dependant.path_params, *dependant.header_params]
    types = {parameter.alias: parameter.type_ for parameter in known}
    for error in errors:
        place, *location = error["loc"]
        if place == "body":
            continue
        name = str(location[0])
        shown = name.title() if place == "header" else name
        if error["type"] == "missing":
            complaints.append(Complaint((shown,), "is missing"))
        else:
            of_value = make_complaints(types[name], [_shorten_location(error, 2)])
            complaints += (complaint.within(shown) for complaint in of_value)
    return complaints


def _shorten_location(error: Mapping[str, Any], start: int) -> ErrorDetails:
    """Return a pydantic error with the first parts of its location removed."""
    return cast("ErrorDetails", {**error, "loc": error["loc"][start:]})


def _collect_routes() -> list[Route]:
    return [*app._static_routes, *app._dynamic_routes]  # noqa: SLF001 - there is no other way


@app.not_found
def _respond_to_unknown_path(_error: NotFoundError) -> Response[str]:
    event = app.context["event"]
    path = app.context["_path"]
    known = {route.method for route in _collect_routes() if route.rule.match(path)}
    if known:
        methods = ", ".join(sorted(known))
        detail = f"{event['httpMethod']} is not for this path (allowed: {methods})"
        return _respond(ApiError(405, "wrong-method", detail, headers={"Allow": methods}), event)
    return _respond(ApiError(404, "not-found", "there is no such path"), event)


def refuse_unknown_parameters(
    resolver: APIGatewayRestResolver, next_middleware: NextMiddleware
) -> Response[Any]:
    """Refuse query parameters that the route does not know: a misspelt filter would be ignored."""
    route = resolver.context["_route"]
    if route not in _collect_routes():
        return next_middleware(resolver)  # no such path or method
    known = [parameter.alias for parameter in route.dependant.query_params]
    given = resolver.current_event.query_string_parameters or {}
    wrong = [name for name in given if name not in known]
    if wrong:
        raise UsageError(
            *(complain_of_unknown("parameter", name, known, (name,)) for name in wrong)
        )
    return next_middleware(resolver)


app.use([refuse_unknown_parameters])
