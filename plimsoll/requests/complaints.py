"""Checking a request that comes as plain values: every complaint names its field.

Pydantic's own errors are put into sentences that name the value and what is allowed; rules that
need the workload follow.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.request import Request
from plimsoll.model.schema import fields_at
from plimsoll.requests.request_workload import compiled_workload
from plimsoll.workload.items import unknown

_FIELD = re.compile(r"^(?P<path>[a-z_]+(\.[a-z0-9_-]+)*): ")
_ALLOWED = re.compile(r"\(allowed: (?P<names>[^()]*)\)$")
_RANGE = re.compile(r"is not allowed for [^:]*: (?P<range>[^;:]+); the nearest")
_BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_LENGTHS = {"min_length": "at least", "max_length": "at most"}
_MAPPING, _LIST = "must be a mapping", "must be a list"
_KINDS = {  # pydantic names them as Python does
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dict_type": _MAPPING,
    "tuple_type": _LIST,
    "list_type": _LIST,
}
AnyModel = TypeVar("AnyModel", bound=Model)


@dataclass(frozen=True)
class Complaint:
    """One thing that cannot be.

    Attributes:
        names: The way to the field.
        message: What is wrong with it, and what is allowed.
        value: What stands there; None where that is no single value of a known field.
        allowed: What may stand there, as far as that can be listed.
    """

    names: tuple[str | int, ...]
    message: str
    value: str | int | float | None = None
    allowed: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The way to the field in one word: `search.clients[0]`."""
        parts = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in self.names)
        return "".join(parts).removeprefix(".")


class ComplaintsError(UsageError):
    """A request, or an experiment, that cannot be: one line for each complaint."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        kept = tuple(complaints)
        super().__init__("\n".join(f"{'.'.join(map(str, c.names))}: {c.message}" for c in kept))
        self.complaints: tuple[Complaint, ...] = kept  # type: ignore[assignment]

    def __str__(self) -> str:
        """Write a line for each complaint."""
        return str(self.args[0])


def checked(value: Mapping[str, Any]) -> Request:
    """Check a request, its workload too.

    Raises:
        ComplaintsError: Something in it cannot be.
    """
    request = checked_shape(Request, value)
    try:
        operations = {one.name for one in compiled_workload(request).engine.operations}
    except UsageError as error:
        raise ComplaintsError([_of_workload(str(error))]) from None
    for name in request.limits.limits_us:
        if name not in operations:
            names, told = ("limits", "limits_us", name), unknown("operation", name, operations)
            raise ComplaintsError([Complaint(names, told, None, tuple(sorted(operations)))])
    return request


def _of_workload(text: str) -> Complaint:
    """Take apart what is said of a workload: `workload.name: unknown ... (allowed: ...)`."""
    found = _FIELD.match(text)
    if found is None or not text.startswith("workload."):
        return Complaint(("workload",), text)
    message = text[found.end() :]
    return Complaint(tuple(found["path"].split(".")), message, None, listed(message))


def listed(message: str) -> tuple[str, ...]:
    """Find in a sentence what it says is allowed: a list of names, or a range of numbers."""
    if found := _ALLOWED.search(message):
        return () if found["names"] == "none" else tuple(found["names"].split(", "))
    found = _RANGE.search(message)
    return (found["range"],) if found else ()


def checked_shape(model: type[AnyModel], value: Mapping[str, Any]) -> AnyModel:
    """Check a value by its model alone.

    Raises:
        ComplaintsError: It does not fit.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise ComplaintsError([complaint(model, one) for one in _told(error.errors())]) from None


def _told(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out that a list is too short where its entries are what is wrong."""
    within = {one["loc"][:-1] for one in errors}
    return [one for one in errors if one["type"] != "too_short" or one["loc"] not in within]


def complaint(model: type[Model], error: ErrorDetails) -> Complaint:
    """Put one of pydantic's errors into a sentence for people.

    Args:
        model: What was checked.
        error: The error; its location begins in the model.
    """
    message = error["msg"].removeprefix("Value error, ")
    names, known = fields_at(model, [part for part in error["loc"] if part != "[key]"])
    found = _FIELD.match(message)  # a rule of several fields names the one at fault
    if found and found["path"].split(".")[0] in known:
        names = [*names, *found["path"].split(".")]
        message = message[found.end() :]
    if error["type"] == "extra_forbidden":  # whatever stands in an unknown field is not repeated
        told = unknown("field", str(error["loc"][-1]), known)
        return Complaint(tuple(names), told, None, tuple(sorted(known)))
    if error["type"] == "missing":
        return Complaint(tuple(names), f"lacks the field {names[-1]!r}")
    if error["type"] == "union_tag_not_found":
        return Complaint(tuple(names), f"lacks the field {error['ctx']['discriminator']}")
    if error["type"] == "union_tag_invalid":
        names, message = _of_tag(names, error)
        return Complaint(tuple(names), message, error["ctx"]["tag"], _allowed(error))
    if error["type"] in _KINDS:
        message = _KINDS[error["type"]]
    if error["type"] == "too_short":
        least = error["ctx"]["min_length"]
        message = f"needs at least {least} {'entry' if least == 1 else 'entries'}"
    given = error["input"]
    value = given if isinstance(given, str | int | float) else None
    if value is not None and not _says(message, str(value)):
        message = f"{message}, not {value!r}"
    message = message[:1].lower() + message[1:]
    return Complaint(tuple(names), message, value, _allowed(error) or listed(message))


def _says(message: str, value: str) -> bool:
    """Whether a sentence has a value as a word of its own: 10 does not say 1."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", message) is not None


def _of_tag(names: list[str | int], error: ErrorDetails) -> tuple[list[str | int], str]:
    """Say which field chooses among the forms of a value, and what it may be."""
    context = error["ctx"]
    expected = re.findall(r"'([^']*)'", context["expected_tags"])
    field = context["discriminator"].strip("'")
    allowed = " or ".join([", ".join(map(repr, expected[:-1])), repr(expected[-1])])
    return [*names, field], f"input should be {allowed}, not {context['tag']!r}"


def _allowed(error: ErrorDetails) -> tuple[str, ...]:
    """List what pydantic says may stand there."""
    context = error.get("ctx", {})
    for key in ("expected", "expected_tags"):
        if key in context:
            return tuple(re.findall(r"'([^']*)'", str(context[key])))
    if "pattern" in context:
        return (str(context["pattern"]),)
    bounds = [f"{sign} {context[key]}" for key, sign in _BOUNDS.items() if key in context]
    lengths = [f"{word} {context[key]} long" for key, word in _LENGTHS.items() if key in context]
    return (*bounds, *lengths)
