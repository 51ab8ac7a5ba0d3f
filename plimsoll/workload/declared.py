"""Helpers to read the parts of a workload's document: strict models, read one by one."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from plimsoll.complaints import Complaint, Scalar, complain_of_unknown
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.base import Model
from plimsoll.model.validation import make_complaints


class Declared(Model):
    """A part of a document. Types are strict: text is never taken for a number, nor vice versa."""

    model_config = ConfigDict(strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _fields_are_known(cls, value: Any) -> Any:
        """Report an unknown field first: it may be the misspelled name of a missing one."""
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in value if isinstance(value, dict) else ():
            if name not in known:
                raise WorkloadError(complain_of_unknown("field", name, known, (name,)))
        return value


T = TypeVar("T")
AnyDeclared = TypeVar("AnyDeclared", bound=Declared)


def read_part(part: type[AnyDeclared], value: Any, scope: object = None) -> AnyDeclared:
    """Read a part of a document.

    Args:
        part: The model of the part.
        value: The value in the document.
        scope: What the part may refer to; validators find it in their context.

    Raises:
        WorkloadError: It is not valid. If there are several reasons, one is named; a missing field
            comes before a wrong value.
    """
    try:
        return part.model_validate(value, context=scope)
    except ValidationError as error:
        complaints = make_complaints(part, error.errors())
        lacking = [complaint for complaint in complaints if complaint.absent]
        raise WorkloadError([*lacking, *complaints][0]) from None


def build_workload_error(problem: str, *path: str | int, value: Scalar = None) -> WorkloadError:
    """Return the error that describes a problem with the field at a path."""
    return WorkloadError(Complaint(path, problem, value))


@contextmanager
def locate_errors(*path: str | int) -> Iterator[None]:
    """Add a path to the errors that the block raises."""
    try:
        yield
    except UsageError as error:
        raise error.within(*path) from None


@dataclass(frozen=True)
class ReadBy:
    """Marks a field that a function reads; it gets the value and the scope.

    Otherwise pydantic would build a schema of the type for each such field and never use it.
    """

    function: Callable[[Any, Any], Any]

    def __get_pydantic_core_schema__(self, *_: Any) -> CoreSchema:
        """Call only the function."""
        return core_schema.with_info_plain_validator_function(
            lambda value, info: self.function(value, info.context)
        )


def check_in_scope(check: Callable[[Any, Any], Any]) -> AfterValidator:
    """Return a validator that calls a function with the value and the scope."""
    return AfterValidator(lambda value, info: check(value, info.context))


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise build_workload_error("must not be empty")
    return value


def _refuse_blank(text: str) -> str:
    if not text.strip():
        raise build_workload_error("must not be empty", value=text)
    return text


def _check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,55}", name):
        raise build_workload_error(
            "a name has letters, digits and _, up to 56, and no digit first; a table or column of"
            " another name can be read through a view"
        )
    return name


def _check_bounds(bounds: tuple[int, ...]) -> tuple[int, ...]:
    if len(bounds) != 2:
        raise build_workload_error("must be [lowest, highest]")
    if bounds[0] > bounds[1]:
        raise build_workload_error(f"the lowest, {bounds[0]}, is above the highest, {bounds[1]}")
    return bounds


# None if the field is missing; an explicit null is an error
Given = Annotated[T | None, BeforeValidator(_refuse_null)]
Listed = Annotated[tuple[T, ...], Field(strict=False)]  # accepts YAML's lists
Text = Annotated[str, AfterValidator(_refuse_blank)]
Name = Annotated[str, AfterValidator(_check_name)]  # name of a table, a column, a parameter ...
Bounds = Annotated[Listed[T], AfterValidator(_check_bounds)]  # [lowest, highest]
