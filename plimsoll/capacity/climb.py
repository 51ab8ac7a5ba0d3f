"""Up the loads: the first that fails, or the second in a row that gains nothing, decides.

Heavier loads than the deciding one change nothing: a step that passes above a failed one was lucky
or came after a recovery, and a user who trusted it would cross the failed load on the way. But a
failure has to be seen twice, three times where two heavier loads passed: until then a search asks
again (`Climb.believed`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import median

from plimsoll.capacity.assess import Assessed
from plimsoll.model.capacity import Rules

SEEN_OFTEN = 3  # repetitions of a load from which more clients are said to have brought less
PLATEAU_NEAR = 0.02  # of a plateau's throughput: a load so near to it is part of it
PLATEAU_KEPT = 0.10  # ... and stays so while its own repetitions move it, once these have begun


@dataclass(frozen=True, slots=True)
class Climb:
    """The loads that were met on the way up."""

    passing: tuple[Assessed, ...]
    failing: Assessed | None  # the first load that fails
    plateau: tuple[Assessed, Assessed] | None  # two in a row that gained next to nothing
    skipped: tuple[Assessed, ...]  # disputed or doubtful loads below the one that decided
    believed: bool = True  # the failure was seen as often as it takes
    seen: int = 0  # how often: there, and at the loads just below it that failed as often as not
    flattens: bool = False  # nothing ended the climb, but its last load gained next to nothing
    level_ops_per_second: float = 0.0  # the most throughput seen from a plateau's first load on up

    @property
    def decider(self) -> Assessed | None:
        """The load that ended the climb."""
        return self.failing or (self.plateau[1] if self.plateau else None)

    def lightest_of_plateau(self) -> Assessed:
        """The lightest load with the plateau's throughput: beyond it, only latency grows.

        Two loads in a row have to gain nothing, each more than the one before: the first of them
        may have nothing over a lighter load that was still a gain over its own predecessor.
        """
        assert self.plateau is not None  # noqa: S101 - the caller has checked it
        slow = self.plateau[0]

        def belongs(load: Assessed) -> bool:
            share = PLATEAU_KEPT if load.being_confirmed else PLATEAU_NEAR
            return load.point.figures.throughput >= (1 - share) * self.level_ops_per_second

        lighter = (load for load in self.passing if load.point.load < slow.point.load)
        return next((load for load in lighter if belongs(load)), slow)

    def before_it_fell(self) -> Assessed | None:
        """The load that gave the most, where the heaviest that passed gave less.

        More clients can bring less, though latency is within its limit still. A load seen once is
        not taken for it: of many, one is always lucky.
        """
        gave = [(median(load.throughputs), load) for load in self.passing if load.throughputs]
        least = (1 + PLATEAU_NEAR) * gave[-1][0] if gave else 0.0
        more = [(x, load) for x, load in gave if x > least and len(load.throughputs) >= SEEN_OFTEN]
        return max(more, key=lambda one: one[0])[1] if more else None


def climb(judged: Sequence[Assessed], rules: Rules, *, closed_loop: bool) -> Climb:
    """Go up the loads until one fails or throughput stops growing (closed loop)."""
    passing: list[Assessed] = []
    skipped: list[Assessed] = []
    slow: Assessed | None = None  # the load before, if it gained next to nothing
    for place, assessed in enumerate(judged, 1):
        if assessed.failed:
            above = sum(heavier.passed for heavier in judged[place:])
            times = assessed.fails + _just_below(passing)
            believed = rules.confirmation is None or times >= (3 if above > 1 else 2)
            return Climb(tuple(passing), assessed, None, tuple(skipped), believed, times)
        if not assessed.passed:
            skipped.append(assessed)
            continue
        if closed_loop and passing:
            gains_little = _gains_little(passing[0], passing[-1], assessed, rules.plateau_share)
            if gains_little and slow is not None:
                seen = (slow, *judged[place - 1 :])  # those above, too, that fail
                level = max(load.point.figures.throughput for load in seen if load.point.consistent)
                upper = (slow, assessed)
                return Climb(
                    (*passing, assessed), None, upper, tuple(skipped), level_ops_per_second=level
                )
            slow = assessed if gains_little else None
        passing.append(assessed)
    return Climb(tuple(passing), None, None, tuple(skipped), flattens=slow is not None)


def _just_below(passing: Sequence[Assessed]) -> int:
    """Failures at the heaviest loads so far, as far down as no load passed more than it failed."""
    undecided = takewhile(lambda load: load.fails >= load.passes, reversed(passing))
    return sum(load.fails for load in undecided)


def _gains_little(first: Assessed, before: Assessed, after: Assessed, share: float) -> bool:
    """Whether each unit of load added brought less than a share of what one of the first did."""
    per_unit = first.point.figures.throughput / first.point.load
    gain = after.point.figures.throughput - before.point.figures.throughput
    return gain < share * per_unit * (after.point.load - before.point.load)
