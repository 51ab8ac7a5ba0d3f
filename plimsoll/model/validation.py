"""Turns pydantic's errors into complaints with the field, its value and what is allowed."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from typing import Any

from pydantic import ValidationError, ValidationInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, SchemaValidator
from pydantic_core.core_schema import with_info_plain_validator_function

from plimsoll.complaints import (
    Complaint,
    Range,
    Scalar,
    complain_of_missing,
    complain_of_unknown,
    repeat_value,
)
from plimsoll.errors import UsageError
from plimsoll.model.base import AnyModel, Model
from plimsoll.model.schema import Spot, find_spot
from plimsoll.words import format_count

# Plain words, since pydantic names Python's types
_KINDS = {
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "frozen_set_type": "must be a list",
}
# What is allowed, from the context of pydantic's error
_ALLOWED: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, ...] | Range]] = {
    "string_pattern_mismatch": lambda context: (str(context["pattern"]),),
    "greater_than_equal": lambda context: Range(least=context["ge"]),
    "greater_than": lambda context: Range(least=context["gt"], open=True),
    "less_than_equal": lambda context: Range(most=context["le"]),
    "less_than": lambda context: Range(most=context["lt"], open=True),
    "string_too_short": lambda context: (f"at least {context['min_length']} long",),
    "string_too_long": lambda context: (f"at most {context['max_length']} long",),
    "bool_type": lambda _: ("true", "false"),
    "bool_parsing": lambda _: ("true", "false"),
    "too_short": lambda context: (f"at least {context['min_length']} long",),
    "too_long": lambda context: (f"at most {context['max_length']} long",),
}
_COLLECTIONS = {"list", "tuple", "set", "frozenset", "dict"}
_NO_SCHEMAS = {"metadata", "serialization", "cls", "config", "default"}  # a schema's other parts
# A request of 256 KiB, which anybody may send, has room for 50,000 wrong fields.
COMPLAINTS_MOST = 100
UNKNOWN_MOST = 1_000  # unknown fields of a foreign document, over all of its parts
_FEW_BYTES = 1 << 18  # a document with less text has no room for many unknown fields


def validate(model: type[AnyModel], value: Mapping[str, Any]) -> AnyModel:
    """Validate a value against a model.

    Raises:
        UsageError: The value does not fit; one complaint for each problem.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UsageError(*make_complaints(model, error.errors())) from None


def describe_first_error(
    error: ValidationError, *, within: Sequence[str] = (), whole: str = ""
) -> str:
    """Describe the first of pydantic's errors: `load.warmup_s: Input should be a valid number`.

    Args:
        error: Pydantic's errors.
        within: The path of what was validated, before the error's own.
        whole: The name of what was validated, if the error is not about one of its fields.
    """
    first = error.errors()[0]
    where = ".".join(map(str, (*within, *first["loc"]))) or whole
    return f"{where}: {first['msg']}" if where else first["msg"]


def read_foreign_json(model: type[AnyModel], raw: bytes) -> AnyModel:
    """Read JSON that somebody else wrote into a model.

    Raises:
        ValidationError: It does not fit. Of each list or mapping, the first wrong entry alone is
            named.
    """
    if len(raw) > _FEW_BYTES:
        _limit_unknown(model, lambda counting, seen: counting.validate_json(raw, context=seen))
    read: AnyModel = _make_hasty_validator(model).validate_json(raw)
    return read


def read_foreign_value(
    model: type[AnyModel], value: object, *, ignores_unknown: bool = False
) -> AnyModel:
    """Read a value of somebody else's JSON into a model, if told so without unknown fields.

    Raises:
        ValidationError: It does not fit. Of each list or mapping, the first wrong entry alone is
            named.
    """
    if not ignores_unknown:
        _limit_unknown(model, lambda counting, seen: counting.validate_python(value, context=seen))
    read: AnyModel = _make_hasty_validator(model).validate_python(
        value, extra="ignore" if ignores_unknown else None
    )
    return read


class _TooManyUnknownError(Exception):
    """A document has more than `UNKNOWN_MOST` unknown fields."""


def _limit_unknown(
    model: type[Model], read: Callable[[SchemaValidator, "count[int]"], object]
) -> None:
    """Read a document once to count its unknown fields; whatever else is wrong is not said.

    Pydantic keeps an error of 1 KiB for each of them, and a field takes seven bytes.

    Raises:
        ValidationError: There are more than `UNKNOWN_MOST`.
    """
    try:
        with suppress(ValidationError):
            read(_make_hasty_validator(model, counts_unknown=True), count(1))
    except _TooManyUnknownError:
        problem = PydanticCustomError("unknown", f"more than {UNKNOWN_MOST:,} fields are unknown")
        told = InitErrorDetails(type=problem, loc=(), input=None)
        raise ValidationError.from_exception_data(model.__name__, [told]) from None


