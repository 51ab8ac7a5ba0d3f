"""The ratio of two states of one target that took turns. Pure.

Two measurements next to each other in time share what drifts: a neighbor's load, a volume's mood, a
dataset that grows. In the ratio of a pair it cancels out, so pairs tell apart what two groups of
measurements could not ("duet" benchmarking: Bulej and others 2020, "Duet Benchmarking: Improving
Measurement Accuracy in the Cloud"). The ratio is the geometric mean of the pairs' ratios. Its 95 %
interval is Student's t (1908) on their logarithms, since rates scatter in proportion.
`tests/unit/capacity/test_pairs.py` shows what is covered, and how much narrower it is than Welch's.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from plimsoll.capacity.intervals import student_on_logarithms
from plimsoll.model.paired import PairedRatio

PAIRS_MIN = 3  # of two the interval would reach from a third of the ratio to three times it
METHOD = "Student's t on the logarithms of the pairs' ratios"
Measured = TypeVar("Measured")
State = TypeVar("State", bound=str)


def neighbors(
    measured: Sequence[Measured], state: Callable[[Measured], object]
) -> tuple[list[tuple[Measured, Measured]], Measured | None]:
    """Pair what was measured next to each other in different states.

    An audit may dispute a step once its target's metrics are there, when the pairs after it have
    been measured: those stay pairs.

    Args:
        measured: In the order of time.
        state: Gives the state in which each was measured.

    Returns:
        The pairs, in the order of time, and the last one where it waits for its partner.
    """
    pairs: list[tuple[Measured, Measured]] = []
    waiting: Measured | None = None
    for one in measured:
        if waiting is None or state(one) == state(waiting):
            waiting = one
        else:
            pairs.append((waiting, one))
            waiting = None
    return pairs, waiting


def next_state(states: tuple[State, State], pairs: int, waiting: State | None) -> State:
    """Say in which state to measure next: A B, B A, A B ...

    Args:
        states: A and B.
        pairs: How many are whole.
        waiting: The state of what waits for its partner; None: nothing does.
    """
    return states[pairs % 2] if waiting is None else states[1 - states.index(waiting)]


def paired_ratio(pairs: Sequence[tuple[float, float]]) -> PairedRatio:
    """Divide the second of each pair by the first.

    Args:
        pairs: Two measurements each that lie next to each other in time, in one unit.

    Returns:
        Without a ratio where there is no pair, or one holds a value that is not positive and
        finite: leaving such a pair out would favor the other state.
    """
    values = [value for pair in pairs for value in pair]
    if not values or not all(0 < value < math.inf for value in values):
        return PairedRatio(ratio=None, low=None, high=None, pairs=len(pairs))
    middle, low, high = student_on_logarithms([second / first for first, second in pairs])
    if len(pairs) < PAIRS_MIN:
        return PairedRatio(ratio=middle, low=None, high=None, pairs=len(pairs))
    return PairedRatio(ratio=middle, low=low, high=high, pairs=len(pairs))
