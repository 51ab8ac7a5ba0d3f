"""The phases of a run as figures that can be compared with those of another run. Pure."""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.results import RunResult


@dataclass(frozen=True)
class Figures:
    """The repetitions of one load.

    Attributes:
        values: Their throughput, in one unit; empty: there is no exact figure.
        limit: What set the limit, as a part of a sentence; None: not known.
    """

    values: tuple[float, ...]
    limit: str | None


def figures_of(result: RunResult | None) -> dict[str, Figures]:
    """Give each phase at each of its loads by a name for people: `charge, 16 connections`."""
    return {
        f"{phase.name}, {words.load(load.connections, 'connections')}": Figures(
            values=load.measured, limit=load.limit
        )
        for phase in (result.phases if result else ())
        for load in phase.loads
    }
