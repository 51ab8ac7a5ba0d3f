"""What a search finds out after its answer is confirmed: the closing steps, and what they show."""

from plimsoll.model.base import Model

# A ratio that was measured in pairs.


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


class Drift(Model):
    """Whether the target itself changed while it was measured."""

    found: bool
    # how much faster the lightest load ran at the end than at the beginning, as a share: -0.2 is a
    # fifth slower; None: not known
    change_share: float | None
    sentinels: int  # closing steps at the lightest load that count
    trend_p: float | None  # of the trend among repetitions, two-sided; None: too few of them
    detail: str  # one sentence


class MoreClients(Model):
    """Whether twice the clients, with the same connections, brought more."""

    raised: bool | None  # None: it was not tried
    detail: str


class Waiting(Model):
    """Whether clients that look for answers before they sleep found more in the same target."""

    raised: bool | None  # None: no step that was tried counts
    detail: str


class OpenLoop(Model):
    """What callers who do not wait would see near the rate of a closed loop's answer."""

    rate_ops_per_second: float  # offered
    throughput_ops_per_second: float
    connections: int
    latency_us: dict[str, float]  # by operation, of the statistic judged, from the due time
    kept_up: bool
    detail: str


class Soak(Model):
    """Whether the answer's load lasted for `limits.soak_s`."""

    asked_s: float
    held_s: float  # the windows together
    passed: bool | None  # None: it was not held for as long as was asked
    # the longest time in which next to nothing succeeded; None: always so little that this means
    # nothing
    stall_max_s: float | None
    spans: int  # of ten seconds
    spans_beyond: int  # in which an operation was beyond its limit
    throughput_ops_per_second: float | None  # median of the windows
    reasons: tuple[str, ...]  # why it did not last
    detail: str


class BackgroundCost(Model):
    """What the background takes: pairs of steps at one load, one with it and one without."""

    names: tuple[str, ...]
    connections: int  # of the load of the pairs
    rate_ops_per_second: float | None  # None: closed loop
    throughput: PairedRatio  # with it / without it
    latency: dict[str, PairedRatio]  # likewise by operation, of the statistic judged
    detail: str


class Closing(Model):
    """What the steps after the confirmation showed; None: that was not looked at."""

    drift: Drift | None = None
    more_clients: MoreClients | None = None
    waiting: Waiting | None = None
    open_loop: OpenLoop | None = None
    soak: Soak | None = None
    background: BackgroundCost | None = None

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """What was looked at, and what it showed, one sentence each."""
        parts: tuple[
            tuple[str, Drift | MoreClients | Waiting | OpenLoop | Soak | BackgroundCost | None], ...
        ] = (
            ("background", self.background),
            ("soak", self.soak),
            ("drift", self.drift),
            ("clients", self.more_clients),
            ("waiting", self.waiting),
            ("open loop", self.open_loop),
        )
        return tuple((name, part.detail) for name, part in parts if part)
