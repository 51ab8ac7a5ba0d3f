"""Two runs whose steps take turns by the clock, so that what drifts hits both alike. Pure."""

import math

from plimsoll.model.base import Model

GAP_S = 2.0  # between steps: for the last operations of one, the connections of the other


class Turn(Model):
    """Whose turn it is: slots of equal length since the epoch, the even ones and the odd ones."""

    beside: str  # the id of the other run
    second: bool  # whether the odd slots are this run's, or the even ones
    slot_s: int

    def wait_ms(self, window_start_epoch_ms: int) -> int:
        """Give how much later a step has to start for its window to begin with its slot."""
        slot_ms = self.slot_s * 1000
        mine = slot_ms if self.second else 0
        return (mine - window_start_epoch_ms) % (2 * slot_ms)


def slot_s(load_s: float, period_s: int) -> int:
    """Give the seconds of a slot: a step of either run, in whole periods of the target's metrics.

    Args:
        load_s: The longer step of both: its warm-up and its window.
        period_s: Of the metrics: each slot begins with one.
    """
    return period_s * math.ceil((load_s + GAP_S) / period_s)
