"""What a run measured, as sizing needs it: the use of resources per operation, and its times."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Annotated

from pydantic import Field

from plimsoll.capacity.statistics.factorial import compute_visits_per_operation
from plimsoll.capacity.steps.littles_law import compute_concurrent_operations
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import CLOSING, Statistic, TargetFigures
from plimsoll.model.run.results import RunResult, ServerWaits, StepResult
from plimsoll.sizing.caps import Caps, Pool
from plimsoll.sizing.queueing import Guess, Tail, Trend, estimate_alone_s, fit_trend

# What one operation uses of each resource: the measured basis of every prediction.


Amount = Annotated[float, Field(ge=0)]


class Demand(Model):
    """Means per successful operation in one observation. None if not known, never 0."""

    ops_per_second: Annotated[float, Field(gt=0)]  # successful operations during the observation
    ios: Amount | None = None  # I/Os of the volume, as the volume counts them
    read_ios: Amount | None = None
    write_ios: Amount | None = None
    mib: Amount | None = None  # read and written
    cpu_s: Amount | None = None  # processor time of the server
    log_flushes: Amount | None = None  # flushes of the redo log, or of the write-ahead log
    lock_wait_s: Amount | None = None  # waits for row and table locks, over all sessions


POOL_PAGES = "Innodb_buffer_pool_pages_total"  # a gauge of InnoDB


@dataclass(frozen=True)
class Observed:
    """One step of a run.

    Attributes:
        load: The number of concurrent operations, by Little's law.
        response_s: The mean response time of an operation.
        demand: The use per operation.
        latency_us: The latency by operation, in the statistic that has limits.
        machine_cpu_s: The processor time per operation of the machine on which everything ran: the
            server's, the clients' and that of all else; None on AWS, or if not known.
        page_reads_s: The time per operation that was waited for pages from storage; None if not
            known.
        log_s: The time per operation that was waited for the log; None if not known.
        miss_share: The share of page requests that missed the buffer pool; None if not known.
        pool_pages: The number of pages of the server's buffer pool; None if not known.
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


def observe_steps(
    result: RunResult,
    waits: Sequence[ServerWaits],
    *,
    statistic: Statistic,
    processors: int | None,
    without: Collection[int | None] = (),
) -> tuple[Observed, ...]:
    """Return the steps of a run that tell how its target behaves, lightest load first.

    Args:
        result: The result of the run.
        waits: The server's wait counters for each step.
        statistic: The latency statistic.
        processors: The processors of the target's machine; None if not known.
        without: The indexes of disputed steps, which are left out.
    """
    pairs = zip(result.steps, waits, strict=True)
    told = [(step, said) for step, said in pairs if step.step.index not in without]
    seen = [one for step, said in told for one in _observe_step(step, said, statistic, processors)]
    return tuple(sorted(seen, key=lambda one: one.load))


def _observe_step(
    result: StepResult, waits: ServerWaits, statistic: Statistic, processors: int | None
) -> Iterator[Observed]:
    step, target = result.step, result.target
    found, rate = compute_concurrent_operations(step), step.throughput_ops_per_second
    latency_us = {name: one[statistic] for name, one in step.latency_us.items() if statistic in one}
    said_of_target = step.void is None and result.plan.purpose not in CLOSING and not step.refused
    if not (said_of_target and found and rate and found.most and target and latency_us):
        return
    # the counters grew in this time, warm-up included
    load_s = result.plan.warmup_s + result.plan.duration_s
    demand = _compute_demand(target, waits, rate, load_s, processors)
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
        machine_cpu_s=compute_visits_per_operation(busy, rate),
        page_reads_s=compute_visits_per_operation(
            _wait_s(waits.page_reads, target.read_latency_us), rate * load_s
        ),
        log_s=compute_visits_per_operation(
            _wait_s(waits.log_flushes, _find_durable_write_us(target)), rate * load_s
        ),
        miss_share=result.server.buffer_pool_miss_share if result.server else None,
        pool_pages=result.server.gauges.get(POOL_PAGES) if result.server else None,
    )


def _compute_demand(
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
        ios=compute_visits_per_operation(target.iops, rate),
        read_ios=compute_visits_per_operation(target.read_iops, rate),
        write_ios=compute_visits_per_operation(target.write_iops, rate),
        mib=compute_visits_per_operation(target.mib_s, rate),
        cpu_s=compute_visits_per_operation(busy, rate),
        log_flushes=compute_visits_per_operation(waits.log_flushes, rate * load_s),
        lock_wait_s=compute_visits_per_operation(sum(locks) if locks else None, rate * load_s),
    )


def _find_durable_write_us(target: TargetFigures) -> float | None:
    """Return the time until a write is durable, in us. AWS has no metric of flushes."""
    write_us = target.write_latency_us
    return None if write_us is None else write_us + (target.flush_latency_us or 0.0)


def _wait_s(count: int | None, each_us: float | None) -> float | None:
    if count is None or (each_us is None and count):
        return None
    return count * (each_us or 0.0) / 1e6


# The profile of a run: use by load, time of an operation, latency tails.


LIGHT = 1.2  # loads up to this multiple of the lightest one count as light
FEW_FLUSHES = 0.01  # flushes per operation up to which a workload counts as not writing
WAIT_FACTOR = 1.3  # possible error of a wait computed from counts and mean latencies


