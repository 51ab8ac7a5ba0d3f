"""RFC 9457 problem documents: what an error of the library is to a caller of the API."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response

from plimsoll.aws.run_records import RunNotFoundError
from plimsoll.checks.store import CheckNotFoundError
from plimsoll.errors import LimitReachedError, PlimsollError, UsageError
from plimsoll.experiments.records import ExperimentNotFoundError
from plimsoll.model.api_answers import FieldProblem, Problem, Scalar
from plimsoll.requests.complaints import Complaint, ComplaintsError, listed
from plimsoll.teams.teams import OtherTeamError, UnknownPrincipalError

CONTENT_TYPE = "application/problem+json"
_TYPE = "urn:plimsoll:problem:"
_LONGEST = 300  # characters of a caller's own text that come back
_DEFINITION = "workload.definition"
_PLACE = re.compile(r"^(?P<path>[A-Za-z_][\w.$\[\]-]*): (?P<message>.+)$", re.DOTALL)
_NOT_KNOWN = re.compile(r"unknown (field|parameter|operation)\b")


class ApiError(PlimsollError):
    """An answer that is an error: its kind, its status, and the fields that are wrong."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        errors: Iterable[FieldProblem] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = headers or {}


# how an error of the library is told; the first class that it is of
KINDS: dict[type[PlimsollError], tuple[int, str]] = {
    UnknownPrincipalError: (403, "unknown-principal"),
    RunNotFoundError: (404, "not-found"),
    ExperimentNotFoundError: (404, "not-found"),
    CheckNotFoundError: (404, "not-found"),
    UsageError: (422, "invalid-request"),
}


def told(error: PlimsollError) -> ApiError | None:
    """Say what an error of the library is to a caller; None: nothing that the caller caused."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ComplaintsError):
        return invalid(error.complaints)
    if isinstance(error, OtherTeamError):
        team = FieldProblem(
            field=error.field, detail=str(error), value=error.named, allowed=(error.own,)
        )
        return ApiError(403, "other-team", str(error), errors=[team])
    if isinstance(error, LimitReachedError):
        return _of_limit(error)
    for kind, (status, name) in KINDS.items():
        if isinstance(error, kind):
            lines = str(error).splitlines()
            errors = [_field(line) for line in lines] if status == 422 else []
            detail = lines[0] if len(lines) == 1 else f"{len(lines)} fields are wrong"
            return ApiError(status, name, detail, errors=errors)
    return None


def _of_limit(error: LimitReachedError) -> ApiError:
    """Say which field asks for more than a limit of the team leaves, and what it leaves."""
    errors = []
    if error.field is not None:
        allowed = () if error.most is None else (f"<= {_floored(error.most)}",)
        errors = [
            FieldProblem(field=error.field, detail=str(error), value=error.value, allowed=allowed)
        ]
    status = 429 if error.waiting_helps else 409
    return ApiError(status, "limit-reached", str(error), errors=errors)


def _floored(most: float) -> str:
    """Write a limit: whole, or in cents, never more than it is."""
    return f"{most:g}" if most == int(most) else f"{math.floor(most * 100) / 100:.2f}"


def invalid(complaints: Iterable[Complaint]) -> ApiError:
    """Say which fields are wrong."""
    errors = [_told_field(about) for about in complaints]
    first = f"{errors[0].field}: {errors[0].detail}"
    detail = first if len(errors) == 1 else f"{len(errors)} fields are wrong; the first: {first}"
    return ApiError(422, "invalid-request", detail, errors=errors)


def shortened(text: str) -> str:
    """Cut a text of a caller's own length."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."


def response(error: ApiError, *, instance: str, request_id: str) -> Response[str]:
    """Write the document."""
    problem = Problem(
        type=f"{_TYPE}{error.kind}",
        title=error.kind.replace("-", " ").capitalize(),
        status=error.status,
        detail=shortened(error.detail),
        instance=shortened(instance),
        request_id=request_id,
        errors=error.errors,
    )
    return Response(
        status_code=error.status,
        content_type=CONTENT_TYPE,
        body=problem.model_dump_json(),
        headers=dict(error.headers),
    )


def _told_field(about: Complaint) -> FieldProblem:
    path, message = _deeper(about.path or "body", about.message)
    value = shortened(about.value) if isinstance(about.value, str) else about.value
    return FieldProblem(field=path, detail=shortened(message), value=value, allowed=about.allowed)


def _field(line: str) -> FieldProblem:
    """Take a line of an error apart: `path: what is wrong (allowed: this, that)`."""
    place = _PLACE.match(line)
    path, message = (place["path"], place["message"]) if place else ("body", line)
    path, message = _deeper(path, message)
    return FieldProblem(field=path, detail=shortened(message), allowed=listed(message))


def _deeper(path: str, message: str) -> tuple[str, str]:
    """Go on where a workload, which has paths of its own, says what is wrong with it."""
    inner = _PLACE.match(message) if path.endswith(_DEFINITION) else None
    return (f"{path}.{inner['path']}", inner["message"]) if inner else (path, message)


def with_values(error: ApiError, body: Any, parameters: Mapping[str, str]) -> ApiError:
    """Add to each field that is wrong the single value that stands there.

    It is looked for in the body, then among the parameters: of the query, and headers by name. What
    stands where nothing is known of stays untold: it may be a secret that went astray.
    """
    error.errors = tuple(
        one.model_copy(update={"value": _given(one.field, body, parameters)})
        if one.value is None and not _NOT_KNOWN.match(one.detail)
        else one
        for one in error.errors
    )
    return error


def _given(field: str, body: Any, parameters: Mapping[str, str]) -> Scalar:
    found = _value_at(body, field)
    return shortened(parameters[field]) if found is None and field in parameters else found


def _value_at(body: Any, field: str) -> Scalar:
    value = body
    for name in re.findall(r"[^.\[\]]+", field):
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    if isinstance(value, str):
        return shortened(value)
    return value if isinstance(value, int | float) else None
