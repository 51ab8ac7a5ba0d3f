"""Windows too short for what comes in waves: some within a limit, others of that load far beyond.

Who changes a page that is being written back waits for its batch, so that a high percentile may be
7 ms in one window and 58 ms in the next, at the same load. What is then said of that load depends
on which windows it got. Halves of one window (`steadiness`) do not show that; windows of one load
do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.assess import Assessed
from plimsoll.model.capacity import Axis, Rules

APART = 3.0  # times: the longest latency over the shortest, beyond what noise does to a percentile
MINORITY_LEAST = 0.25  # of the windows: fewer on one side are bad windows, or lucky ones


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An operation that was within its limit in some windows of a load and far beyond in others."""

    load: float
    operation: str
    limit_us: float
    latencies_us: tuple[float, ...]  # of each window that counts, in rising order

    @property
    def beyond(self) -> int:
        """How many windows were beyond the limit."""
        return sum(us > self.limit_us for us in self.latencies_us)

    @property
    def apart(self) -> float:
        """The longest latency over the shortest."""
        return self.latencies_us[-1] / self.latencies_us[0]


def waves(
    judged: Sequence[Assessed],
    limit_us: Mapping[str, float],
    failing: float | None,
    rules: Rules,
    axis: Axis,
) -> list[str]:
    """Say at which load windows disagree by far; of several, where they do most.

    Args:
        judged: Every load.
        limit_us: The limit of each operation, in microseconds.
        failing: The load that failed, above which nothing counts; None: none did.
        rules: Name the statistic.
        axis: What the load is.
    """
    counts = [load for load in judged if failing is None or load.point.load <= failing]
    found = [each for load in counts for each in _disagreements(load, limit_us)]
    if not found:
        return []
    worst = max(found, key=lambda each: each.apart)
    shortest, longest = (words.latency(worst.latencies_us[end]) for end in (0, -1))
    note = (
        f"at {words.load(worst.load, axis)}, windows are too short for what comes in waves:"
        f" {words.statistic(rules.statistic)} of {worst.operation} was {shortest} in one and"
        f" {longest} in another, beyond its limit of {words.latency(worst.limit_us)} in"
        f" {worst.beyond} of {len(worst.latencies_us)}; longer ones would tell"
    )
    return [note]


def _disagreements(assessed: Assessed, limit_us: Mapping[str, float]) -> Iterator[Disagreement]:
    for operation, limit in limit_us.items():
        windows = (r.figures.latency_us.get(operation) for r in assessed.point.counted)
        latencies = sorted(us for us in windows if us)
        if len(latencies) < 2:
            continue
        each = Disagreement(assessed.point.load, operation, limit, tuple(latencies))
        minority = min(each.beyond, len(latencies) - each.beyond) / len(latencies)
        if each.apart >= APART and minority >= MINORITY_LEAST:
            yield each
