"""Looking into models: which fields there are at a place that pydantic names."""

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel

from plimsoll.model.base import Model


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Name the models that a field's annotation allows, through unions and containers."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def tag_of(model: type[BaseModel]) -> str | None:
    """Give the value by which a union knows a model: its only literal field's."""
    for field in model.model_fields.values():
        values = get_args(field.annotation)
        if len(values) == 1 and isinstance(values[0], str):
            return values[0]
    return None


def fields_at(
    model: type[Model], location: Sequence[str | int]
) -> tuple[list[str | int], list[str]]:
    """Follow the location of a validation error.

    Pydantic puts the tag of a union's member into a location; here it only chooses the member.

    Returns:
        The location without such tags, and the fields known where it ends.
    """
    names: list[str | int] = []
    models: list[type[BaseModel]] = [model]
    for part in location:
        member = [one for one in models if tag_of(one) == part]
        if member and not any(part in one.model_fields for one in models):
            models = member
            continue
        names.append(part)
        inner = [one.model_fields[part] for one in models if part in one.model_fields]
        if inner:
            models = [found for field in inner for found in models_in(field.annotation)]
    return names, [name for one in models for name in one.model_fields]
