"""The phases of a run as figures that can be compared with those of another run. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.phase_result import PhaseResult
from plimsoll.model.results import RunResult
from plimsoll.report.ratios import repetitions_of

ITS_SEARCH = "its search"  # of a phase, beside its loads to completion


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
        name: figures
        for phase in (result.phases if result else ())
        for name, figures in _of_phase(phase)
    }


def _of_phase(phase: PhaseResult) -> Iterator[tuple[str, Figures]]:
    for load in phase.loads:
        name = f"{phase.name}, {words.load(load.connections, 'connections')}"
        yield name, Figures(values=load.measured, limit=load.limit)
    if phase.capacity is not None:
        exact = phase.capacity.bound == "="
        values = tuple(repetitions_of(phase.capacity)) if exact else ()
        yield f"{phase.name}, {ITS_SEARCH}", Figures(values=values, limit=phase.limit)
