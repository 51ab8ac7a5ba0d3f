"""What a metrics sink is: something that points in time are written to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

FieldValue = int | float


@dataclass(frozen=True, slots=True)
class Point:
    """Figures measured at one moment. A figure that was not measured is left out, never 0."""

    measurement: str
    epoch_ms: int
    fields: Mapping[str, FieldValue]
    tags: Mapping[str, str] = field(default_factory=dict)


class Sink(Protocol):
    """A database for metrics."""

    name: str
    batch_points: int  # the most that one `write` should be given

    def write(self, points: Sequence[Point]) -> None:
        """Write points. Written again, the same points leave one copy.

        Raises:
            SinkError: They were not taken, retries included.
        """
