"""A finished step, as capacity is judged from it: whatever was measured, and None for the rest."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from plimsoll.model.base import Model

Statistic = Literal["mean", "p50", "p95", "p99", "p999", "max"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)

# Why a search asked for a step.
Purpose = Literal[
    "baseline",
    "climb",
    "again",
    "descend",
    "bisect",
    "confirm",
    "more_clients",
    "sentinel",  # the lightest load once more, at the end
    "twice_clients",  # the answer's connections on twice the clients
    "open_loop",  # near a closed loop's answer, callers who do not wait
    "polling",  # the answer's load, by clients that look for answers before they sleep
    "soak",  # the answer's load, held for `limits.soak_s`
    "with_background",  # the answer's load again, in pairs: with what runs beside it
    "without_background",  # ... and without
    "toggle",  # the answer's load in one of two states of the target
]
# Steps after the answer is confirmed. They question it, and are no repetitions of any load.
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
SOAK_WINDOW_MAX_S = 600  # the longest window of a step; a longer soak takes several

Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Microseconds = Annotated[float, Field(ge=0)]


class Half(Model):
    """One half of a step's window, for the steady-state audit."""

    throughput_ops_per_second: Amount | None = None
    latency_us: dict[str, Microseconds] = Field(
        default_factory=dict
    )  # by operation: the median over its seconds of the p99


class Span(Model):
    """Ten seconds of a soak, all clients together."""

    throughput_ops_per_second: Amount
    latency_us: dict[str, Microseconds] = Field(default_factory=dict)  # of the statistic judged


CreditBucket = Literal["volume", "instance_io", "instance_throughput", "cpu"]


class CreditUse(Model):
    """What a step used of one kind of credits, by AWS's rules (plimsoll.workflow.target_figures).

    A volume's and an instance's are I/Os, its throughput's MiB, a CPU's minutes of one vCPU.
    """

    bucket: CreditBucket
    used_per_s: Amount
    earned_per_s: Amount
    full: Annotated[float, Field(gt=0)]  # what a full bucket holds
    balance_percent: Amount | None = None  # the least of it during the step; None: not known
    unlimited: bool = False  # without credits it goes on at the same speed, at a charge


class Trend(Model):
    """A trend in a step's throughput by the second (plimsoll.capacity.statistics.trends)."""

    change_share: float  # over the whole window, of the median
    p_value: Annotated[float, Field(ge=0, le=1)]  # of one at least as clear without any cause
    values: Positive  # seconds


class Step(Model):
    """One finished step. Only the throughput and one measure of load are indispensable.

    Several steps at one load are its repetitions; they are judged together. `None` and an absent
    key mean "not known", never 0. Latencies of an open loop count from the time at which the
    operation was due; time-outs are in them at full length and in `errors`.
    """

    index: Count | None = None  # its number in the run, from 0; None in a table from elsewhere
    source: str | None = None  # where a reader finds it: "results.csv row 4", "steps/3"
    purpose: Purpose | None = None  # why the search asked for it; None in a table from elsewhere
    state: str | None = None  # of a toggle, by its name; None: of none
    void: str | None = None  # why it says nothing of the target, and is not judged; None: it does
    refused: str | None = None  # why the target refused connections, so that it failed; else None
    clients: Positive | None = None
    connections: Positive | None = None  # of all clients together
    rate_ops_per_second: Annotated[float, Field(gt=0)] | None = None  # offered; None: closed loop
    throughput_ops_per_second: Amount | None = None  # successful operations / window
    operations: Count | None = None  # that succeeded in the window
    errors: Count | None = None  # operations that failed in the window, time-outs among them
    window_s: Annotated[float, Field(gt=0)] | None = None  # the time in which all clients ran
    latency_us: dict[str, dict[Statistic, Microseconds]] = Field(
        default_factory=dict
    )  # {operation: {statistic: us}}
    shares: dict[str, Amount] = Field(
        default_factory=dict
    )  # {operation: its successes per success of the throughput}
    operation_counts: dict[str, Count] = Field(
        default_factory=dict
    )  # {operation: successes in the window}

    # what the audits need
    clients_ran: Count | None = None  # clients whose results arrived
    clients_late: Count | None = None  # clients that were not ready when the window should begin
    statements_sent: Count | None = None  # by the clients' count, over the whole load
    statements_served: Count | None = None  # by the server's own counters, over the same time
    client_busy: Annotated[float, Field(ge=0, le=1)] | None = (
        None  # busiest client: share of window
    )
    send_lateness_us: Microseconds | None = None  # open loop: worst client's p99 of send minus due
    backlog_end: Count | None = None  # open loop: operations due and unsent at the window's end
    clock_skew_ms: Amount | None = None  # greatest difference between the clients' clocks
    # one machine only: what went past the emulated volume, and its share of all I/Os or all bytes
    escaped_iops: Amount | None = None
    escaped_mib_s: Amount | None = None
    escaped_percent: Amount | None = None
    # one machine only: of the time in I/O, what its own disk took; of its processor time, what its
    # hypervisor gave to others, what processes had that are none of the run's, and what nobody had
    host_late_percent: Amount | None = None
    host_stolen_percent: Amount | None = None
    host_others_percent: Amount | None = None
    host_idle_percent: Amount | None = None
    # clients on machines of their own: of the time with work, what the worst one had no processor
    client_waiting_percent: Amount | None = None
    halves: tuple[Half, Half] | None = None
    spans: tuple[Span, ...] = ()  # of a soak's window
    # of a soak: the longest time in which next to nothing succeeded; None: not known
    stall_s: Amount | None = None
    trend: Trend | None = None  # None: not known, or too few seconds
    credits: tuple[CreditUse, ...] | None = None  # None: not known
    poll_us: Count | None = None  # how long clients looked for answers; None: not known
    window_factor: Positive | None = None  # how many times the request's window it was given
    recovered: bool | None = None  # had the target recovered from an overload before this step?


# The judged steps of a run, as the search needs them: `steps/history.json`.


class FinishedStep(Model):
    """One of them."""

    step: Step  # as capacity is judged from it
    phase: str | None = None  # whose pass it is; None: a step of the search
    late: bool  # clients came after its window had begun; of thousands, more than a few


class History(Model):
    """All of them but the warming one, in order."""

    steps: tuple[FinishedStep, ...] = ()


# What a target does under a load, as its metrics and its server tell it.


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
