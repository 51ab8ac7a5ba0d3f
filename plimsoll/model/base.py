"""The base of every model: strict, frozen, and closed to unknown fields."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A value that says exactly what it holds: unknown fields are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)
