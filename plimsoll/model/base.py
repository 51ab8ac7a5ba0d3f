"""The base class of all models: immutable, strict about types, closed to unknown fields."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

_NUMBERS = ("int", "float", "bool")
# The keys of a JSON object are text, even if they are numbers.
_AS_THEY_ARE = {"default", "keys_schema"}


class Model(BaseModel):
    """A model that refuses unknown fields, naming each one.

    A number must be a finite number; text and `true` are refused. Only a model whose input is all
    text (`numbers_as_text`) accepts numbers as text.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return pydantic's schema with strict numbers, unless the input is all text."""
        schema = handler(source)
        return schema if cls.numbers_as_text() else _make_strict(schema)

    @classmethod
    def numbers_as_text(cls) -> bool:
        """Return whether numbers arrive as text, as in environment variables."""
        return False


def _make_strict(schema: Any) -> Any:
    """Make every number and boolean in a schema strict, at any depth."""
    if isinstance(schema, dict):
        made = {
            key: part if key in _AS_THEY_ARE else _make_strict(part) for key, part in schema.items()
        }
        return {**made, "strict": True} if made.get("type") in _NUMBERS else made
    if isinstance(schema, list | tuple):
        return type(schema)(map(_make_strict, schema))
    return schema


AnyModel = TypeVar("AnyModel", bound=Model)
