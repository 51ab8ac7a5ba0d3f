"""What the phases of a run came to: a part of `result.json`."""

from statistics import geometric_mean

from plimsoll.model.base import Model
from plimsoll.model.capacity import Resource


class PhaseLoad(Model):
    """The passes of a phase at one load, each from its first record to its last."""

    connections: int  # of all clients together
    clients: int
    steps: tuple[int, ...]  # their numbers: steps/<n>/step.json
    records_per_second: tuple[float | None, ...]  # of each pass; None: it says nothing
    low_records_per_second: float | None  # of the 95 % interval; None: too few passes
    high_records_per_second: float | None
    unfinished: int  # passes that ended by time: their rate is of what they got done
    errors: int  # operations that failed; they are no records
    resource: Resource | None  # at its limit, or nearest to it; None: not known
    reached: bool  # whether it was at its limit; False: the clients did not push harder
    limit: str | None  # the same, as a part of a sentence

    @property
    def measured(self) -> tuple[float, ...]:
        """The passes that say something."""
        return tuple(rate for rate in self.records_per_second if rate)

    @property
    def middle_records_per_second(self) -> float | None:
        """Their geometric mean."""
        return geometric_mean(self.measured) if self.measured else None


class PhaseResult(Model):
    """A phase: how many records it gets done in a second, pushed more and more."""

    name: str
    workload: str
    records: int  # of one pass
    loads: tuple[PhaseLoad, ...]  # fewer than asked for where the run ended early
    sentence: str
