"""A finished step as it is judged, and what the target's metrics and its server said meanwhile.

Whatever was not measured is None.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.judging.debt import DebtGrowth

Statistic = Literal["mean", "p50", "p95", "p99", "p999", "max"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
# Share of the operations that are at most as long as a percentile
QUANTILES: Mapping[Statistic, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "p999": 0.999}

# Why a search ran a step.
Purpose = Literal[
    "baseline",
    "climb",
    "again",
    "descend",
    "bisect",
    "confirm",
    "more_clients",
    "sentinel",  # the lightest load again, at the end
    "twice_clients",  # the answer's connections, spread over twice the clients
    "open_loop",  # near the rate of a closed loop's answer, from callers that do not wait
    "polling",  # the answer's load, from clients that busy-poll for replies
    "soak",  # the answer's load, held for `limits.soak_s`
    "with_background",  # the answer's load in pairs: with the background work
    "without_background",  # and without it
    "toggle",  # the answer's load in one of the two states of the target
]
# Steps after the answer is confirmed. They test it, and do not count as repetitions of any load.
CLOSING: frozenset[Purpose] = frozenset(
    {
        "sentinel",
        "twice_clients",
        "polling",
        "open_loop",
        "soak",
        "with_background",
        "without_background",
        "toggle",
    }
)
SOAK_WINDOW_MAX_S = 600  # the longest window of one step; a longer soak takes several
SOAK_WINDOW_MIN_S = 30
SOAK_MAX_S = 86_400  # the longest time limit of a run

Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Microseconds = Annotated[float, Field(ge=0)]


class Half(Model):
    """One half of a step's window; the steady-state audit compares the two."""

    throughput_ops_per_second: Amount | None = None
    # {operation: median of the p99 of each second}
    latency_us: dict[str, Microseconds] = Field(default_factory=dict)


class Span(Model):
    """Ten seconds of a soak, over all clients."""

    throughput_ops_per_second: Amount
    # The judged statistic of each operation
    latency_us: dict[str, Microseconds] = Field(default_factory=dict)


CreditBucket = Literal["volume", "instance_io", "instance_throughput", "cpu", "log"]


class CreditUse(Model):
    """What a step used of one kind of credits, by AWS's rules (plimsoll.workflow.target_figures).

    Units: I/Os for a volume and an instance, MiB for an instance's throughput, vCPU minutes for
    a CPU. Write debt is judged alike: a database's log lends its bytes while it fills.
    """

    bucket: CreditBucket
    used_per_s: Amount
    earned_per_s: Amount
    full: Annotated[float, Field(gt=0)]  # credits in a full bucket
    balance_percent: Amount | None = None  # lowest during the step; None if unknown
    unlimited: bool = False  # without credits, it keeps its speed and AWS charges for it


class Trend(Model):
    """A linear trend of the throughput by the second (plimsoll.capacity.statistics.trends)."""

    change_share: float  # change over the whole window / median
    p_value: Annotated[float, Field(ge=0, le=1)]  # probability of such a trend by chance
    values: Positive  # number of seconds


