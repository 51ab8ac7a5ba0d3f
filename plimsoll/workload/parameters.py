"""Parameters that a user may set, and the references to them in a document."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from plimsoll.complaints import Complaint, Range, Scalar, complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import Consistency
from plimsoll.workload.declared import (
    Bounds,
    Declared,
    Given,
    Listed,
    Name,
    Text,
    build_workload_error,
    locate_errors,
)
from plimsoll.workload.distributions import read_distribution

_REFERENCE = re.compile(
    r"\$(?P<name>[a-z][a-z0-9_]*)(?: (?P<operator>[-+*/]) (?P<number>\d{1,12}))?"
)
# The fields whose text is an expression; references stand within it
EXPRESSIONS = frozenset({"expr", "if"})
_WITHIN = re.compile(r"\$(?P<name>[a-z][a-z0-9_]*)")
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
}


class Parameter(Declared):
    """A parameter of a workload: a number, a word, a distribution ..."""

    about: Text
    default: Scalar
    range: Given[Bounds[Annotated[int, Field(ge=-(2**53), le=2**53)]]] = None
    words: Given[Listed[Text]] = None
    kind: Given[Literal["distribution", "consistency"]] = None

    @property
    def takes(self) -> str:
        """The kind of value: `number`, `distribution`, `consistency` (CQL only) or `word`."""
        return self.kind or ("word" if self.range is None else "number")

    @property
    def allowed(self) -> tuple[int | str, ...]:
        """The lowest and highest number, or the allowed words; empty for a distribution."""
        levels = get_args(Consistency) if self.kind == "consistency" else ()
        return self.range or self.words or levels

    @model_validator(mode="after")
    def _says_what_it_takes(self) -> Self:
        if [self.range, self.words, self.kind].count(None) != 2:
            raise build_workload_error("needs one of 'range', 'words' and 'kind'")
        with locate_errors("default"):
            self.check(self.default)
        return self

    def check(self, value: Scalar) -> Scalar:
        """Check a value, and return it in the form that is used.

        Raises:
            WorkloadError: The value is not allowed.
        """
        if self.range is not None:
            low, high = self.range
            text = str(value)
            number = int(text) if text.removeprefix("-").isdecimal() else None
            if number is None or not low <= number <= high:
                problem = f"must be a whole number from {low} to {high}, not {value!r}"
                raise WorkloadError(Complaint((), problem, value, Range(low, high), listed=False))
            return number
        if not isinstance(value, str):
            raise build_workload_error(f"must be text, not {value!r}", value=value)
        if self.kind == "distribution":
            read_distribution(value)
        elif value not in self.allowed:
            raise WorkloadError(
                complain_of_unknown("choice", value, map(str, self.allowed), value=value)
            )
        return value


def _check_parameter_name(name: str) -> str:
    if name == "records" or not name.islower():
        raise build_workload_error("a parameter's name is in lower case, and not 'records'")
    return name


Parameters = dict[Annotated[Name, AfterValidator(_check_parameter_name)], Parameter]


def substitute(value: Any, parameters: Mapping[str, Scalar]) -> Any:
    """Replace each `$name`, `$name + 1`, `$name * 3` ... in a part of a document.

    Raises:
        WorkloadError: The parameter is unknown, or arithmetic is applied to something not an
            integer.
    """
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        replaced = {}
        for name, part in parts:
            with locate_errors(name):
                if name in EXPRESSIONS and isinstance(part, str):
                    replaced[name] = _WITHIN.sub(
                        lambda found: str(_replace_reference(found, parameters, whole=False)), part
                    )
                else:
                    replaced[name] = substitute(part, parameters)
        return replaced if isinstance(value, dict) else list(replaced.values())
    reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return _replace_reference(reference, parameters) if reference else value


def find_references(value: Any) -> set[str]:
    """Return the names of the parameters that a part of a document refers to."""
    if isinstance(value, dict | list):
        if isinstance(value, list):
            return set().union(*map(find_references, value))
        within = (
            {found["name"] for found in _WITHIN.finditer(part)}
            if name in EXPRESSIONS and isinstance(part, str)
            else find_references(part)
            for name, part in value.items()
        )
        return set().union(*within)
    reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return {reference["name"]} if reference else set()


def _replace_reference(
    reference: re.Match[str], parameters: Mapping[str, Scalar], *, whole: bool = True
) -> Scalar:
    name = reference["name"]
    if name not in parameters:
        known = [f"${parameter}" for parameter in parameters]
        raise WorkloadError(complain_of_unknown("parameter", f"${name}", known, value=reference[0]))
    value = parameters[name]
    if not whole and (not isinstance(value, int) or isinstance(value, bool)):
        raise build_workload_error(f"an expression has whole numbers alone: ${name} is {value!r}")
    if not whole or not reference["operator"]:
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise build_workload_error(f"arithmetic needs a whole number: ${name} is {value!r}")
    number = int(reference["number"])
    if reference["operator"] == "/" and number == 0:
        raise build_workload_error("divides by zero")
    return _OPERATORS[reference["operator"]](value, number)
