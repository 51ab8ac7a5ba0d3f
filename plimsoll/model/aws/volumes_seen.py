"""What a volume was observed to do: its counters and rates, host-bound I/O, bypassing I/O."""

from typing import Literal

from pydantic import Field

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.histograms import find_percentile_us


class Escape(Model):
    """I/O of one program that bypassed the emulated volume, and so its limits and latency."""

    program: str  # name, at most 15 letters; from the eighth program on, `others`
    operations: int  # calls that move data: writes, and reads up to the end of a file
    ios: int  # small writes that together fill a 4 KiB page count as one
    bytes: int  # a lower bound: some calls do not tell beforehand how much they move


class VolumeSample(Model):
    """The counters of a volume since its creation, and its state at one moment.

    An *operation* is one call of a program. An *I/O* is what the volume counts: one per 256 KiB,
    after merging. Times are summed over operations, so the difference of two samples gives mean
    latencies and, by Little's law, the mean queue length.
    """

    epoch_ms: int
    read_operations: int = 0
    write_operations: int = 0
    flush_operations: int = 0
    read_ios: int = 0
    write_ios: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    read_time_us: int = 0
    write_time_us: int = 0
    flush_time_us: int = 0
    failed_operations: int = 0
    late_operations: int = 0  # the host's own I/O ended after the emulated I/O was due
    late_time_us: int = 0  # sum of these delays
    backlog_us: float = 0  # how long a new I/O would wait for its turn
    credits: float | None = None  # None if the volume cannot burst
    credits_max: float | None = None
    # Processes that have loaded the volume's library since its creation
    attached_processes: int = 0
    uncounted_maps: int = 0  # files of the volume mapped into memory, whose I/O is not counted
    escapes: tuple[Escape, ...] = ()  # I/O that bypassed the volume
    unwatched: bool = False  # True if the I/O of some process could not be observed
    refused_calls: int = 0  # io_uring and POSIX AIO, refused so that no I/O passes uncounted
    # Latency histograms, {upper bound in us: operations}, without empty buckets
    read_histogram: dict[int, int] = Field(default_factory=dict)
    write_histogram: dict[int, int] = Field(default_factory=dict)
    flush_histogram: dict[int, int] = Field(default_factory=dict)


class VolumeRates(Model):
    """What a volume did between two samples; a latency is None if there was no such operation."""

    epoch_ms: int  # time of the later sample
    interval_s: float
    read_iops: float
    write_iops: float
    flushes_per_second: float
    read_mib_s: float
    write_mib_s: float
    read_latency_us: float | None  # mean
    write_latency_us: float | None
    flush_latency_us: float | None
    read_p99_us: int | None  # upper bound of its histogram bucket
    write_p99_us: int | None
    queue: float  # mean number of operations in progress
    credits: float | None
    burst_balance_percent: float | None
    empty_in_s: float | None  # None if the credits do not run out at this rate
    # Share of the I/O time that the host's own disk added to the volume's
    late_share: float | None
    failed_operations: int
    # I/O that bypassed the volume; None if not all processes could be observed
    escaped_iops: float | None
    escaped_mib_s: float | None


def _difference(before: VolumeSample, after: VolumeSample, field: str) -> int:
    value: int = getattr(after, field) - getattr(before, field)
    return value


def _percentile_us(before: dict[int, int], after: dict[int, int], share: float) -> int | None:
    return find_percentile_us(
        {upper: n - before.get(upper, 0) for upper, n in after.items()}, share
    )


def rates(
    before: VolumeSample, after: VolumeSample, *, baseline_iops: float | None = None
) -> VolumeRates:
    """Return the rates of a volume between two samples.

    Args:
        before: the earlier sample.
        after: a later sample of the same volume.
        baseline_iops: credits earned per second; needed to tell when the credits run out.

    Raises:
        ValueError: The samples are not in order.
    """
    seconds = (after.epoch_ms - before.epoch_ms) / 1000
    if seconds <= 0:
        raise ValueError(f"samples {seconds} s apart: the later one must come second")

    def per_second(field: str) -> float:
        return _difference(before, after, field) / seconds

    def mean_us(kind: str) -> float | None:
        operations = _difference(before, after, f"{kind}_operations")
        return _difference(before, after, f"{kind}_time_us") / operations if operations else None

    def escapes_per_second(amount: Literal["ios", "bytes"]) -> float | None:
        if after.unwatched:
            return None
        now, then = (sum(getattr(e, amount) for e in s.escapes) for s in (after, before))
        return float(now - then) / seconds

    read_iops, write_iops = per_second("read_ios"), per_second("write_ios")
    busy_us = sum(_difference(before, after, f"{k}_time_us") for k in ("read", "write", "flush"))
    spending = read_iops + write_iops - (baseline_iops or 0)
    burst = after.credits is not None and after.credits_max is not None
    return VolumeRates(
        epoch_ms=after.epoch_ms,
        interval_s=seconds,
        read_iops=read_iops,
        write_iops=write_iops,
        flushes_per_second=per_second("flush_operations"),
        read_mib_s=per_second("read_bytes") / 2**20,
        write_mib_s=per_second("write_bytes") / 2**20,
        read_latency_us=mean_us("read"),
        write_latency_us=mean_us("write"),
        flush_latency_us=mean_us("flush"),
        read_p99_us=_percentile_us(before.read_histogram, after.read_histogram, 0.99),
        write_p99_us=_percentile_us(before.write_histogram, after.write_histogram, 0.99),
        queue=busy_us / 1e6 / seconds,
        credits=after.credits,
        burst_balance_percent=100 * (after.credits or 0) / (after.credits_max or 1)
        if burst
        else None,
        empty_in_s=(after.credits or 0) / spending if burst and spending > 0 else None,
        late_share=_difference(before, after, "late_time_us") / busy_us if busy_us else None,
        failed_operations=_difference(before, after, "failed_operations"),
        escaped_iops=escapes_per_second("ios"),
        escaped_mib_s=None if (rate := escapes_per_second("bytes")) is None else rate / 2**20,
    )