class Step(Model):
    """One finished step. It needs a throughput and one measure of load; all else is optional.

    Several steps at one load are its repetitions and are judged together. None or an absent key
    means "unknown", never 0. Open-loop latencies count from the time at which the operation was
    due. Time-outs are included in the latencies at their full length, and in `errors`.
    """

    index: Count | None = None  # number in the run, from 0; None in an imported table
    source: str | None = None  # place where a reader finds it: "results.csv row 4", "steps/3"
    purpose: Purpose | None = None  # why the search ran it; None in an imported table
    state: str | None = None  # name of the toggle's state; None without a toggle
    # Why it says nothing about the target and is not judged; None if it counts
    void: str | None = None
    # Why the target refused connections, so that the step failed; None if it did not
    refused: str | None = None
    clients: Positive | None = None
    connections: Positive | None = None  # connections of all clients together
    # Offered load; None for a closed loop
    rate_ops_per_second: Annotated[float, Field(gt=0)] | None = None
    throughput_ops_per_second: Amount | None = None  # successful operations / window
    operations: Count | None = None  # that succeeded in the window
    errors: Count | None = None  # operations that failed in the window, including time-outs
    window_s: Annotated[float, Field(gt=0)] | None = None  # time in which all clients ran
    # Latency of each operation and statistic, in microseconds
    latency_us: dict[str, dict[Statistic, Microseconds]] = Field(default_factory=dict)
    # Latencies of each operation, counted by the upper bound of their bucket, in microseconds
    # (`plimsoll.model.histograms`); windows are added by these. Empty if unknown
    latency_counts: dict[str, dict[int, Count]] = Field(default_factory=dict)
    # Successes of each operation / all successes
    shares: dict[str, Amount] = Field(default_factory=dict)
    # Successes of each operation in the window
    operation_counts: dict[str, Count] = Field(default_factory=dict)

    # Figures for the audits
    # Fewest rows that the successes of each operation mean to meet, and how many of them were
    # missing; operations of which one is unknown are left out
    rows_meant: dict[str, Count] = Field(default_factory=dict)
    rows_missing: dict[str, Count] = Field(default_factory=dict)
    # Successes of operations that write, and commits that the server counted, over the whole load;
    # None if unknown, or if the server counts no commit at all
    writes: Count | None = None
    commits: Count | None = None
    # Rows that were written as the load writes, and those that a second session saw changed
    written_back: Count | None = None
    read_back: Count | None = None
    clients_ran: Count | None = None  # clients that returned a result
    clients_late: Count | None = None  # clients that were not ready when the window began
    statements_sent: Count | None = None  # counted by the clients, over the whole load
    statements_served: Count | None = None  # counted by the server, over the same time
    # Busiest client: busy share of the window
    client_busy: Annotated[float, Field(ge=0, le=1)] | None = None
    # Open loop: p99 of (send time - due time), worst client
    send_lateness_us: Microseconds | None = None
    # Open loop: operations due but not sent at the end of the window
    backlog_end: Count | None = None
    clock_skew_ms: Amount | None = None  # largest difference between the clients' clocks
    # On one machine only: I/O that bypassed the emulated volume, and its share of all I/Os or bytes
    escaped_iops: Amount | None = None
    escaped_mib_s: Amount | None = None
    escaped_percent: Amount | None = None
    # On one machine only: share of the I/O time caused by its own disk. Shares of its CPU time:
    # stolen by the hypervisor, used by processes outside the run, idle.
    host_late_percent: Amount | None = None
    host_stolen_percent: Amount | None = None
    host_others_percent: Amount | None = None
    host_idle_percent: Amount | None = None
    # Clients on machines of their own: share of the runnable time without a CPU, worst client
    client_waiting_percent: Amount | None = None
    halves: tuple[Half, Half] | None = None
    spans: tuple[Span, ...] = ()  # soak only
    # Soak only: the longest time in which almost no operation succeeded; None if unknown
    stall_s: Amount | None = None
    # Soak only: when the first of its clients was called, when its load began and when it ended;
    # None if no client ran, or in an older result
    called_epoch_ms: Count | None = None
    load_start_epoch_ms: Count | None = None
    load_end_epoch_ms: Count | None = None
    trend: Trend | None = None  # None if unknown, or too few seconds
    credits: tuple[CreditUse, ...] | None = None  # None if unknown
    # Write debt in the window; None if it cannot be read, or in an older result
    debt: DebtGrowth | None = None
    # Where it cannot be read: period of the waves in the throughput; None if there are none
    wave_s: Amount | None = None
    poll_us: Count | None = None  # how long clients busy-polled at most; None if unknown
    window_factor: Positive | None = None  # length of the window / length in the request
    # Whether the target had recovered from an overload before this step
    recovered: bool | None = None
    # How long it waited until other programs left the machine calm; None in an older result
    calm_waited_s: Amount | None = None


class FinishedStep(Model):
    """A judged step, as the search needs it."""

    step: Step  # the figures from which the capacity is judged
    phase: str | None = None  # name of the phase; None for a step of the search
    # Whether clients started after the window had begun (more than a few if there are thousands)
    late: bool


class History(Model):
    """All judged steps of a run except the warming one, in order: `steps/history.json`."""

    steps: tuple[FinishedStep, ...] = ()


# What the target's metrics and its server report during a load.


class TargetMetrics(Model):
    """CloudWatch's metrics of a target; None if CloudWatch has no data point."""

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
    ebs_io_balance_percent: float | None = None  # the instance's balance
    ebs_byte_balance_percent: float | None = None
    escaped_iops: float | None = None  # on one machine only: I/O that bypassed the emulated volume
    escaped_mib_s: float | None = None
    cpu_credits: float | None = None  # credit balance of a burstable instance
    # On one machine only: share of the I/O time caused by its own disk
    host_late_percent: float | None = None
    # Likewise: share of the CPU time stolen by the hypervisor
    host_stolen_percent: float | None = None
    # Likewise: share of the CPU time used by processes outside the run
    host_others_percent: float | None = None
    host_idle_percent: float | None = None  # likewise: share of the CPU time idle

    @property
    def iops(self) -> float | None:
        """Reads and writes together; None if either is unknown."""
        if self.read_iops is None or self.write_iops is None:
            return None
        return self.read_iops + self.write_iops

    @property
    def mib_s(self) -> float | None:
        """Reads and writes together; None if either is unknown."""
        if self.read_mib_s is None or self.write_mib_s is None:
            return None
        return self.read_mib_s + self.write_mib_s


class TargetSample(TargetMetrics):
    """Metrics over one period."""

    epoch_ms: int  # start of the period


class TargetFigures(TargetMetrics):
    """Means over the load of a step; for balances and credits, the lowest value."""

    period_s: int
    points: int


class StorageRates(Model):
    """A server's own I/O counters, as a mean over the time between two readings."""

    interval_s: float
    iops: float  # reads and writes that the server issued, including those of its log
    mib_s: float
    fsyncs_per_second: float
    # False if only a lower bound: the rest may have been served by the operating system's cache
    whole: bool = True
