"""The service's errors, as lines for people: problem documents (RFC 9457) and others."""

from collections.abc import Mapping
from typing import Any

from plimsoll.client.tokens import TOKEN_VARIABLE
from plimsoll.documents import parse_foreign_json
from plimsoll.errors import PlimsollError
from plimsoll.words import escape_controls

LIMIT_REACHED = "limit-reached"  # the team's limit: it lasts longer than a caller can wait
DRAINING = "draining"  # it starts nothing until a time, which the answer names
SHOWN_MOST = 200  # characters of an answer in no known form that are shown
_INPUT = frozenset({400, 404, 405, 409, 413, 415, 422})
_HINTS = {
    401: f"call 127.0.0.1 as the user who started the service, or set {TOKEN_VARIABLE}",
    403: "the call is not allowed for these credentials, or there is no such path",
    404: "there is no such path",
    413: "the request is too long",
    429: "too many calls at once",
    502: "the service failed",
    504: "the service took too long",
}


class ServiceError(PlimsollError):
    """The service refused a request, or failed.

    Attributes:
        status: The HTTP status.
        kind: The type in the problem document; None if there was no such document.
    """

    def __init__(self, status: int, text: str, kind: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.kind = kind

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        """2 if the input is at fault, else 1."""
        return 2 if self.status in _INPUT and self.kind != LIMIT_REACHED else 1


def parse_refusal(status: int, body: bytes) -> ServiceError:
    """Parse an error response.

    Args:
        status: The HTTP status, 400 or above.
        body: The body: a problem document, API Gateway's `{"message": ...}`, or something else.
    """
    try:
        document = parse_foreign_json(body)
    except ValueError:
        document = {}
    if not isinstance(document, dict):
        document = {}
    if "detail" not in document:
        said = document.get("message") or body.decode(errors="replace").strip()
        message = escape_controls(str(said)[:SHOWN_MOST])
        hint = _HINTS.get(status, "the service failed" if status >= 500 else "refused")
        return ServiceError(status, f"{status}: {hint}" + (f" ({message})" if message else ""))
    errors = document.get("errors")
    lines = [
        _describe_field_error(error)
        for error in (errors if isinstance(errors, list) else ())
        if isinstance(error, dict)
    ] or [str(document["detail"])]
    kind = str(document.get("type", "")).rpartition(":")[2] or None
    if status >= 500 and kind != DRAINING:
        lines.append(f"in the deployment's logs: request {document.get('request_id')}")
    return ServiceError(status, "\n".join(lines), kind)


def _describe_field_error(error: Mapping[str, Any]) -> str:
    """Describe a wrong field, and the allowed values unless the sentence names all of them."""
    detail, allowed = str(error.get("detail")), error.get("allowed")
    names = [str(each) for each in allowed] if isinstance(allowed, list) else []
    named = all(each in detail for each in names)
    listed = "" if named else f" (allowed: {', '.join(names)})"
    return f"{error.get('field')}: {detail}{listed}"
