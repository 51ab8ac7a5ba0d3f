"""Storage limits: IOPS, throughput, the instance's I/O credits, and the latency of writes."""

from plimsoll import words
from plimsoll.databases.family import find_family
from plimsoll.limiting.seen import Seen
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Resource
from plimsoll.model.judging.steps import StorageRates, TargetFigures
from plimsoll.model.run.results import Candidate

NEAR = 0.90  # mean share of a limit over the step, above which the limit held most of the time
# Share of the time in which the log was written or flushed. Flushes follow each other, so the rest
# is the gaps between them.
LOG_BUSY = 0.75


def is_most_waiting_for_volume(seen: Seen) -> bool:
    """Return whether most concurrent operations wait for the volume, so they use no CPU."""
    return seen.target.queue is not None and seen.target.queue > seen.under_way / 2


def judge_iops(seen: Seen) -> Candidate | None:
    """Compare I/Os per second with the volume's limit at that time."""
    target = seen.target
    if target.iops is None:
        rates = _find_server_rates(seen)
        limit = None if seen.volume is None else _compute_burst_rate(seen.volume)
        return _judge_cap(
            seen, "storage_iops", None if rates is None else rates.iops, limit, "IOPS", rates=rates
        )
    limit = _find_iops_limit(target, seen.volume)
    return _judge_cap(seen, "storage_iops", target.iops, limit, "IOPS", queue=target.queue)


def judge_throughput(seen: Seen) -> Candidate | None:
    """Compare bytes per second with the volume's limit."""
    limit = None if seen.volume is None else seen.volume.throughput_mib_s
    if seen.target.iops is None:
        rates = _find_server_rates(seen)
        return _judge_cap(
            seen,
            "storage_throughput",
            None if rates is None else rates.mib_s,
            limit,
            "MiB/s",
            rates=rates,
        )
    return _judge_cap(seen, "storage_throughput", seen.target.mib_s, limit, "MiB/s")


def _judge_cap(
    seen: Seen,
    resource: Resource,
    done: float | None,
    limit: float | None,
    unit: str,
    *,
    queue: float | None = None,
    rates: StorageRates | None = None,
) -> Candidate | None:
    if done is None or not limit:
        return None
    share = done / limit
    most = f"{words.format_number(limit)} {unit}"
    waiting = "" if queue is None else f", {words.format_rate(queue)} of them waiting"
    least = "at least " if rates else ""
    source = (
        f", from the server's counters, over {words.format_duration(rates.interval_s)} that"
        " include the"
        " start of its clients"
        if rates
        else ""
    )
    each = seen.divide_by_throughput(done)
    now = "" if each is None else f" ({least}{words.format_three_figures(each)} now)"
    fewer = "I/Os" if unit == "IOPS" else "MiB"
    return Candidate(
        resource=resource,
        share=share,
        threshold=NEAR,
        reached=share >= NEAR,
        evidence=f"storage: {least}{words.format_rate(done)} of {most}"
        f" ({words.format_percent(share)}){waiting}" + source,
        to_change=f"a volume with more than {most}, or fewer {fewer} per operation{now}",
    )


def _find_server_rates(seen: Seen) -> StorageRates | None:
    """Return the server's own I/O counters, if CloudWatch has no data points of the step.

    They are read before the clients start and after the last has ended, so their mean is a lower
    bound for the load. It shows a limit only if even that is close to it.
    """
    before, server = seen.step.plan.server_before, seen.step.server
    if server is None or before is None:
        return None
    return find_family(before.family).storage_rates(server)


def _compute_burst_rate(volume: VolumeLimits) -> float | None:
    """Return the rate with credits; the server's counters do not tell if any were left."""
    return volume.baseline_iops if volume.burst_credits is None else volume.burst_iops


def _find_iops_limit(target: TargetFigures, volume: VolumeLimits | None) -> float | None:
    """Return the limit in force: with burst while credits lasted, otherwise the baseline."""
    if volume is None:
        return None
    spent = target.burst_balance_percent is not None and target.burst_balance_percent < 1
    return volume.baseline_iops if spent else _compute_burst_rate(volume)


def judge_io_credits(seen: Seen) -> Candidate | None:
    """Return the instance's I/O limit for its volumes, if it has used up its credits."""
    return _judge_credits("storage_iops", seen.target.ebs_io_balance_percent, "I/O")


def judge_byte_credits(seen: Seen) -> Candidate | None:
    """Return the instance's limit of bytes for its volumes, if it has used up its credits."""
    return _judge_credits("storage_throughput", seen.target.ebs_byte_balance_percent, "throughput")


def _judge_credits(resource: Resource, percent: float | None, name: str) -> Candidate | None:
    if percent is None or percent >= 100:
        return None
    share = 1 - percent / 100
    return Candidate(
        resource=resource,
        share=share,
        threshold=NEAR,
        reached=share >= NEAR,
        evidence=f"storage: the instance's own {name} credits fell to"
        f" {words.format_percent(1 - share)}",
        to_change=f"an instance class with more sustained {name} to its volumes",
    )


def judge_log_flushes(seen: Seen) -> Candidate | None:
    """Return the share of the time in which the log was flushed; commits wait for it in turn."""
    waits, target = seen.waits, seen.target
    if not waits.log_flushes:
        return None
    looks = seen.step.server.looks if seen.step.server else None
    flushes = waits.log_flushes / seen.load_s
    flush_us: float | None = None
    if waits.log_io_s is not None:
        flush_us = waits.log_io_s / waits.log_flushes * 1e6
    elif looks is not None and looks.log_io_share is not None:
        share = looks.log_io_share
        busy = (
            f"in progress in {words.format_percent(share)} of"
            f" {words.format_count(looks.looks, 'sample')}"
        )
    elif target.write_latency_us is not None:  # mean of all writes, including those of the log
        flush_us = target.write_latency_us + (target.flush_latency_us or 0.0)
    else:
        return None
    if flush_us is not None:
        share = min(1.0, flushes * flush_us / 1e6)
        busy = (
            f"at {words.format_latency(flush_us)} each, so one is in progress"
            f" {words.format_percent(share)} of"
            " the time"
        )
    commits = ""
    if waits.commits is not None:  # the server does not count commits of changes separately
        each = words.format_rate(waits.commits / seen.load_s)
        commits = f"; {each} commits/s, read-only ones included"
    return Candidate(
        resource="storage_latency",
        share=share,
        threshold=LOG_BUSY,
        reached=share >= LOG_BUSY,
        evidence=f"log flushes: {words.format_rate(flushes)}/s, {busy}{commits}",
        to_change="a volume with a lower write latency, more operations per commit, or commits"
        " that do not wait for the log",
    )
