"""What the phases of a run came to: a part of `result.json`."""

from statistics import geometric_mean

from plimsoll.model.base import Model
from plimsoll.model.capacity import Capacity, Resource


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
    doubt: str | None = None  # which of its passes audits dispute, and why; None: none

    @property
    def measured(self) -> tuple[float, ...]:
        """The passes that say something."""
        return tuple(rate for rate in self.records_per_second if rate)

    @property
    def middle_records_per_second(self) -> float | None:
        """Their geometric mean."""
        return geometric_mean(self.measured) if self.measured else None


class PhaseResult(Model):
    """A phase: how many records it gets done in a second, pushed more and more, or its search."""

    name: str
    workload: str
    records: int | None  # of one pass; None: it has a search
    loads: tuple[PhaseLoad, ...]  # fewer than asked for where the run ended early
    steps: tuple[int, ...] = ()  # of its search
    capacity: Capacity | None = None  # of its search, with the steps so far; None: it has none
    limit: str | None = None  # of that, as a part of a sentence
    sentence: str
