"""A step of a run as sizing sees it: what an operation took, and how long it was under way."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.capacity.forced_flow import visits_per_operation
from plimsoll.capacity.under_way import under_way
from plimsoll.model.results import RunResult, ServerWaits, StepResult
from plimsoll.model.steps import CLOSING, Statistic
from plimsoll.model.target_figures import TargetFigures
from plimsoll.sizing.demand import Demand

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
