"""RFC 9457 problem documents: the library's errors as the API's callers see them."""

from collections.abc import Iterable

from aws_lambda_powertools.event_handler import Response

from plimsoll.complaints import Complaint
from plimsoll.errors import (
    DrainingError,
    LimitReachedError,
    NoGroundError,
    NotFoundError,
    OtherTeamError,
    PlimsollError,
    UnknownPrincipalError,
    UsageError,
)
from plimsoll.model.service.answers import FieldComplaint, Problem

CONTENT_TYPE = "application/problem+json"
_TYPE = "urn:plimsoll:problem:"
DRAINING = "draining"
_LONGEST = 300  # characters of the caller's own text in an answer


class ApiError(PlimsollError):
    """An error answer: its kind, its status, and the wrong fields."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        complaints: Iterable[Complaint] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.complaints = tuple(complaints)
        self.headers = headers or {}


# The status and kind of each of the library's errors.
KINDS: dict[type[PlimsollError], tuple[int, str]] = {
    UnknownPrincipalError: (403, "unknown-principal"),
    OtherTeamError: (403, "other-team"),
    NotFoundError: (404, "not-found"),
    NoGroundError: (409, "no-ground"),
}


def to_api_error(error: PlimsollError) -> ApiError | None:
    """Turn an error of the library into the caller's; None if the caller did not cause it."""
    match error:
        case ApiError():
            return error
        case UsageError():
            return build_invalid_fields_error(error.complaints)
        case LimitReachedError():
            status, kind = 429 if error.waiting_helps else 409, "limit-reached"
            return ApiError(status, kind, str(error), complaints=error.complaints)
        case DrainingError():
            return ApiError(503, DRAINING, str(error), headers={"Retry-After": str(error.after_s)})
    for known, (status, kind) in KINDS.items():
        if isinstance(error, known):
            return ApiError(status, kind, str(error), complaints=error.complaints)
    return None


def build_invalid_fields_error(complaints: Iterable[Complaint]) -> ApiError:
    """Return the error for wrong fields."""
    wrong = tuple(complaints)
    first = f"{wrong[0].field or 'body'}: {wrong[0].sentence}"
    detail = first if len(wrong) == 1 else f"{len(wrong)} fields are wrong; the first: {first}"
    return ApiError(422, "invalid-request", detail, complaints=wrong)


def build_problem_response(error: ApiError, *, instance: str, request_id: str) -> Response[str]:
    """Return the answer with the problem document."""
    problem = Problem(
        type=f"{_TYPE}{error.kind}",
        title=error.kind.replace("-", " ").capitalize(),
        status=error.status,
        detail=_shorten(error.detail),
        instance=_shorten(instance),
        request_id=request_id,
        errors=tuple(map(_make_field_complaint, error.complaints)),
    )
    return Response(
        status_code=error.status,
        content_type=CONTENT_TYPE,
        body=problem.model_dump_json(),
        headers=dict(error.headers),
    )


def _make_field_complaint(complaint: Complaint) -> FieldComplaint:
    value = complaint.value
    return FieldComplaint(
        field=complaint.field or "body",
        detail=_shorten(complaint.sentence),
        value=_shorten(value) if isinstance(value, str) else value,
        allowed=complaint.allowed_words,
    )


def _shorten(text: str) -> str:
    """Shorten a text that came from the caller."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
