"""Two states measured in turn: which one is next, the pairs, and their ratio in words. Pure.

The two states of a toggle, a load with and without its background, two runs of an experiment that
take turns, and the two databases of `versus` are compared in this way. The two steps of a pair
share whatever drifts, and it cancels in their ratio (randomized multiple interleaved trials, Abedi
and Brecht 2017, "Conducting Repeatable Experiments in Highly Variable Cloud Computing
Environments", ICPE). Within a run each two pairs have both orders (A B, B A), and the request's
seed draws which of them comes first: a steady drift favors either state as often, and nothing
periodic stays in step with the order. Two runs alternate by the clock instead
(`plimsoll.model.request.experiment.Turn`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from plimsoll import words
from plimsoll.capacity.statistics.intervals import compute_geometric_interval
from plimsoll.model.judging.closing import PairedRatio

# With two pairs, the interval would reach from a third of the ratio to three times it
PAIRS_MIN = 3
METHOD = "Student's t on the logarithms of the pairs' ratios"
WORTH_SHARE = 0.10  # a difference that could be larger than this is not reported as "no difference"
Measured = TypeVar("Measured")
State = TypeVar("State")


@dataclass(frozen=True)
class Pairing(Generic[Measured, State]):
    """The pairs of two states that were measured so far.

    Attributes:
        states: the two states; ratios are second / first.
        pairs: pairs in order of time, each with the measurement of the first state first.
        waiting: state of the last measurement if it has no partner yet; else None.
    """

    states: tuple[State, State]
    pairs: Sequence[tuple[Measured, Measured]]
    waiting: State | None

    def next_state(self, begins: State, *, wanted: int, tries_left: int, seed: int) -> State | None:
        """Return the state to measure next; None if the pairs are complete or no try is left.

        Args:
            begins: state with which the first pair begins, unless the seed swaps the first two.
            wanted: number of pairs.
            tries_left: number of measurements that may still be made.
            seed: seed of the order; the same seed gives the same order.
        """
        if len(self.pairs) >= wanted or tries_left <= 0:
            return None
        order = self.states if begins == self.states[0] else self.states[::-1]
        if self.waiting is not None:
            return order[1 - order.index(self.waiting)]
        draws = Random(seed)  # noqa: S311 - an order, no secret
        swapped = [draws.random() >= 0.5 for _ in range(len(self.pairs) // 2 + 1)][-1]
        return order[(len(self.pairs) + swapped) % 2]

    def ratio(self, figure: Callable[[Measured], float]) -> PairedRatio:
        """Return the ratio of a figure in the second state to that in the first."""
        return compute_paired_ratio([(figure(one), figure(other)) for one, other in self.pairs])

    def ratios(self, figures: Callable[[Measured], Mapping[str, float]]) -> dict[str, PairedRatio]:
        """Return the same ratio for each name that the figures of every measurement have."""
        read = [(figures(one), figures(other)) for one, other in self.pairs]
        names = read[0][0] if read else ()
        return {
            name: compute_paired_ratio([(one[name], other[name]) for one, other in read])
            for name in names
            if all(name in one and name in other for one, other in read)
        }


def pair_neighbors(
    measured: Sequence[Measured],
    state: Callable[[Measured], State],
    states: tuple[State, State],
    *,
    near: Callable[[Measured, Measured], bool] = lambda _one, _other: True,
) -> Pairing[Measured, State]:
    """Pair neighboring measurements of different states.

    An audit may dispute a step after the pairs that follow it were measured. Those pairs are kept.

    Args:
        measured: measurements in order of time.
        state: function that returns the state of a measurement.
        states: the two states; ratios are second / first.
        near: function that says whether two measurements are close enough in time for a pair.
    """
    pairs: list[tuple[Measured, Measured]] = []
    waiting: Measured | None = None
    for one in measured:
        if waiting is None or state(one) == state(waiting) or not near(waiting, one):
            waiting = one
        else:
            pairs.append((waiting, one) if state(waiting) == states[0] else (one, waiting))
            waiting = None
    return Pairing(states, pairs, None if waiting is None else state(waiting))


def compute_paired_ratio(pairs: Sequence[tuple[float, float]]) -> PairedRatio:
    """Return the ratio of the second of each pair to the first.

    Args:
        pairs: two measurements each, adjacent in time, in one unit.

    Returns:
        No ratio if there is no pair, or if a value is not positive and finite: leaving out such a
        pair would favor the other state.
    """
    values = [value for pair in pairs for value in pair]
    if not values or not all(0 < value < math.inf for value in values):
        return PairedRatio(ratio=None, low=None, high=None, pairs=len(pairs))
    middle, low, high = compute_geometric_interval([second / first for first, second in pairs])
    if len(pairs) < PAIRS_MIN:
        return PairedRatio(ratio=middle, low=None, high=None, pairs=len(pairs))
    return PairedRatio(ratio=middle, low=low, high=high, pairs=len(pairs))


def describe_ratio(found: PairedRatio, of: str, to: str, *, at: str | None = None) -> str:
    """Describe a ratio of throughputs in one sentence, without its period.

    `off gives 1.23 times the throughput of on at 2 clients (95 % interval 1.19 to 1.27, 6 pairs):
    the difference is larger than the noise`.

    Args:
        found: throughput of `of` / throughput of `to`.
        of: name of the one state.
        to: name of the other.
        at: load of the pairs in words; None to leave it out.
    """
    if not found.pairs:
        return f"{to} and {of} were not compared: no pair of steps counts"
    where = "" if at is None else f" at {at}"
    if found.ratio is None:
        return f"{to} and {of} have no ratio{where}: nothing succeeded in one of the steps"
    value, pairs = words.format_ratio(found.ratio), words.format_count(found.pairs, "pair")
    gives = f"{of} gives {value} times the throughput of {to}{where}"
    if found.difference_max_share is None:
        return f"{gives} ({pairs}, too few for an interval): whether they differ is not known"
    interval = f"95 % interval {words.format_ratio_interval(found.low, found.high)}, {pairs}"
    if found.differs:
        return f"{gives} ({interval}): the difference is larger than the noise"
    if found.difference_max_share > WORTH_SHARE:
        return (
            f"whether {to} and {of} differ{where} is not decided: the ratio of throughputs is"
            f" {value} ({interval}); more pairs or longer windows would narrow it"
        )
    most = words.format_percent(found.difference_max_share)
    return (
        f"no difference between {to} and {of} can be shown{where}: throughput differs by {most} at"
        f" most (ratio {value}, {interval})"
    )


def describe_missing_pairs(found: PairedRatio, wanted: int) -> str | None:
    """Say that fewer pairs were measured than requested; None if all were, or none."""
    if not 0 < found.pairs < wanted:
        return None
    return f"only {found.pairs} of {words.format_count(wanted, 'pair')} could be measured"
