"""Results of the closing steps, which a search runs after its answer is confirmed."""

from plimsoll.model.base import Model


class PairedRatio(Model):
    """A ratio measured in pairs of steps: second of the pair / first of the pair."""

    ratio: float | None  # geometric mean of the pairs' ratios; None if a pair has no ratio
    low: float | None  # lower end of the 95 % interval; None if fewer than three pairs, or no ratio
    high: float | None
    pairs: int

    @property
    def differs(self) -> bool | None:
        """Whether the interval excludes 1; None if there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 1 or self.high < 1

    @property
    def difference_max_share(self) -> float | None:
        """The largest distance of the ratio from 1 that the interval allows; None if unknown."""
        if self.low is None or self.high is None:
            return None
        return max(self.high - 1, 1 - self.low)


class Drift(Model):
    """Whether the target itself became faster or slower during the search."""

    found: bool
    # Change of the lightest load's throughput from the beginning to the end, as a share: -0.2 is
    # 20 % slower. None if unknown.
    change_share: float | None
    sentinels: int  # closing steps at the lightest load, without void ones
    # Two-sided p-value of the trend among repetitions; None if there are too few
    trend_p: float | None
    detail: str  # one sentence


class MoreClients(Model):
    """Whether twice the clients, with the same number of connections, raised the throughput."""

    raised: bool | None  # None if not tried
    detail: str


class Waiting(Model):
    """Whether clients that busy-poll for replies reached a higher throughput on the same target."""

    raised: bool | None  # None if no such step counts
    detail: str


class OpenLoop(Model):
    """What open-loop callers would see near the rate that a closed loop reached."""

    rate_ops_per_second: float  # offered
    throughput_ops_per_second: float
    connections: int
    latency_us: dict[str, float]  # {operation: the judged statistic}, counted from the due time
    kept_up: bool
    detail: str


class SoakWindow(Model):
    """One window of a soak, and how its fleet of clients followed the one before."""

    step: int | None
    clients: int | None
    connections: int | None
    throughput_ops_per_second: float | None
    # Seconds without load since the window before; None for the first one, or if not known
    gap_s: float | None
    # Seconds in which both fleets existed: the window before sent the load, this one waited
    overlap_s: float | None


class Soak(Model):
    """Whether the target sustained the answer's load for `limits.soak_s`."""

    asked_s: float
    held_s: float  # length of all windows together
    passed: bool | None  # None if the load was not held for as long as requested
    # The longest time in which almost no operation succeeded. None if the load is so low that such
    # gaps mean nothing.
    stall_max_s: float | None
    spans: int  # intervals of ten seconds
    spans_beyond: int  # those in which an operation exceeded its latency limit
    throughput_ops_per_second: float | None  # median of the windows
    reasons: tuple[str, ...]  # why it failed
    detail: str
    windows: tuple[SoakWindow, ...] = ()  # in order; empty in an older result
    # Seconds without load between the windows, in all; None if not known
    gap_s: float | None = None
    # Longest time in which two fleets existed, one sending the load and one waiting; None if never
    overlap_max_s: float | None = None


class BackgroundCost(Model):
    """What the background work costs, from pairs of steps with and without it at one load."""

    names: tuple[str, ...]
    connections: int  # connections of the load
    rate_ops_per_second: float | None  # None for a closed loop
    throughput: PairedRatio  # with the background / without it
    latency: dict[str, PairedRatio]  # {operation: the same ratio, of the judged statistic}
    detail: str


class Closing(Model):
    """Results of the closing steps; None if a question was not examined."""

    drift: Drift | None = None
    more_clients: MoreClients | None = None
    waiting: Waiting | None = None
    open_loop: OpenLoop | None = None
    soak: Soak | None = None
    background: BackgroundCost | None = None

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """Name and one-sentence result of each closing question that was examined."""
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
