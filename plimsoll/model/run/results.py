"""What a run comes to: `result.json`, and the files of each step. docs/results.md explains them."""

from collections.abc import Sequence
from datetime import datetime
from statistics import geometric_mean
from typing import Literal, Self

from pydantic import Field

from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.base import Model
from plimsoll.model.datasets import DatasetLayout
from plimsoll.model.engine.answered import LatencySummary
from plimsoll.model.judging.capacity import Capacity, Resource
from plimsoll.model.judging.steps import Step, TargetFigures, TargetSample, Trend
from plimsoll.model.request.expectations import Expectation
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import ToggleResult
from plimsoll.model.run.dashboards import Links
from plimsoll.model.run.fleet import FailedClient, StepPlan
from plimsoll.model.run.quote import RunCost
from plimsoll.model.run.run_record import Failure, RunState

# The unmeasured load before a search, in rounds: what was seen of it, and whether it settled.


class Round(Model):
    """One round of it."""

    number: int
    duration_s: float
    throughput_ops_per_second: float | None
    ios_per_operation: float | None  # as the server counts them; None: it does not tell all
    trend: Trend | None  # of the throughput, from second to second


class Preconditioning(Model):
    """All rounds: `prepare/preconditioning.json`."""

    rounds: tuple[Round, ...]
    settled: bool  # in the last round
    text: str  # for people: for how long, and what had settled or had not

    @property
    def duration_s(self) -> float:
        """Seconds of load in all."""
        return sum(each.duration_s for each in self.rounds)


# What the phases of a run came to: a part of `result.json`.


class PhaseLoad(Model):
    """The passes of a phase at one load, each from its first record to its last."""

    connections: int  # of all clients together
    clients: int
    steps: tuple[int, ...]  # their numbers: steps/<n>/step.json
    records_per_second: tuple[float | None, ...]  # of each pass; None: it says nothing
    low_records_per_second: float | None  # of the 95 % interval; None: too few passes
    high_records_per_second: float | None
    unfinished: int  # passes that ended by time: their rate is of what they got done
    errors: int  # operations that failed; they are no records
    resource: Resource | None  # at its limit, or nearest to it; None: not known
    reached: bool  # whether it was at its limit; False: the clients did not push harder
    limit: str | None  # the same, as a part of a sentence
    doubt: str | None = None  # which of its passes audits dispute, and why; None: none

    @property
    def measured(self) -> tuple[float, ...]:
        """The passes that say something."""
        return tuple(rate for rate in self.records_per_second if rate)

    @property
    def middle_records_per_second(self) -> float | None:
        """Their geometric mean."""
        return geometric_mean(self.measured) if self.measured else None


class PhaseResult(Model):
    """A phase: how many records it gets done in a second, pushed more and more, or its search."""

    name: str
    workload: str
    records: int | None  # of one pass; None: it has a search
    loads: tuple[PhaseLoad, ...]  # fewer than asked for where the run ended early
    steps: tuple[int, ...] = ()  # of its search
    capacity: Capacity | None = None  # of its search, with the steps so far; None: it has none
    limit: str | None = None  # of that, as a part of a sentence
    sentence: str


SCHEMA_VERSION: Literal[1] = 1


class OperationTotals(Model):
    """One operation in one step, all clients together. Failed operations are no throughput."""

    succeeded: int
    records: int
    errors: dict[str, int]  # by code
    latency_us: LatencySummary  # of the merged histogram
    histogram: str  # HdrHistogram V2 compressed, base64


class FleetFigures(Model):
    """How the clients of a step did."""

    planned: int
    ran: int  # results arrived
    failed: tuple[FailedClient, ...]
    missing: tuple[int, ...]  # neither results nor an error: never started, or lost
    late: dict[int, int]  # {client: milliseconds after the barrier}
    start_spread_ms: int | None  # between the first call and the last one
    cold_starts: int
    memory_max_mib: float | None  # the largest client
    cpu_us_per_operation: float | None
    busiest_client: float | None  # share of its window
    # share of the clients' windows that they looked for answers, which is no work; None: not known
    polled_share: float | None = None
    most_waiting_percent: float | None = None  # of its work's time, a client's without a processor
    engine_version: str | None


