"""A step of a run as sizing sees it: what an operation took, and how long it was under way."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Annotated

from pydantic import Field

from plimsoll.capacity.statistics.factorial import visits_per_operation
from plimsoll.capacity.steps.littles_law import under_way
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import CLOSING, Statistic, TargetFigures
from plimsoll.model.run.results import RunResult, ServerWaits, StepResult
from plimsoll.sizing.caps import Caps, Pool
from plimsoll.sizing.queueing import Guess, Tail, Trend, alone_s, trend

# What one operation takes of each resource: the measured ground of every prediction.


Amount = Annotated[float, Field(ge=0)]


class Demand(Model):
    """Means per successful operation over one observation; None: not known, never 0."""

    ops_per_second: Annotated[float, Field(gt=0)]  # successful operations, while it was observed
    ios: Amount | None = None  # I/Os of the volume, as it counts them
    read_ios: Amount | None = None
    write_ios: Amount | None = None
    mib: Amount | None = None  # read and written
    cpu_s: Amount | None = None  # of one processor, by the server
    log_flushes: Amount | None = None  # of its redo log, or write-ahead log
    lock_wait_s: Amount | None = None  # for rows and tables, over all sessions


POOL_PAGES = "Innodb_buffer_pool_pages_total"  # a gauge of InnoDB


@dataclass(frozen=True)
class Observed:
    """One step.

    Attributes:
        load: Operations under way, by Little's law.
        response_s: The mean time of an operation.
        demand: What each took.
        latency_us: By operation, of the statistic that limits are of.
        machine_cpu_s: Of one processor, what each took of the machine on which everything ran: the
            server's, the clients' and all that served them; None: on AWS, or not known.
        page_reads_s: In which each waited for pages from storage; None: not known.
        log_s: In which each waited for the log; None: not known.
        miss_share: Of the requests for pages; None: not known.
        pool_pages: That the server's buffer pool holds; None: not known.
    """

    load: float
    response_s: float
    demand: Demand
    latency_us: dict[str, float]
    machine_cpu_s: float | None = None
    page_reads_s: float | None = None
    log_s: float | None = None
    miss_share: float | None = None
    pool_pages: float | None = None


def observed(
    result: RunResult,
    waits: Sequence[ServerWaits],
    *,
    statistic: Statistic,
    processors: int | None,
    without: Collection[int | None] = (),
) -> tuple[Observed, ...]:
    """Read the steps of a run that say how its target behaves, lightest load first.

    Args:
        result: The run.
        waits: Of each of its steps, what its server says of waits.
        statistic: Of latency.
        processors: Of the target's machine; None: not known.
        without: Indexes of steps that an audit disputes.
    """
    pairs = zip(result.steps, waits, strict=True)
    told = [(step, said) for step, said in pairs if step.step.index not in without]
    seen = [one for step, said in told for one in _seen(step, said, statistic, processors)]
    return tuple(sorted(seen, key=lambda one: one.load))


def _seen(
    result: StepResult, waits: ServerWaits, statistic: Statistic, processors: int | None
) -> Iterator[Observed]:
    step, target = result.step, result.target
    found, rate = under_way(step), step.throughput_ops_per_second
    latency_us = {name: one[statistic] for name, one in step.latency_us.items() if statistic in one}
    said_of_target = step.void is None and result.plan.purpose not in CLOSING and not step.refused
    if not (said_of_target and found and rate and found.most and target and latency_us):
        return
    load_s = result.plan.warmup_s + result.plan.duration_s  # counters grew in it, warm-up included
    demand = _demand(target, waits, rate, load_s, processors)
    idle = target.host_idle_percent
    others = (target.host_others_percent or 0.0) + (target.host_stolen_percent or 0.0)
    busy = None
    if idle is not None and processors is not None:
        busy = max(0.0, 100 - idle - others) / 100 * processors
    yield Observed(
        load=found.most,
        response_s=found.most_mean_us / 1e6,
        demand=demand,
        latency_us=latency_us,
        machine_cpu_s=visits_per_operation(busy, rate),
        page_reads_s=visits_per_operation(
            _waited_s(waits.page_reads, target.read_latency_us), rate * load_s
        ),
        log_s=visits_per_operation(
            _waited_s(waits.log_flushes, _durable_us(target)), rate * load_s
        ),
        miss_share=result.server.buffer_pool_miss_share if result.server else None,
        pool_pages=result.server.gauges.get(POOL_PAGES) if result.server else None,
    )


def _demand(
    target: TargetFigures,
    waits: ServerWaits,
    rate: float,
    load_s: float,
    processors: int | None,
) -> Demand:
    locks = [s for s in (waits.row_locks_s, waits.table_locks_s) if s is not None]
    cpu = target.cpu_percent
    busy = None if cpu is None or processors is None else cpu / 100 * processors
    return Demand(
        ops_per_second=rate,
        ios=visits_per_operation(_sum(target.read_iops, target.write_iops), rate),
        read_ios=visits_per_operation(target.read_iops, rate),
        write_ios=visits_per_operation(target.write_iops, rate),
        mib=visits_per_operation(_sum(target.read_mib_s, target.write_mib_s), rate),
        cpu_s=visits_per_operation(busy, rate),
        log_flushes=visits_per_operation(waits.log_flushes, rate * load_s),
        lock_wait_s=visits_per_operation(sum(locks) if locks else None, rate * load_s),
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _durable_us(target: TargetFigures) -> float | None:
    """How long it takes until what was written is durable; AWS has no metric of flushes."""
    write_us = target.write_latency_us
    return None if write_us is None else write_us + (target.flush_latency_us or 0.0)


def _waited_s(count: int | None, each_us: float | None) -> float | None:
    if count is None or (each_us is None and count):
        return None
    return count * (each_us or 0.0) / 1e6


# What one run says of its target: demands by load, the time of an operation, its tails. Pure.


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
