"""The API's OpenAPI 3.1 document: from the routes, with what all of them have in common."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import plimsoll
from plimsoll.api.app import OPEN_PATHS, app
from plimsoll.api.problems import CONTENT_TYPE
from plimsoll.model.service.answers import Problem
from plimsoll.model.service.live import LiveSecond

_SCHEMAS = "#/components/schemas/"
_ABOUT = """\
Runs of Plimsoll, which finds the highest throughput that a database sustains on a given storage
before latency deteriorates. Every call is signed (SigV4, service `execute-api`). The caller's IAM
principal determines the team, and a team sees only its own runs. `plimsoll serve` has no IAM;
there, every call carries a token instead. A refused call is answered with an RFC 9457 problem
document. Names end in their units; a value that is not known is null, never 0.
"""
_SIGNED = {
    "type": "apiKey",
    "name": "Authorization",
    "in": "header",
    "description": "AWS Signature Version 4.",
    "x-amazon-apigateway-authtype": "awsSigv4",
}
_WITH_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Token of `plimsoll serve`, which answers 401 without it; not used on AWS.",
}
# Errors that every route may return.
_ALWAYS = {
    "429": "Too many calls; try again later.",
    "500": "The service failed; its logs have the error under `request_id`.",
    "503": "The service cannot answer now; try again later.",
    "504": "The service timed out; try again later.",
}
# API Gateway itself sends a single content type
_BY_THE_GATEWAY = {"403", "413", "429", "500", "503", "504"}
_WITH_TEAM = {"403": "The caller is not signed in, or no team of the caller may do this."}
_WITH_BODY = {
    "400": "The body is not JSON, or nested too deeply.",
    "409": "A run exceeds a limit of the team, even with no other run; waiting does not help.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
}
_BY_OPERATION = {
    "start_run": {
        "429": "A limit of the team is used up now, or there are too many calls; try again later.",
    },
    "get_sizes": {"409": "The run measured nothing to predict from; `detail` says why."},
}
_WITH_PARAMETERS = {"422": "A field or parameter is wrong; `errors` names each."}
_WITH_PATH = {"404": "The caller's team has nothing with that name."}


# Not an operation: API Gateway has no streams, and generated clients do not know them.
_EVENTS = {
    "path": "/events",
    "description": "Server-sent events of `plimsoll serve`, with the token in the header; not on"
    " AWS. With `run_id`, each `live` event has what `GET /runs/{run_id}/live` returns since the"
    " previous one, with the cursor as its id, and each `second` event a second of the step in"
    " progress. Without it, the first `runs` event has the newest 100 runs, later ones those that"
    " changed. A `bye` event announces that the service ends. The stream resumes after the id in"
    " `Last-Event-ID` or `after`.",
    "parameters": ["run_id", "after", "points"],
    "events": {
        "live": {"$ref": f"{_SCHEMAS}Live"},
        "second": {"$ref": f"{_SCHEMAS}LiveSecond"},
        "runs": {
            "type": "object",
            "properties": {
                "runs": {"type": "array", "items": {"$ref": f"{_SCHEMAS}RunSummary"}},
            },
        },
    },
}


def build_document() -> dict[str, Any]:
    """Return the document as plain values."""
    made: dict[str, Any] = json.loads(
        app.get_openapi_json_schema(
            title="Plimsoll",
            version=plimsoll.__version__,
            openapi_version="3.1.0",
            description=_ABOUT,
        )
    )
    made["servers"] = [{"url": "/", "description": "`ApiUrl` of the deployed stack."}]
    for path, operations in made["paths"].items():
        for operation in operations.values():
            _complete_operation(path, operation)
    schemas = made["components"]["schemas"]
    for model in (Problem, LiveSecond):
        own = model.model_json_schema(ref_template=f"{_SCHEMAS}{{model}}", mode="serialization")
        schemas |= own.pop("$defs") | {model.__name__: own}
    made["x-events"] = _EVENTS
    for schema in schemas.values():
        for name, part in schema.get("properties", {}).items():
            _replace_default(name, part)
    used = set(_find_reached([made["paths"], _EVENTS], schemas))
    made["components"] = {
        "schemas": {name: schemas[name] for name in sorted(used)},
        "securitySchemes": {"sigv4": _SIGNED, "token": _WITH_TOKEN},
    }
    return made


def _complete_operation(path: str, operation: dict[str, Any]) -> None:
    """Add errors and signing to an operation."""
    responses = operation["responses"]
    responses.get("204", {}).pop("content", None)  # a 204 has no content
    refusals = {**_ALWAYS}
    if path not in OPEN_PATHS:
        operation["security"] = [{"sigv4": []}, {"token": []}]
        refusals |= _WITH_TEAM
    if "requestBody" in operation:
        refusals |= _WITH_BODY
    refusals |= _BY_OPERATION.get(operation["operationId"], {})
    if "requestBody" in operation or operation.get("parameters"):
        refusals |= _WITH_PARAMETERS
    else:
        del responses["422"]
    if "{" in path or operation["operationId"] == "compare_runs":
        refusals |= _WITH_PATH
    problem = {"schema": {"$ref": f"{_SCHEMAS}Problem"}}
    for status, why in refusals.items():
        given = responses.get(status, {})
        kept = given.get("description") if status not in {"422", "500"} else None
        content = {CONTENT_TYPE: problem}
        if status in _BY_THE_GATEWAY:
            content["application/json"] = problem
        responses[status] = {"description": kept or why, "content": content}
    operation["responses"] = dict(sorted(responses.items()))
    for parameter in operation.get("parameters", []):
        _simplify_parameter(parameter)
    operation.pop("deprecated", None)


def _simplify_parameter(parameter: dict[str, Any]) -> None:
    """Write a parameter as it is sent: a header with its usual case, and without null."""
    if parameter["in"] == "header":
        parameter["name"] = parameter["name"].title()
    schema = parameter["schema"]
    kinds = [kind for kind in schema.pop("anyOf", []) if kind != {"type": "null"}]
    for kind in kinds:
        schema |= kind
    for name in ("title", "description"):
        schema.pop(name, None)


def _replace_default(name: str, part: dict[str, Any]) -> None:
    """Replace defaults that mislead client generators by a description.

    Generated clients send a default as if their user had chosen it, and drop everything that has an
    object as its default, up to the operations that need it.
    """
    if name == "team" and "default" in part:
        said = "the caller's own"
    elif isinstance(part.get("default"), Mapping):
        said = "its fields have their own defaults"
    else:
        return
    del part["default"]
    part["description"] = f"{part.get('description', '')} Left out: {said}.".strip()


def _find_reached(part: object, schemas: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the schemas that a part of the document needs, directly or not."""
    waiting, seen = [part], set()
    while waiting:
        for name in _find_references(waiting.pop()):
            if name not in seen:
                seen.add(name)
                waiting.append(schemas[name])
                yield name


def _find_references(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(_SCHEMAS)
        for value in part.values():
            yield from _find_references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _find_references(value)
