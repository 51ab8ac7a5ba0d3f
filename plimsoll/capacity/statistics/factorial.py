"""A 2 x 2 factorial design with repetitions (effects and interaction as ratios); resource use.

The model is Jain's (1991, "The Art of Computer Systems Performance Analysis", chapter 17, 2^2
designs, and 18, 2^k r designs with replication) on the logarithms of throughput: factors of a
system's performance multiply, so their effects are ratios (chapter 18.8, multiplicative models).
Every effect is a contrast of the four cells (`contrasts`). Jain pools their variances; here each
has its own, since a cell limited by storage scatters differently from one limited by CPU. So the
gain in one row equals that of a direct comparison of two targets.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.capacity.statistics.contrasts import Estimate, estimate_contrast
from plimsoll.model.run.experiment_record import Effect


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


def estimate_effects(cells: Sequence[Estimate]) -> Effects:
    """Return the effects of a 2 x 2 design.

    Args:
        cells: the figure of each cell: A and B low, B alone high, A alone high, both high.
    """
    half = 0.5
    return Effects(
        first=estimate_contrast((-half, -half, half, half), cells),
        second=estimate_contrast((-half, half, -half, half), cells),
        interaction=estimate_contrast((1, -1, -1, 1), cells),
        second_at_low=estimate_contrast((-1, 1, 0, 0), cells),
        second_at_high=estimate_contrast((0, 0, -1, 1), cells),
    )


# --- use of a resource per operation, and the throughput that it allows ---


def compute_visits_per_operation(amount: float | None, operations: float) -> float | None:
    """Return what each operation uses of a resource: I/Os, bytes, seconds of CPU or of waiting.

    Args:
        amount: amount used in an interval, or per second of it; None if unknown.
        operations: operations that succeeded in the same interval, or per second of it.

    Returns:
        None if the amount is unknown, or no operation succeeded.
    """
    return None if amount is None or operations <= 0 else amount / operations


def compute_carried_ops_per_second(device_most_per_second: float, visits: float) -> float:
    """Return the highest throughput of a device that each operation uses `visits` > 0 times."""
    return device_most_per_second / visits


def compute_full_at_ops_per_second(
    throughput_ops_per_second: float, utilization: float
) -> float | None:
    """Return the throughput at which a resource would be fully busy; None if it was idle.

    Args:
        throughput_ops_per_second: throughput in an interval.
        utilization: busy share of the interval, from 0 to 1.
    """
    return throughput_ops_per_second / utilization if utilization > 0 else None
