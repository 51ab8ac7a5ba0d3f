"""A ratio that was measured in pairs."""

from plimsoll.model.base import Model


class PairedRatio(Model):
    """How many times the first of each pair the second is."""

    ratio: float | None  # geometric mean of the pairs' ratios; None: a pair has none
    low: float | None  # of its 95 % interval; None: fewer than three pairs, or no ratio
    high: float | None
    pairs: int

    @property
    def differs(self) -> bool | None:
        """Whether the interval leaves out 1; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 1 or self.high < 1

    @property
    def difference_max_share(self) -> float | None:
        """How far from 1 the ratio may lie at most, either way, as a share; None: not known."""
        if self.low is None or self.high is None:
            return None
        return max(self.high - 1, 1 - self.low)