class ServerLooks(Model):
    """What was seen of the server within the window, by looking at it a few times a second."""

    looks: int
    row_lock_waiters: float | None  # mean number of sessions
    table_lock_waiters: float | None
    checkpoint_share: float | None  # median of the redo log's part whose pages are not yet written
    page_read_waiters: float | None = None
    inner_lock_waiters: float | None = None  # for locks on what the server itself keeps in memory
    log_waiters: float | None = None  # until the log is written or flushed
    log_io_share: float | None = None  # of the looks that saw the log written or flushed
    autovacuum_workers: float | None = None
    checkpoint_looks: int | None = None  # that saw a checkpoint going on


class ServerFigures(Model):
    """The server's own counters over a step's whole load, warm-up included."""

    interval_s: float
    counters: dict[str, int]  # how much each grew
    gauges: dict[str, int]  # as they were at the end
    restarted: bool  # counters began again: the growth is since then
    statements_by_clients: int | None  # executed, as the clients count; None: a client is missing
    statements_by_server: int | None  # Com_stmt_execute
    buffer_pool_miss_share: float | None  # page reads from storage / page requests
    looks: ServerLooks | None = None  # None: nobody could look


class ServerWaits(Model):
    """What a server itself says of what a load waited for in it; None where it does not tell.

    Seconds are summed over sessions, counts over the whole load.
    """

    row_locks_s: float | None = None
    row_lock_waits: int | None = None
    table_locks_s: float | None = None
    table_lock_waits: int | None = None
    page_reads: int | None = None  # of pages that its buffer pool did not hold
    page_reads_s: float | None = None
    commits: int | None = None
    log_flushes: int | None = None
    log_io_s: float | None = None  # in which its log was written or flushed
    connections_max: int | None = None


class NodeTotals(Model):
    """One node of a cluster in one step, all clients together."""

    address: str
    ring_share: float  # of all tokens: its ranges, each divided evenly between its copies
    succeeded: int  # operations whose last statement went to it
    errors: dict[str, int]  # by code
    latency_us: LatencySummary  # of the merged histogram
    histogram: str
    statements_sent: int  # warm-up included
    taken_over: int  # of these, in the place of a node without a connection
    lost: int  # how often a connection to it was lost
    target: TargetFigures | None = None  # its volume's and its processor's, of CloudWatch


class SecondTotals(Model):
    """One operation in one second, all clients together."""

    epoch_s: int
    step: int
    operation: str
    succeeded: int
    errors: int
    max_us: int | None
    buckets: dict[int, int]  # {upper bound in us: operations}; empty: not known


class BackgroundResult(Model):
    """What ran beside a step, merged from its own clients; never in the step's throughput."""

    name: str
    spans_s: tuple[tuple[float, float], ...]  # when, in seconds from the step's barrier
    clients: int  # planned
    clients_ran: int
    connections: int
    ran_s: float  # how much of the step's window
    throughput_ops_per_second: float | None  # in that time; None: none of it lay in the window
    records_per_second: float | None
    errors: int
    unanswered: int  # operations cut off where a span ended
    late_ms: int = 0  # by how much a span of it began too late, at most
    operations: dict[str, OperationTotals]
    failed: tuple[FailedClient, ...] = ()
    seconds: tuple[SecondTotals, ...] = ()  # not in result.json: seconds.json has them


