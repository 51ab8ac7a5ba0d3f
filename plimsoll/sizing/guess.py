"""A quantity that is not known exactly, as three figures."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.model.base import Model

End = Literal["low", "mid", "high"]
WORSE: dict[End, End] = {"low": "high", "mid": "mid", "high": "low"}
LEAST_SPREAD = 0.05  # a mean of one run, as a share of it: other steps differ by so much at least
RUNS_SPREAD = (
    0.1  # the line of one run, likewise: other runs of the same differ by so much at least
)
FEW_SPREAD = 0.15  # of one or two observations, whose scatter nobody knows


class Guess(Model):
    """What something is held to be, and between what it surely lies."""

    low: Annotated[float, Field(ge=0)]
    mid: Annotated[float, Field(ge=0)]
    high: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.mid <= self.high:
            raise ValueError(f"{self.low}, {self.mid}, {self.high} are not in order")
        return self

    @classmethod
    def sure(cls, value: float) -> Self:
        """Make one of what is known."""
        return cls(low=value, mid=value, high=value)

    @classmethod
    def within(cls, value: float, factor: float) -> Self:
        """Make one of a value that may be so many times smaller or larger."""
        return cls(low=value / factor, mid=value, high=value * factor)

    def at(self, end: End) -> float:
        """Give one of the three."""
        value: float = getattr(self, end)
        return value

    def cost(self, end: End) -> float:
        """Give it as what a load costs: the most of it for the low end of what is predicted."""
        return self.at(WORSE[end])

    def times(self, factor: float) -> "Guess":
        """Multiply it by what is known."""
        return Guess(low=self.low * factor, mid=self.mid * factor, high=self.high * factor)
