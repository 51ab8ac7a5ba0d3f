"""A 2 x 2 factorial design with repetitions: main effects and interaction, on logarithms. Pure.

The model is that of Jain (1991, "The Art of Computer Systems Performance Analysis", chapter 17,
2^2 designs, and 18, 2^k r designs with replication), of the logarithms of throughput: factors of a
system's performance multiply, so their effects are ratios (chapter 18.8, multiplicative models).
Every effect is a contrast of the four cells' means. Its 95 % interval is Student's t with the
degrees of freedom of Welch (1947, "The generalization of Student's problem when several different
population variances are involved"), for a cell whose storage is the limit scatters otherwise than
one whose processor is; Jain pools the four variances. So the gain in one row is the same here as
where two targets are compared alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from plimsoll.capacity.statistics.intervals import t_quantile
from plimsoll.model.run.experiment_record import Effect

SURE = 1e-12  # a standard error below it is of equal repetitions

Cell = Sequence[float]  # the repetitions, positive, in one unit
Square = tuple[tuple[Cell, Cell], tuple[Cell, Cell]]  # [first factor's level][second factor's]


@dataclass(frozen=True)
class Effects:
    """What two factors A and B, each at a low and a high level, do to a figure.

    Attributes:
        first: The figure with A high over that with A low, over both levels of B.
        second: The same of B, over both levels of A.
        interaction: What B gains where A is high over what it gains where A is low. Above 1, A has
            to be high for B to gain; and as much the other way round.
        second_at_low: What B gains where A is low.
        second_at_high: What B gains where A is high.
    """

    first: Effect
    second: Effect
    interaction: Effect
    second_at_low: Effect
    second_at_high: Effect


def effects(cells: Square) -> Effects | None:
    """Estimate the effects of a 2 x 2; None where a cell has no figure, or one of 0.

    Args:
        cells: The repetitions of each cell: `cells[a][b]` with A's level a and B's level b, 0 low
            and 1 high.
    """
    values = [*cells[0], *cells[1]]
    if any(min(cell, default=0.0) <= 0 for cell in values):
        return None
    logs = [[math.log(value) for value in cell] for cell in values]
    half = 0.5
    return Effects(
        first=_contrast((-half, -half, half, half), logs),
        second=_contrast((-half, half, -half, half), logs),
        interaction=_contrast((1, -1, -1, 1), logs),
        second_at_low=_contrast((-1, 1, 0, 0), logs),
        second_at_high=_contrast((0, 0, -1, 1), logs),
    )


def _contrast(weights: Sequence[float], logs: Sequence[Sequence[float]]) -> Effect:
    """A weighted sum of means of logarithms as a ratio; no interval where one has no repetition."""
    used = [(weight, cell) for weight, cell in zip(weights, logs, strict=True) if weight]
    middle = math.fsum(weight * fmean(cell) for weight, cell in used)
    if any(len(cell) < 2 for _, cell in used):
        return Effect(ratio=math.exp(middle))
    parts = [weight**2 * variance(cell) / len(cell) for weight, cell in used]
    error = math.sqrt(sum(parts))
    if error < SURE:
        return Effect(ratio=math.exp(middle), low=math.exp(middle), high=math.exp(middle))
    below = sum(part**2 / (len(cell) - 1) for part, (_, cell) in zip(parts, used, strict=True))
    margin = t_quantile(0.025, max(1, math.floor(sum(parts) ** 2 / below))) * error
    return Effect(
        ratio=math.exp(middle), low=math.exp(middle - margin), high=math.exp(middle + margin)
    )


# What an operation takes of a resource, and what one of a known rate would carry. Pure.


def visits_per_operation(amount: float | None, operations: float) -> float | None:
    """What each operation takes of a resource: I/Os, bytes, seconds of a processor or of a wait.

    Args:
        amount: What was done in an interval, or a second of it; None: not known.
        operations: That succeeded in the same interval, or a second of it.

    Returns:
        None where the amount is not known, or no operation succeeded.
    """
    return None if amount is None or operations <= 0 else amount / operations


def carried_ops_per_second(device_most_per_second: float, visits: float) -> float:
    """The most operations per second that a device carries, at `visits` > 0 of it each."""
    return device_most_per_second / visits


def full_at_ops_per_second(throughput_ops_per_second: float, utilization: float) -> float | None:
    """The throughput at which a resource would be busy all the time; None where it was idle.

    Args:
        throughput_ops_per_second: Of an interval.
        utilization: The share of the interval, from 0 to 1, in which it was busy.
    """
    return throughput_ops_per_second / utilization if utilization > 0 else None
