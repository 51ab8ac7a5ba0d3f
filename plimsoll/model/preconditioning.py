"""The unmeasured load before a search, in rounds: what was seen of it, and whether it settled."""

from plimsoll.model.base import Model
from plimsoll.model.steps import Trend


class Round(Model):
    """One round of it."""

    number: int
    duration_s: float
    throughput_ops_per_second: float | None
    ios_per_operation: float | None  # as the server counts them; None: it does not tell all
    trend: Trend | None  # of the throughput, from second to second


class Preconditioning(Model):
    """All rounds: `prepare/preconditioning.json`."""

    rounds: tuple[Round, ...]
    settled: bool  # in the last round
    text: str  # for people: for how long, and what had settled or had not

    @property
    def duration_s(self) -> float:
        """Seconds of load in all."""
        return sum(each.duration_s for each in self.rounds)
