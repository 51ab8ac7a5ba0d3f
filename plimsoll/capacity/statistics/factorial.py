"""A 2 x 2 factorial design with repetitions (effects and interaction as ratios); resource use.

The model is Jain's (1991, "The Art of Computer Systems Performance Analysis", chapter 17, 2^2
designs, and 18, 2^k r designs with replication) on the logarithms of throughput: factors of a
system's performance multiply, so their effects are ratios (chapter 18.8, multiplicative models).
Every effect is a contrast of the means of the four cells. Its 95 % interval is Student's t with the
degrees of freedom of Welch (1947, "The generalization of Student's problem when several different
population variances are involved"), since a cell limited by storage scatters differently from one
limited by CPU. Jain pools the four variances instead. The gain in one row therefore equals that of
a direct comparison of two targets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from plimsoll.capacity.statistics.intervals import t_quantile
from plimsoll.model.run.experiment_record import Effect

SURE = 1e-12  # a smaller standard error means equal repetitions

Cell = Sequence[float]  # repetitions, positive, in one unit
Square = tuple[tuple[Cell, Cell], tuple[Cell, Cell]]  # [first factor's level][second factor's]


@dataclass(frozen=True)
class Effects:
    """Effects of two factors A and B, each at a low and a high level, on a figure.

    Attributes:
        first: figure with A high / figure with A low, over both levels of B.
        second: figure with B high / figure with B low, over both levels of A.
        interaction: gain of B with A high / gain of B with A low. Above 1, each factor gains more
            if
            the other is high.
        second_at_low: gain of B with A low.
        second_at_high: gain of B with A high.
    """

    first: Effect
    second: Effect
    interaction: Effect
    second_at_low: Effect
    second_at_high: Effect


def estimate_effects(cells: Square) -> Effects | None:
    """Return the effects of a 2 x 2 design; None if a cell has no figure, or one of 0.

    Args:
        cells: repetitions of each cell: `cells[a][b]` for level a of A and level b of B, 0 low and
            1
            high.
    """
    values = [*cells[0], *cells[1]]
    if any(min(cell, default=0.0) <= 0 for cell in values):
        return None
    logs = [[math.log(value) for value in cell] for cell in values]
    half = 0.5
    return Effects(
        first=_estimate_contrast((-half, -half, half, half), logs),
        second=_estimate_contrast((-half, half, -half, half), logs),
        interaction=_estimate_contrast((1, -1, -1, 1), logs),
        second_at_low=_estimate_contrast((-1, 1, 0, 0), logs),
        second_at_high=_estimate_contrast((0, 0, -1, 1), logs),
    )


def _estimate_contrast(weights: Sequence[float], logs: Sequence[Sequence[float]]) -> Effect:
    """Return a weighted sum of mean logarithms as a ratio; no interval if a cell is unrepeated."""
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


# --- use of a resource per operation, and the throughput that it allows ---


def visits_per_operation(amount: float | None, operations: float) -> float | None:
    """Return what each operation uses of a resource: I/Os, bytes, seconds of CPU or of waiting.

    Args:
        amount: amount used in an interval, or per second of it; None if unknown.
        operations: operations that succeeded in the same interval, or per second of it.

    Returns:
        None if the amount is unknown, or no operation succeeded.
    """
    return None if amount is None or operations <= 0 else amount / operations


def carried_ops_per_second(device_most_per_second: float, visits: float) -> float:
    """Return the highest throughput of a device that each operation uses `visits` > 0 times."""
    return device_most_per_second / visits


def full_at_ops_per_second(throughput_ops_per_second: float, utilization: float) -> float | None:
    """Return the throughput at which a resource would be fully busy; None if it was idle.

    Args:
        throughput_ops_per_second: throughput in an interval.
        utilization: busy share of the interval, from 0 to 1.
    """
    return throughput_ops_per_second / utilization if utilization > 0 else None
