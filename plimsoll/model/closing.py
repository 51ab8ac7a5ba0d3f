"""What a search finds out after its answer is confirmed: the closing steps, and what they show."""

from plimsoll.model.base import Model


class Drift(Model):
    """Whether the target itself changed while it was measured."""

    found: bool
    # how much faster the lightest load ran at the end than at the beginning, as a share: -0.2 is a
    # fifth slower; None: not known
    change: float | None
    sentinels: int  # closing steps at the lightest load that count
    trend_p: float | None  # of the trend among repetitions, two-sided; None: too few of them
    detail: str  # one sentence


class Closing(Model):
    """What the steps after the confirmation showed; None: that was not looked at."""

    drift: Drift | None = None

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """What was looked at, and what it showed, one sentence each."""
        return tuple((name, part.detail) for name, part in (("drift", self.drift),) if part)
