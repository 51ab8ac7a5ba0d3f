"""Whether the lightest load is light: a relative limit is a multiple of its latency.

Latency at a light load is the time of service alone, so it hardly differs at the next heavier load.
Where it grows from one to the other, callers already wait for each other at the lightest load, and
a limit that is a multiple of its latency depends on where the search happened to begin.
"""

import math
from collections.abc import Sequence

from plimsoll.capacity.assess import Assessed, latency_noise
from plimsoll.model.capacity import Axis, Rules

LIGHT_GROWTH = 0.15  # of the latency from the lightest load to the next: more is more than service


def is_relative(lightest: Assessed, rules: Rules) -> bool:
    """Whether the limit of any of its operations is a multiple of its latency."""
    return any(name not in rules.limits_us for name in lightest.point.figures.latency_us)


def is_known_light(judged: Sequence[Assessed], rules: Rules, axis: Axis) -> bool | None:
    """Whether latency stays as it is from the lightest load to the next heavier one.

    A closed loop with one connection is light whatever comes next: nobody else is there.

    Args:
        judged: every load, lightest first.
        rules: operations with a limit in microseconds are not asked about.
        axis: what the load is.

    Returns:
        None where no heavier load has been measured yet, or the next tells no latency of theirs.
    """
    lightest = judged[0].point
    closed_loop = axis != "rate_ops_per_second"
    if closed_loop and all(r.step.connections == 1 for r in lightest.repetitions):
        return True
    heavier = next((load.point for load in judged[1:] if load.point.consistent), None)
    if heavier is None:
        return None
    counts = (max(1, len(lightest.counted)), max(1, len(heavier.counted)))
    by_chance = latency_noise(judged) * math.sqrt(sum(1 / count for count in counts))
    before, after = lightest.figures.latency_us, heavier.figures.latency_us
    names = [name for name in before if name in after and name not in rules.limits_us]
    growths = [math.log(after[n] / before[n]) for n in names if before[n] > 0 and after[n] > 0]
    if not growths:
        return None
    return all(growth <= math.log1p(LIGHT_GROWTH) + by_chance for growth in growths)