class StepResult(Model):
    """One step: `steps/<index>/step.json`."""

    plan: StepPlan
    window_start_epoch_ms: int | None  # the time in which all clients ran
    window_end_epoch_ms: int | None
    operations: dict[str, OperationTotals]
    nodes: tuple[NodeTotals, ...] = ()  # of a cluster; of one node none
    fleet: FleetFigures
    server: ServerFigures | None  # None: it did not answer
    target: TargetFigures | None = None  # added when the run concludes
    problems: tuple[str, ...]  # what a reader has to know of it
    step: Step  # as capacity is judged from it
    seconds: tuple[SecondTotals, ...] = ()  # not in result.json: seconds.json has them
    background: tuple[BackgroundResult, ...] = ()  # what ran beside it

    @property
    def without_seconds(self) -> Self:
        """The same, as `result.json` holds it."""
        beside = tuple(one.model_copy(update={"seconds": ()}) for one in self.background)
        return self.model_copy(update={"seconds": (), "background": beside})


class Seconds(Model):
    """The whole run on one clock: `seconds.json`."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    operations: tuple[SecondTotals, ...]
    background: dict[str, tuple[SecondTotals, ...]] = Field(default_factory=dict)  # by its name
    target: tuple[TargetSample, ...]

    @classmethod
    def of(cls, run_id: str, steps: Sequence[StepResult], target: tuple[TargetSample, ...]) -> Self:
        """Put the seconds of all steps together, and those of what ran beside them apart."""
        beside: dict[str, tuple[SecondTotals, ...]] = {}
        for step in steps:
            for one in step.background:
                beside[one.name] = beside.get(one.name, ()) + one.seconds
        operations = tuple(second for step in steps for second in step.seconds)
        return cls(run_id=run_id, operations=operations, background=beside, target=target)


class Candidate(Model):
    """A resource that may have set the limit."""

    resource: Resource
    share: float | None  # of its limit, or of the operations' time that they waited for it
    threshold: float  # from which share on it explains a limit
    reached: bool
    evidence: str
    to_change: str  # what would have to change for the limit to be higher


class LimitingResource(Model):
    """What set the limit, or is nearest to its own, with the figures that show it."""

    resource: Resource
    reached: bool | None = None  # False: the nearest to its limit; None: of an older run
    share: float | None = None
    to_change: str | None = None
    second: Candidate | None = None
    host_bound: bool | None  # one machine only: its own disk was slower than the volume
    step: int | None  # the step that shows it
    evidence: tuple[str, ...]


class Moments(Model):
    """When each phase of the run began, and when it ended. UTC; None: it never came to that."""

    submitted: datetime
    record: datetime | None
    provision: datetime | None
    target_ready: datetime | None
    prepare: datetime | None
    step: datetime | None
    conclude: datetime | None
    teardown: datetime | None
    deleted: datetime | None  # when DELETE_COMPLETE was seen: the proof
    ended: datetime | None


class Versions(Model):
    """What measured what."""

    plimsoll: str
    engine: str | None
    database: str | None = None  # as RDS resolved the version asked for; None: an endpoint
    server: str | None  # as it names itself
    workload_sha256: str | None


class RunResult(Model):
    """A finished run: `result.json`."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    name: str
    team: str
    local: bool  # on one machine, not on AWS
    # of the machine that stood in for AWS; None: on AWS, an existing endpoint, or of an older run
    processors: int | None = None
    state: RunState
    failure: Failure | None
    capacity: Capacity | None  # None: the run did not get as far
    limiting: LimitingResource | None
    toggle: ToggleResult | None = None  # None: no toggle was asked for, or it did not get as far
    expect: tuple[Expectation, ...] = ()  # what became of each rule; of an older run: none
    steps: tuple[StepResult, ...]  # of the search
    phases: tuple[PhaseResult, ...] = ()  # before it, each to completion
    rows: int | None  # of the dataset, counted
    dataset: DatasetLayout | None = None  # as it lay there; None: of an older run, or not reached
    zone: str | None = None  # of its load clients, and of a target made for it; None: not known
    volume_limits: VolumeLimits | None  # what a volume (a cluster's: each) promises; None: unknown
    cost: RunCost | None = None  # an estimate by list prices; None: of an older run
    moments: Moments
    versions: Versions
    notes: tuple[str, ...] = ()
    links: Links = Field(default_factory=dict)  # to the dashboards on which it can be seen
    request: Request
