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
from plimsoll.runs.workloads import compiled_workload
from plimsoll.workload.items import unknown

_FIELD = re.compile(r"^(?P<path>[a-z_]+(\.[a-z0-9_-]+)*): ")
_BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_LENGTHS = {"min_length": "at least", "max_length": "at most"}
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
        self.complaints = tuple(complaints)
        lines = [f"{'.'.join(map(str, c.names))}: {c.message}" for c in self.complaints]
        super().__init__("\n".join(lines))


def checked(value: Mapping[str, Any]) -> Request:
    """Check a request, its workload too.

    Raises:
        ComplaintsError: Something in it cannot be.
    """
    request = checked_shape(Request, value)
    try:
        operations = {one.name for one in compiled_workload(request).engine.operations}
    except UsageError as error:
        message = str(error).removeprefix("workload.")
        raise ComplaintsError([Complaint(("workload",), message)]) from None
    for name in request.limits.limits_us:
        if name not in operations:
            names = ("limits", "limits_us", name)
            raise ComplaintsError([Complaint(names, unknown("operation", name, operations))])
    return request


def checked_shape(model: type[AnyModel], value: Mapping[str, Any]) -> AnyModel:
    """Check a value by its model alone.

    Raises:
        ComplaintsError: It does not fit.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise ComplaintsError([complaint(model, one) for one in error.errors()]) from None


def complaint(model: type[Model], error: ErrorDetails) -> Complaint:
    """Put one of pydantic's errors into a sentence for people.

    Args:
        model: What was checked.
        error: The error; its location begins in the model.
    """
    message = error["msg"].removeprefix("Value error, ")
    names, known = fields_at(model, error["loc"])
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
    given = error["input"]
    value = given if isinstance(given, str | int | float) else None
    if value is not None and str(value) not in message:
        message = f"{message}, not {value!r}"
    message = message[:1].lower() + message[1:]
    return Complaint(tuple(names), message, value, _allowed(error))


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
