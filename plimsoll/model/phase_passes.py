"""The passes of a request's phases, in their order. Pure.

The loads of a phase take turns, so that what changes meanwhile (caches that fill, tables that grow)
is not mistaken for an effect of the load. Each pass is a slice of its own: new rows have numbers of
their own, and sequences go on where the pass before has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.model.engine import EngineOperation
from plimsoll.model.phase_request import Completion, Phase, phase_steps


@dataclass(frozen=True)
class Pass:
    """One pass.

    Attributes:
        index: Number of its step in the run, from 1.
        phase: Whose.
        asked: What that is to complete.
        number: Of the phase's passes, from 0.
        connections: Of all clients together.
    """

    index: int
    phase: Phase
    asked: Completion
    number: int
    connections: int

    @property
    def clients(self) -> int:
        """A client for every so many connections."""
        return -(-self.connections // self.asked.connections_per_client)


def numbered(phases: tuple[Phase, ...]) -> list[tuple[Phase, int]]:
    """Give each phase with how many numbers of steps are kept for those before it."""
    return [(phase, phase_steps(phases[:place])) for place, phase in enumerate(phases)]


def passes(phases: tuple[Phase, ...]) -> list[Pass]:
    """List every pass of phases, in order; one with a search has none."""
    return [
        Pass(first + number + 1, phase, asked, number, connections)
        for phase, first in numbered(phases)
        if (asked := phase.to_completion) is not None
        for number, connections in enumerate(asked.connections * asked.repetitions)
    ]


def records_of_one(operations: Sequence[EngineOperation]) -> float:
    """Give the records that an operation of a mix counts for, on average."""
    weights = sum(operation.weight for operation in operations)
    return sum(operation.weight * operation.records for operation in operations) / weights
