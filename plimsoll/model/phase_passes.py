"""The passes of a request's phases, in their order. Pure.

The loads of a phase take turns, so that what changes meanwhile (caches that fill, tables that grow)
is not mistaken for an effect of the load. Each pass is a slice of its own: new rows have numbers of
their own, and sequences go on where the pass before has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.model.engine import EngineOperation
from plimsoll.model.phase_request import Phase


@dataclass(frozen=True)
class Pass:
    """One pass.

    Attributes:
        index: Number of its step in the run, from 1.
        phase: Whose.
        number: Of the phase's passes, from 0.
        connections: Of all clients together.
    """

    index: int
    phase: Phase
    number: int
    connections: int

    @property
    def clients(self) -> int:
        """A client for every so many connections."""
        return -(-self.connections // self.phase.to_completion.connections_per_client)


def passes(phases: Sequence[Phase]) -> list[Pass]:
    """List every pass of phases, in order."""
    each = [
        (phase, number, connections)
        for phase in phases
        for number, connections in enumerate(
            phase.to_completion.connections * phase.to_completion.repetitions
        )
    ]
    return [Pass(index, *what) for index, what in enumerate(each, 1)]


def records_of_one(operations: Sequence[EngineOperation]) -> float:
    """Give the records that an operation of a mix counts for, on average."""
    weights = sum(operation.weight for operation in operations)
    return sum(operation.weight * operation.records for operation in operations) / weights