@dataclass(frozen=True)
class Profile:
    """The profile of a run's target and load, from which predictions start.

    Attributes:
        own: The limits of the run's target.
        whole_machine: Whether everything ran on its processors, as in a run on one machine.
        alone_s: The response time of an operation that runs alone.
        pages_s: The part of it that is a wait for pages from storage.
        log_s: The part of it that is a wait for the log.
        ios: The I/Os per operation; None if not known.
        read_share: The share of the I/Os that are reads.
        log_share: The share of the write I/Os that belong to the log: at least one per flush.
        mib: The MiB read and written per operation; None if not known.
        server_cpu_s: The processor time of the server per operation.
        machine_cpu_s: The processor time of the whole machine per operation; None on AWS.
        tails: The latency statistic as a function of the slowdown, by operation. Both are multiples
            of the time of an operation that runs alone.
        tails_under_way: The latency statistic in us as a function of the concurrent operations, by
            operation; empty if nothing is written.
        pool: The buffer pool; None if the server has no figures of it, or if it missed no page.
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
        """The heaviest measured load, in concurrent operations."""
        return self.server_cpu_s.most_load


def build_profile(
    seen: Sequence[Observed], own: Caps, *, local: bool, dataset_pages: int | None
) -> Profile:
    """Compute the profile of a run from its steps.

    Args:
        seen: The steps, lightest load first.
        own: The limits of the target during the run.
        local: Whether the run was on one machine.
        dataset_pages: The number of pages of the dataset; None if not known.

    Raises:
        UsageError: The steps do not show what an operation uses of its target.
    """
    if not seen:
        raise UsageError("no step has figures of both its target's volume and its latencies")
    ios = fit_trend([(s.load, s.demand.ios) for s in seen if s.demand.ios is not None])
    server = fit_trend([(s.load, s.demand.cpu_s) for s in seen if s.demand.cpu_s is not None])
    if server is None:
        raise UsageError("the CPU time of an operation is not known")
    machine = [(s.load, s.machine_cpu_s) for s in seen if s.machine_cpu_s is not None]
    light = [s for s in seen if s.load <= LIGHT * seen[0].load]
    alone = median(_remove_queueing_s(s, own, local=local) for s in light)
    pages_s, log_s = _estimate_waits(light, alone)
    return Profile(
        own=own,
        whole_machine=local,
        alone_s=alone,
        pages_s=pages_s,
        log_s=log_s,
        ios=ios,
        read_share=_find_median_share([(s.demand.read_ios, s.demand.ios) for s in seen]),
        log_share=_find_median_share([(s.demand.log_flushes, s.demand.write_ios) for s in seen]),
        mib=fit_trend([(s.load, s.demand.mib) for s in seen if s.demand.mib is not None]),
        server_cpu_s=server,
        machine_cpu_s=fit_trend(machine) if local else None,
        tails=_fit_tails(seen, lambda s: s.response_s / alone, alone * 1e6),
        tails_under_way=_fit_tails(seen, lambda s: s.load, 1.0) if _has_writes(seen) else {},
        pool=_find_pool(seen, dataset_pages),
    )


def _remove_queueing_s(seen: Observed, own: Caps, *, local: bool) -> float:
    """Remove the queueing from a step's mean response time."""
    demand, cpu_s = seen.demand, seen.machine_cpu_s if local else seen.demand.cpu_s
    shares = [
        amount / most
        for amount, most in ((demand.ios, own.iops), (demand.mib, own.mib_s))
        if amount is not None and most
    ]
    stations = [max(shares)] if shares else []
    if cpu_s is not None and own.processors:
        stations.append(cpu_s / own.processors)
    return estimate_alone_s(max(1, round(seen.load)), seen.response_s, stations)


def _estimate_waits(light: Sequence[Observed], alone: float) -> tuple[Guess, Guess]:
    """Return how long an operation that runs alone waits for pages and for the log.

    If the server does not count waits, the wait for the log is anything up to the whole time.
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
        # a value that fills the whole time may be rounded to just above it
        high = max(value, min(alone, WAIT_FACTOR * value))
        return Guess(low=value / WAIT_FACTOR, mid=value, high=high)

    return part(pages), part(log)


def _find_median_share(parts: Sequence[tuple[float | None, float | None]]) -> float:
    """Return the median of shares, each at most 1; 0 if none is known."""
    shares = [min(1.0, part / whole) for part, whole in parts if part is not None and whole]
    return median(shares) if shares else 0.0


def _has_writes(seen: Sequence[Observed]) -> bool:
    """Whether commits wait for the log, or it is unknown. A server flushes a little by itself."""
    flushes = [s.demand.log_flushes for s in seen if s.demand.log_flushes is not None]
    return not flushes or median(flushes) > FEW_FLUSHES


def _fit_tails(
    seen: Sequence[Observed], much: Callable[[Observed], float], unit_us: float
) -> dict[str, Tail]:
    names = {name for s in seen for name in s.latency_us}
    return {
        name: Tail.of(
            [(much(s), s.latency_us[name] / unit_us) for s in seen if name in s.latency_us]
        )
        for name in sorted(names)
    }


def _find_pool(seen: Sequence[Observed], dataset_pages: int | None) -> Pool | None:
    """Return the pool under the heaviest load; None if it missed no page, which tells nothing."""
    known = [s for s in seen if s.miss_share is not None and s.pool_pages]
    if not known or dataset_pages is None:
        return None
    heaviest = known[-1]
    if not heaviest.pool_pages or not heaviest.miss_share:
        return None
    return Pool(heaviest.pool_pages, dataset_pages, heaviest.miss_share)
