"""What one run says of its target: demands by load, the time of an operation, its tails. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from plimsoll.errors import UsageError
from plimsoll.sizing.caps import Caps
from plimsoll.sizing.guess import Guess
from plimsoll.sizing.memory import Pool
from plimsoll.sizing.network import alone_s
from plimsoll.sizing.observed import Observed
from plimsoll.sizing.tails import Tail
from plimsoll.sizing.trend import Trend, trend

LIGHT = 1.2  # times the lightest load: what is that light
FEW_FLUSHES = 0.01  # of the log for each operation: up to here a workload writes nothing
WAIT_FACTOR = 1.3  # by which a wait that is reckoned from counts and mean latencies may be off


@dataclass(frozen=True)
class Profile:
    """A run's target and load, ready for what-ifs.

    Attributes:
        own: What the target let through.
        whole_machine: Whether all that a run needs was on its processors: a run on one machine.
        alone_s: The time of an operation that is alone.
        pages_s: Of that, the wait for pages from storage.
        log_s: Of that, the wait for the log.
        ios: What each takes; None: not known.
        read_share: Of the I/Os, those that read.
        log_share: Of the I/Os that write, those of the log: one for each flush, at least.
        mib: Likewise.
        server_cpu_s: Of the server, in seconds of one processor.
        machine_cpu_s: Of the whole machine; None: on AWS.
        tails: By operation: by how many times longer than alone, in times of being alone.
        tails_under_way: By operation: by operations under way, in microseconds; none where nothing
            is written.
        pool: The buffer pool; None: the server has no figures of it, or it missed no page.
    """

    own: Caps
    whole_machine: bool
    alone_s: float
    pages_s: Guess
    log_s: Guess
    ios: Trend | None
    read_share: float
    log_share: float
    mib: Trend | None
    server_cpu_s: Trend
    machine_cpu_s: Trend | None
    tails: dict[str, Tail]
    tails_under_way: dict[str, Tail]
    pool: Pool | None

    @property
    def most_load(self) -> float:
        """The heaviest load that was measured: operations under way."""
        return self.server_cpu_s.most_load


def profile_of(
    seen: Sequence[Observed], own: Caps, *, local: bool, dataset_pages: int | None
) -> Profile:
    """Sum up a run's steps.

    Args:
        seen: Its steps, lightest load first.
        own: What its target let through while it was measured.
        local: Whether it was on one machine.
        dataset_pages: Of its dataset; None: not known.

    Raises:
        UsageError: They do not say what an operation takes of its target.
    """
    if not seen:
        raise UsageError("no step of it has figures of its target's volume and latencies")
    ios = trend([(s.load, s.demand.ios) for s in seen if s.demand.ios is not None])
    server = trend([(s.load, s.demand.cpu_s) for s in seen if s.demand.cpu_s is not None])
    if server is None:
        raise UsageError("the processor time of an operation is not known")
    machine = [(s.load, s.machine_cpu_s) for s in seen if s.machine_cpu_s is not None]
    light = [s for s in seen if s.load <= LIGHT * seen[0].load]
    alone = median(_alone_s(s, own, local=local) for s in light)
    pages_s, log_s = _waits(light, alone)
    return Profile(
        own=own,
        whole_machine=local,
        alone_s=alone,
        pages_s=pages_s,
        log_s=log_s,
        ios=ios,
        read_share=_share([(s.demand.read_ios, s.demand.ios) for s in seen]),
        log_share=_share([(s.demand.log_flushes, s.demand.write_ios) for s in seen]),
        mib=trend([(s.load, s.demand.mib) for s in seen if s.demand.mib is not None]),
        server_cpu_s=server,
        machine_cpu_s=trend(machine) if local else None,
        tails=_tails(seen, lambda s: s.response_s / alone, alone * 1e6),
        tails_under_way=_tails(seen, lambda s: s.load, 1.0) if _writes(seen) else {},
        pool=_pool(seen, dataset_pages),
    )


def _alone_s(seen: Observed, own: Caps, *, local: bool) -> float:
    """Take the queues out of the time that an operation was seen to take."""
    demand, cpu_s = seen.demand, seen.machine_cpu_s if local else seen.demand.cpu_s
    shares = [
        amount / most
        for amount, most in ((demand.ios, own.iops), (demand.mib, own.mib_s))
        if amount is not None and most
    ]
    stations = [max(shares)] if shares else []
    if cpu_s is not None and own.processors:
        stations.append(cpu_s / own.processors)
    return alone_s(max(1, round(seen.load)), seen.response_s, stations)


def _waits(light: Sequence[Observed], alone: float) -> tuple[Guess, Guess]:
    """Say how much of the time of an operation that is alone is a wait for storage.

    What the server does not count may be nothing, or all of it.
    """
    unknown = Guess(low=0.0, mid=alone / 2, high=alone)
    pages = [s.page_reads_s for s in light if s.page_reads_s is not None]
    log = [s.log_s for s in light if s.log_s is not None]
    if not pages or not log:
        return Guess.sure(0.0), unknown
    whole = fmean(pages) + fmean(log)
    fits = min(1.0, alone / whole) if whole else 1.0

    def part(seconds: list[float]) -> Guess:
        value = fits * fmean(seconds)
        return Guess(low=value / WAIT_FACTOR, mid=value, high=min(alone, WAIT_FACTOR * value))

    return part(pages), part(log)


def _share(parts: Sequence[tuple[float | None, float | None]]) -> float:
    """Give the middle of so many shares, each at most 1; 0 where none is known."""
    shares = [min(1.0, part / whole) for part, whole in parts if part is not None and whole]
    return median(shares) if shares else 0.0


def _writes(seen: Sequence[Observed]) -> bool:
    """Whether commits wait for the log, or nobody knows; a server writes a little by itself."""
    flushes = [s.demand.log_flushes for s in seen if s.demand.log_flushes is not None]
    return not flushes or median(flushes) > FEW_FLUSHES


def _tails(
    seen: Sequence[Observed], much: Callable[[Observed], float], unit_us: float
) -> dict[str, Tail]:
    names = {name for s in seen for name in s.latency_us}
    return {
        name: Tail.of(
            [(much(s), s.latency_us[name] / unit_us) for s in seen if name in s.latency_us]
        )
        for name in sorted(names)
    }


def _pool(seen: Sequence[Observed], dataset_pages: int | None) -> Pool | None:
    """Give the pool under the heaviest load; one that missed no page says nothing of others."""
    known = [s for s in seen if s.miss_share is not None and s.pool_pages]
    if not known or dataset_pages is None:
        return None
    heaviest = known[-1]
    if not heaviest.pool_pages or not heaviest.miss_share:
        return None
    return Pool(heaviest.pool_pages, dataset_pages, heaviest.miss_share)
