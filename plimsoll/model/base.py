"""The base of every model: strict, frozen, and closed to unknown fields."""

from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

_NUMBERS = ("int", "float", "bool")
_AS_THEY_ARE = {"default", "keys_schema"}  # names in JSON are text, numbers among them


class Model(BaseModel):
    """A value that says exactly what it holds: unknown fields are refused by name.

    A number is a finite number, and neither text nor true; true is not 1. Only a model of what is
    text throughout (`numbers_as_text`) reads numbers from it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make what pydantic would: with numbers that are not made of something else."""
        schema = handler(source)
        return schema if cls.numbers_as_text() else _strict(schema)

    @classmethod
    def numbers_as_text(cls) -> bool:
        """Whether numbers come as text: environment variables have nothing else."""
        return False


def _strict(schema: Any) -> Any:
    """Have each number and each truth value of a schema be strict, at any depth."""
    if isinstance(schema, dict):
        made = {key: part if key in _AS_THEY_ARE else _strict(part) for key, part in schema.items()}
        return {**made, "strict": True} if made.get("type") in _NUMBERS else made
    if isinstance(schema, list | tuple):
        return type(schema)(map(_strict, schema))
    return schema