# --- host-bound I/O ---

# Share of the I/O time; above it the host's disk, not the volume, limits the speed
HOST_BOUND_SHARE = 0.1


class HostBound(Model):
    """The verdict whether the host's disk was fast enough for the volume, with its figures."""

    host_bound: bool
    late_time_share: float | None  # share of all I/O time; None if there was no I/O
    late_operation_share: float | None
    mean_lateness_us: float | None  # mean over the late operations
    sentence: str


def host_bound(before: VolumeSample, after: VolumeSample) -> HostBound:
    """Judge from a volume's counters whether the host's disk, not the volume, limited the speed.

    An operation is late if the host's own I/O ended after the emulated I/O was due; the caller's
    wait beyond the due time is caused by the host. A host is fast enough if these waits are at most
    a tenth of all time that callers spent in I/O.
    """
    kinds = ("read", "write", "flush")
    operations = sum(_difference(before, after, f"{k}_operations") for k in kinds)
    busy_us = sum(_difference(before, after, f"{k}_time_us") for k in kinds)
    late = _difference(before, after, "late_operations")
    late_us = _difference(before, after, "late_time_us")
    if operations == 0:
        return HostBound(
            host_bound=False,
            late_time_share=None,
            late_operation_share=None,
            mean_lateness_us=None,
            sentence="no I/O reached the volume",
        )
    share = late_us / busy_us if busy_us else 0.0
    bound = share > HOST_BOUND_SHARE
    figures = (
        f"{late:,} of {operations:,} operations waited for this machine's disk, "
        f"{words.format_percent(share)} of the time spent in I/O"
    )
    return HostBound(
        host_bound=bound,
        late_time_share=share,
        late_operation_share=late / operations,
        mean_lateness_us=late_us / late if late else None,
        sentence=("host-bound: " if bound else "the machine kept up: ") + figures,
    )


# --- I/O that bypassed an emulated volume ---


ESCAPED_SHARE = 0.01  # share of all I/Os or bytes; above it the volume's figures are not trusted


class Escaped(Model):
    """How much I/O in a volume's directory bypassed the volume, and whether that is tolerable."""

    held: bool
    operations: int  # operations that bypassed the volume
    bytes: int  # a lower bound
    share: float | None  # the larger of the shares of I/Os and of bytes; None if there were none
    sentence: str | None  # None if no bypassing I/O is known


def compute_escaped_share(escaped: tuple[float, float], held: tuple[float, float]) -> float | None:
    """Return the share of I/O that bypassed a volume.

    Args:
        escaped: I/Os and bytes that bypassed it, or the rates of both.
        held: I/Os and bytes that went through it, or the rates of both.

    Returns:
        The larger of the shares of I/Os and of bytes; None if there was no I/O.
    """
    parts = [(past, past + on) for past, on in zip(escaped, held, strict=True)]
    return max((past / total for past, total in parts if total), default=None)


def judge_escapes(before: VolumeSample, after: VolumeSample) -> Escaped:
    """Judge from a volume's counters whether too much I/O bypassed it."""
    then = {escape.program: escape for escape in before.escapes}
    none = Escape(program="", operations=0, ios=0, bytes=0)
    escapes = [
        Escape(
            program=now.program,
            operations=now.operations - then.get(now.program, none).operations,
            ios=now.ios - then.get(now.program, none).ios,
            bytes=now.bytes - then.get(now.program, none).bytes,
        )
        for now in after.escapes
    ]
    operations = sum(escape.operations for escape in escapes)
    size = sum(escape.bytes for escape in escapes)
    share = compute_escaped_share(
        (sum(escape.ios for escape in escapes), size), _count_held_io(before, after)
    )
    sentences = []
    if operations:
        sentences.append(
            f"{_describe_amount(operations, size)} bypassed the volume,"
            f" {words.format_percent(share)} of all I/O: {_describe_programs(escapes)}"
        )
    if after.unwatched:
        sentences.append("what processes without a watcher moved past the volume could not be seen")
    return Escaped(
        held=(share or 0.0) <= ESCAPED_SHARE,
        operations=operations,
        bytes=size,
        share=share,
        sentence="; ".join(sentences) or None,
    )


def _count_held_io(before: VolumeSample, after: VolumeSample) -> tuple[int, int]:
    def count_io(sample: VolumeSample) -> tuple[int, int]:
        operations = sample.read_operations + sample.write_operations
        return operations, sample.read_bytes + sample.write_bytes

    (operations, size), (operations_before, size_before) = count_io(after), count_io(before)
    return operations - operations_before, size - size_before


def _describe_amount(operations: int, size: int) -> str:
    calls = words.format_count(operations, "read or write", "reads and writes")
    return f"{calls} ({words.format_three_figures(size / 2**20)} MiB)"


def _describe_programs(escapes: list[Escape]) -> str:
    most_first = sorted(escapes, key=lambda escape: -escape.operations)
    return ", ".join(
        f"{escape.program} {_describe_amount(escape.operations, escape.bytes)}"
        if len(most_first) > 1
        else escape.program
        for escape in most_first
        if escape.operations
    )
