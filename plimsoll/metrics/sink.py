"""The interface of a metrics sink, to which points in time are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

FieldValue = int | float


@dataclass(frozen=True, slots=True)
class Point:
    """Figures measured at one moment. A figure that was not measured is missing, never 0."""

    measurement: str
    epoch_ms: int
    fields: Mapping[str, FieldValue]
    tags: Mapping[str, str] = field(default_factory=dict)


class Sink(Protocol):
    """A database for metrics."""

    name: str
    batch_points: int  # largest number of points for one `write`

    def write(self, points: Sequence[Point]) -> None:
        """Write points. Writing the same points again leaves one copy.

        Raises:
            SinkError: The points were not accepted, even after retries.
        """
