"""How what an operation takes changes with the load: group commit, coalesced pages, fewer wakings.

Commits that come together share a flush of the log, and a page that is changed twice before it is
written is written once. So an operation takes less the more of them are under way, or as much. A
line through the logarithms (least squares) says how; where it rises, that is taken for scatter.
Outside of the loads that were measured nothing is counted on: that it goes on falling is held
possible up to `BEYOND` times the heaviest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from plimsoll.capacity.intervals import t_quantile
from plimsoll.sizing.guess import FEW_SPREAD, LEAST_SPREAD, Guess

BEYOND = 4.0  # times the heaviest load that was measured: so far it may go on falling


@dataclass(frozen=True)
class Trend:
    """What an operation takes, by the number of operations under way.

    Attributes:
        slope: Of the logarithm over the logarithm of the load; never above 0.
        middle: Of the logarithms of the loads, and of what was taken there.
        spread: Of the fitted value, as a share of it: its 90 % interval, and 5 % at least.
        least_load: The lightest load that was measured.
        most_load: The heaviest.
    """

    slope: float
    middle: tuple[float, float]
    spread: float
    least_load: float
    most_load: float

    def at(self, load: float) -> Guess:
        """Give what an operation takes under a load, or under the nearest that was measured."""
        value = self._fitted(min(max(load, self.least_load), self.most_load))
        least = self._fitted(min(max(load, self.least_load), BEYOND * self.most_load))
        return Guess(low=least / (1 + self.spread), mid=value, high=value * (1 + self.spread))

    def _fitted(self, load: float) -> float:
        return math.exp(self.middle[1] + self.slope * (math.log(load) - self.middle[0]))


def trend(points: Sequence[tuple[float, float]]) -> Trend | None:
    """Fit observations of (operations under way, what each took); None where none is above 0."""
    seen = [(math.log(load), math.log(taken)) for load, taken in points if load > 0 and taken > 0]
    if not seen:
        return None
    middle = fmean(x for x, _ in seen), fmean(y for _, y in seen)
    around = [(x - middle[0], y - middle[1]) for x, y in seen]
    squares = math.fsum(x * x for x, _ in around)
    slope = min(0.0, math.fsum(x * y for x, y in around) / squares) if squares > 1e-9 else 0.0
    degrees = len(seen) - (2 if squares > 1e-9 else 1)
    spread = FEW_SPREAD
    if degrees > 0:
        left = math.sqrt(math.fsum((y - slope * x) ** 2 for x, y in around) / degrees)
        spread = max(LEAST_SPREAD, t_quantile(0.05, degrees) * left / math.sqrt(len(seen)))
    loads = [math.exp(x) for x, _ in seen]
    return Trend(slope, middle, spread, min(loads), max(loads))
