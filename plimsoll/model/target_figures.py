"""What a target does under a load, as its metrics and its server tell it."""

from plimsoll.model.base import Model


class TargetMetrics(Model):
    """CloudWatch's metrics of a target; None where CloudWatch has no point."""

    read_iops: float | None = None
    write_iops: float | None = None
    read_mib_s: float | None = None
    write_mib_s: float | None = None
    queue: float | None = None
    read_latency_us: float | None = None
    write_latency_us: float | None = None
    flush_latency_us: float | None = None  # one machine only: EBS has no such metric
    cpu_percent: float | None = None
    burst_balance_percent: float | None = None
    ebs_io_balance_percent: float | None = None  # of the instance
    ebs_byte_balance_percent: float | None = None
    escaped_iops: float | None = None  # one machine only: I/O that went past the emulated volume
    escaped_mib_s: float | None = None
    cpu_credits: float | None = None  # left to a burstable instance
    host_late_percent: float | None = None  # one machine only: of the time in I/O, due to its disk
    host_stolen_percent: float | None = None  # ... of its processor time, by its hypervisor
    host_others_percent: float | None = None  # ... of that, by processes that are none of the run's
    host_idle_percent: float | None = None  # ... of that, by nobody


class TargetSample(TargetMetrics):
    """Over one period."""

    epoch_ms: int  # when the period begins


class TargetFigures(TargetMetrics):
    """Means over a step's load; of balances and credits the least."""

    period_s: int
    points: int


class StorageRates(Model):
    """What a server itself says of its I/O, as a mean over the time between two readings."""

    interval_s: float
    iops: float  # reads and writes that it asked for, its log's among them
    mib_s: float
    fsyncs_per_second: float
    # False: only what surely reached the storage; the rest may have ended in the system's memory
    whole: bool = True
