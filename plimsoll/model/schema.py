"""Finds the field, key or list entry of a model that a pydantic error location names."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from plimsoll.complaints import FieldPath


@dataclass(frozen=True)
class Spot:
    """A place in a model.

    Attributes:
        path: Names of fields and keys, and indexes, that lead to it.
        kinds: Types that the place may have; empty if the model has no such field.
        parents: Models of which it is a field.
    """

    path: FieldPath
    kinds: tuple[Any, ...]
    parents: tuple[type[BaseModel], ...]

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have, where its type lists them."""
        return tuple(str(value) for kind in self.kinds for value in _list_allowed_values(kind))

    @property
    def tags(self) -> tuple[tuple[str, str], ...]:
        """The tag field and its value, for each model that a union selects by a tag."""
        return tuple(
            tag for model in _select_models(self.kinds) if (tag := find_tag(model)) is not None
        )


def find_tag(model: type[BaseModel]) -> tuple[str, str] | None:
    """Return the tag field of a model in a union, and its value: the first single literal."""
    for name, field in model.model_fields.items():
        values = get_args(field.annotation)
        if get_origin(field.annotation) is Literal and len(values) == 1:
            return name, str(values[0])
    return None


def find_spot(annotation: Any, location: Sequence[str | int]) -> Spot:
    """Resolve the location of a validation error to a place in a model.

    Pydantic adds marks to a location that are no part of the path: the tag or type of the union
    member that it tried, and `[key]` after the key of a mapping. The marks only select the member.

    Args:
        annotation: Model or other type at which the location begins.
        location: Names, indexes and marks; the last name may be unknown to every model.
    """
    path: list[str | int] = []
    kinds = _union_members(annotation)
    parents: tuple[type[BaseModel], ...] = ()
    for number, part in enumerate(location):
        if part == "[key]":
            continue
        inside = tuple(inner for kind in kinds for inner in _inner_types(kind, part))
        if inside:
            path.append(part)
            parents, kinds = _select_models(kinds), inside
        elif chosen := tuple(
            kind for kind in _select_models(kinds) if part in (find_tag(kind) or ())[1:]
        ):
            kinds = chosen
        elif _select_models(kinds) and number == len(location) - 1:
            return Spot((*path, part), (), _select_models(kinds))
    return Spot(tuple(path), kinds, parents)


def _select_models(kinds: Sequence[Any]) -> tuple[type[BaseModel], ...]:
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))


def _union_members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, at any depth, or the type itself."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _union_members(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return tuple(member for part in get_args(annotation) for member in _union_members(part))
    return (annotation,)


def _inner_types(kind: Any, part: str | int) -> tuple[Any, ...]:
    """Return the types of a model's field, a mapping's value or a list's entry."""
    if model := _select_models((kind,)):
        field = model[0].model_fields.get(str(part))
        return () if field is None else _union_members(field.annotation)
    arguments = get_args(kind)
    if get_origin(kind) is dict:
        return _union_members(arguments[1])
    if get_origin(kind) in (tuple, list, frozenset) and isinstance(part, int):
        return _union_members(arguments[0])
    return ()


def _list_allowed_values(kind: Any) -> tuple[Any, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(member.value for member in kind)
    return ()