def _count_unknown(name: str, info: "ValidationInfo[count[int]]") -> str:
    if next(info.context) > UNKNOWN_MOST:
        raise _TooManyUnknownError
    return name


@cache
def _make_hasty_validator(model: type[Model], *, counts_unknown: bool = False) -> SchemaValidator:
    """Return a validator that leaves each list and mapping at its first wrong entry.

    Pydantic's own keeps all errors until the end: those of a result of 1 MiB with 300,000 empty
    steps take 1 GiB.

    Args:
        model: The model.
        counts_unknown: Whether unknown fields are allowed and counted, in the validation's context.
    """
    model.model_rebuild()
    schema = _copy_schema(model.__pydantic_core_schema__, {}, counts_unknown=counts_unknown)
    # By default pydantic would take the model's own validator in place of this schema.
    return SchemaValidator(schema, _use_prebuilt=False)


def _copy_schema(part: Any, copies: dict[int, Any], *, counts_unknown: bool) -> Any:
    """Copy a schema, whose parts may refer to each other, with `fail_fast` in each collection."""
    if isinstance(part, list | tuple):
        return type(part)(_copy_schema(one, copies, counts_unknown=counts_unknown) for one in part)
    if not isinstance(part, dict) or id(part) in copies:
        return copies.get(id(part), part)
    copy = copies[id(part)] = {}
    for key, value in part.items():
        known = key in _NO_SCHEMAS
        copy[key] = value if known else _copy_schema(value, copies, counts_unknown=counts_unknown)
    kind = part.get("type")
    if isinstance(kind, str) and kind in _COLLECTIONS:
        copy["fail_fast"] = True
    elif kind == "model-fields" and counts_unknown:
        names = with_info_plain_validator_function(_count_unknown)
        copy |= {"extra_behavior": "allow", "extras_keys_schema": names}
    return copy


def make_complaints(annotation: Any, errors: Sequence[ErrorDetails]) -> list[Complaint]:
    """Turn pydantic's errors into complaints; after `COMPLAINTS_MOST`, only count them.

    Pydantic counts only the valid entries of a list. If some are invalid, it may call the list too
    short as well; that error is left out.

    Args:
        annotation: the model, or other type, that was validated.
        errors: pydantic's errors; their locations begin at `annotation`.
    """
    wrong = [error["loc"] for error in errors]
    complaints: list[Complaint] = []
    for number, error in enumerate(errors):
        place = error["loc"]
        inner = any(len(other) > len(place) and other[: len(place)] == place for other in wrong)
        if error["type"] != "too_short" or not inner:
            complaints += _complain_of_error(find_spot(annotation, place), error)
        left = len(errors) - number - 1
        if left and len(complaints) >= COMPLAINTS_MOST:
            return [*complaints, Complaint((), f"{left:,} more fields are wrong")]
    return complaints


def _complain_of_error(spot: Spot, error: ErrorDetails) -> Sequence[Complaint]:
    context = error.get("ctx", {})
    kind, path, given = error["type"], spot.path, error["input"]
    shown: Scalar = given if isinstance(given, str | int | float) else None
    value = _to_json_value(shown)
    if isinstance(cause := context.get("error"), UsageError):  # raised by our own validator
        return [complaint.within(*path) for complaint in cause.complaints]
    if kind == "value_error":
        return [Complaint(path, str(cause), value)]
    if kind == "extra_forbidden":  # an unknown field may hold a secret: do not repeat its value
        known = {name for model in spot.parents for name in model.model_fields}
        return [complain_of_unknown("field", str(path[-1]), known, path)]
    if kind == "missing":
        return [complain_of_missing(path)]
    if kind in {"union_tag_not_found", "union_tag_invalid"}:
        return [_complain_of_tag(spot, context.get("tag"))]
    problem = error["msg"]
    if kind in _KINDS:
        problem = _KINDS[kind]
    elif kind == "too_short":
        problem = f"needs at least {format_count(context['min_length'], 'entry', 'entries')}"
    if shown is not None:
        problem = f"{problem}, not {repeat_value(shown)}"
    problem = problem[:1].lower() + problem[1:]
    allowed: tuple[str, ...] | Range | None = spot.choices or None
    if kind not in {"literal_error", "enum"}:
        allowed = _ALLOWED[kind](context) if kind in _ALLOWED else None
    return [Complaint(path, problem, value, allowed, listed=False)]


def _to_json_value(value: Scalar) -> Scalar:
    """Return None for what JSON cannot express: infinity and NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _complain_of_tag(spot: Spot, tag: object) -> Complaint:
    """Complain about a tag field that is missing or matches no member of a union."""
    fields, values = zip(*spot.tags, strict=True)
    path = (*spot.path, fields[0])
    if tag is None:
        return complain_of_missing(path)
    *others, last = map(repr, values)
    problem = f"input should be {', '.join(others)} or {last}, not {repeat_value(tag)}"
    return Complaint(path, problem, str(tag), values, listed=False)
