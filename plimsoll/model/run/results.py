"""The result of a run: `result.json` and the files of each step. See docs/results.md."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import geometric_mean
from typing import Annotated, Literal, Self

from pydantic import Field

from plimsoll import words
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.base import Model
from plimsoll.model.datasets import DatasetLayout
from plimsoll.model.engine.answered import LatencySummary, OperationReport
from plimsoll.model.judging.capacity import Capacity, Resource
from plimsoll.model.judging.steps import Step, TargetFigures, TargetSample, Trend
from plimsoll.model.request.expectations import Expectation
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import ToggleResult
from plimsoll.model.run.dashboards import Links
from plimsoll.model.run.fleet import FailedClient, StepPlan
from plimsoll.model.run.quote import RunCost
from plimsoll.model.run.run_record import Failure, RunState

# --- preconditioning: the unmeasured load before a search, in rounds ---


class Round(Model):
    """One round of preconditioning."""

    number: int
    duration_s: float
    throughput_ops_per_second: float | None
    # The server's own count; None if it does not count all of them
    ios_per_operation: float | None
    trend: Trend | None  # trend of the throughput by the second


class Preconditioning(Model):
    """All rounds of preconditioning: `prepare/preconditioning.json`."""

    rounds: tuple[Round, ...]
    settled: bool  # whether the last round had settled
    text: str  # how long it ran, and what had settled or had not

    @property
    def duration_s(self) -> float:
        """Seconds of load in all rounds."""
        return sum(each.duration_s for each in self.rounds)


# --- phases of a run ---


class PhaseLoad(Model):
    """The passes of a phase at one load; each pass covers the phase's records once."""

    connections: int  # total over all clients
    clients: int
    steps: tuple[int, ...]  # numbers of the steps: steps/<n>/step.json
    records_per_second: tuple[float | None, ...]  # one per pass; None if the pass does not count
    low_records_per_second: float | None  # lower end of the 95 % interval; None if too few passes
    high_records_per_second: float | None
    unfinished: int  # passes that ran out of time; their rate covers what they completed
    errors: int  # failed operations, which do not count as records
    resource: Resource | None  # resource at its limit, or nearest to it; None if unknown
    reached: bool  # whether it was at its limit; False if the clients did not push hard enough
    limit: str | None  # the same as part of a sentence
    doubt: str | None = None  # which passes fail an audit, and why; None if none does

    @property
    def measured(self) -> tuple[float, ...]:
        """The rates of the passes that count."""
        return tuple(rate for rate in self.records_per_second if rate)

    @property
    def middle_records_per_second(self) -> float | None:
        """The geometric mean of these rates."""
        return geometric_mean(self.measured) if self.measured else None


class PhaseResult(Model):
    """A phase: its records per second at increasing loads, or the search that it ran."""

    name: str
    workload: str
    records: int | None  # records of one pass; None if the phase has a search
    loads: tuple[PhaseLoad, ...]  # fewer than requested if the run ended early
    steps: tuple[int, ...] = ()  # steps of its search
    # Result of its search, with the steps so far; None without a search
    capacity: Capacity | None = None
    limit: str | None = None  # limiting resource of its search, as part of a sentence
    sentence: str


SCHEMA_VERSION: Literal[1] = 1
Count = Annotated[int, Field(ge=0, le=2**53)]


class OperationTotals(Model):
    """One operation in one step, over all clients. Failed operations are not throughput."""

    succeeded: int
    records: int
    # Rows that the successes met (returned, inserted, matched, deleted), as the server counts them.
    # None if unknown, as for plain writes in CQL and in older results
    rows: int | None = None
    rows_missing: int | None = None  # required rows that were not met, summed over statements
    rows_least: int | None = None  # rows that the workload requires the successes to meet
    rolled_back: int = 0  # successes whose operation is to roll back, and did
    # Tries that met a deadlock or a serialization failure and were followed by another, by code
    retries: dict[str, int] = Field(default_factory=dict)
    errors: dict[str, int]  # {error code: failed operations}
    latency_us: LatencySummary  # from the merged histogram
    histogram: str  # HdrHistogram V2 compressed, base64


def split_known_rows(
    operations: Mapping[str, OperationReport | OperationTotals],
) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many rows each operation has to meet, and how many of them were missing.

    Both leave out operations for which either is unknown.
    """
    known = {
        name: (totals.rows_least, totals.rows_missing)
        for name, totals in operations.items()
        if totals.rows_least is not None and totals.rows_missing is not None
    }
    meant = {name: least for name, (least, _) in known.items()}
    return meant, {name: missing for name, (_, missing) in known.items()}


_ENOUGH = 100  # successes, of which at least one should have met a row


def note_no_rows(
    measured: Iterable[Mapping[str, OperationReport | OperationTotals]],
) -> tuple[str, ...]:
    """Return a note on operations that met no row at all, though the server counts rows.

    A statement with more conditions than a key may rightly meet none, so no audit disputes it.

    Args:
        measured: The operations of each step.
    """
    succeeded: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    for operations in measured:
        for name, totals in operations.items():
            unsure = totals.rows is not None and not totals.rows_least  # else an audit disputes it
            succeeded[name] += totals.succeeded if unsure else 0
            rows[name] += totals.rows or 0
    return tuple(
        f"{name} met no row in any of its {words.format_count(count, 'operation')}: if its rows"
        " are meant"
        " to be there, state `rows: 1` in its statement; then such a load does not count"
        for name, count in succeeded.items()
        if count >= _ENOUGH and not rows[name]
    )


class FleetFigures(Model):
    """How the clients of a step performed."""

    planned: int
    ran: int  # clients whose results arrived
    failed: tuple[FailedClient, ...]
    missing: tuple[int, ...]  # clients without result or error: never started, or lost
    late: dict[int, int]  # {client: milliseconds after the barrier}
    start_spread_ms: int | None  # between the first and the last start
    cold_starts: int
    memory_max_mib: float | None  # peak of the largest client
    cpu_us_per_operation: float | None
    busiest_client: float | None  # busy share of its window
    # Share of the clients' windows spent busy-polling, which is not work; None if unknown
    polled_share: float | None = None
    most_waiting_percent: float | None = None  # share of runnable time without a CPU, worst client
    engine_version: str | None


class ServerLooks(Model):
    """Samples of the server within the window, taken a few times a second."""

    looks: int
    row_lock_waiters: float | None  # mean number of waiting sessions
    table_lock_waiters: float | None
    checkpoint_share: float | None  # median share of the redo log whose pages are not written yet
    page_read_waiters: float | None = None
    inner_lock_waiters: float | None = None  # waits for locks on the server's own memory structures
    log_waiters: float | None = None  # waits for the log to be written or flushed
    # Share of the samples in which the log was written or flushed
    log_io_share: float | None = None
    autovacuum_workers: float | None = None
    checkpoint_looks: int | None = None  # samples in which a checkpoint was in progress


class ServerFigures(Model):
    """The server's own counters over the whole load of a step, including warm-up."""

    interval_s: float
    counters: dict[str, int]  # increase of each counter
    gauges: dict[str, int]  # values at the end
    restarted: bool  # True if the counters restarted; the increase is then since the restart
    # Executed, as counted by the clients; None if a client's result is missing
    statements_by_clients: int | None
    statements_by_server: int | None  # Com_stmt_execute
    buffer_pool_miss_share: float | None  # page reads from storage / page requests
    looks: ServerLooks | None = None  # None if no client could sample the server


class ServerWaits(Model):
    """The server's own wait statistics for a load; None if it does not report them.

    Seconds are summed over sessions. Counts cover the whole load.
    """

    row_locks_s: float | None = None
    row_lock_waits: int | None = None
    table_locks_s: float | None = None
    table_lock_waits: int | None = None
    page_reads: int | None = None  # reads of pages missing in its buffer pool
    page_reads_s: float | None = None
    commits: int | None = None
    log_flushes: int | None = None
    log_io_s: float | None = None  # time in which the log was written or flushed
    connections_max: int | None = None


class NodeTotals(Model):
    """One node of a cluster in one step, over all clients."""

    address: str
    ring_share: float  # share of all tokens; each range is divided evenly among its replicas
    succeeded: int  # operations whose last statement went to it
    errors: dict[str, int]  # {error code: failed operations}
    latency_us: LatencySummary  # from the merged histogram
    histogram: str
    statements_sent: int  # including warm-up
    taken_over: int  # those sent here because the intended node had no connection
    lost: int  # number of connections to it that were lost
    target: TargetFigures | None = None  # CloudWatch figures of its volume and CPU


class SecondTotals(Model):
    """One operation in one second, over all clients."""

    epoch_s: int
    step: int
    operation: str
    succeeded: Count
    errors: Count
    max_us: Count | None
    # {upper bound in us: operations}; empty if unknown
    buckets: dict[Annotated[int, Field(ge=1, le=2**53)], Count]


class BackgroundResult(Model):
    """What ran beside a step, merged from its own clients; not part of the step's throughput."""

    name: str
    spans_s: tuple[tuple[float, float], ...]  # when it ran, in seconds from the step's barrier
    clients: int  # planned
    clients_ran: int
    connections: int
    ran_s: float  # time that it ran within the step's window
    # In that time; None if it did not run within the window
    throughput_ops_per_second: float | None
    records_per_second: float | None
    errors: int
    unanswered: int  # operations cut off at the end of a span
    late_ms: int = 0  # largest delay of the start of a span
    operations: dict[str, OperationTotals]
    failed: tuple[FailedClient, ...] = ()
    seconds: tuple[SecondTotals, ...] = ()  # not in result.json; seconds.json has them


class StepResult(Model):
    """One step: `steps/<index>/step.json`."""

    plan: StepPlan
    window_start_epoch_ms: int | None  # start of the time in which all clients ran
    window_end_epoch_ms: int | None
    operations: dict[str, OperationTotals]
    nodes: tuple[NodeTotals, ...] = ()  # nodes of a cluster; empty for a single server
    fleet: FleetFigures
    server: ServerFigures | None  # None if the server did not reply
    target: TargetFigures | None = None  # added when the run concludes
    problems: tuple[str, ...]  # remarks for the reader
    step: Step  # the figures from which the capacity is judged
    seconds: tuple[SecondTotals, ...] = ()  # not in result.json; seconds.json has them
    background: tuple[BackgroundResult, ...] = ()  # what ran beside it

    @property
    def without_seconds(self) -> Self:
        """The step without its seconds, as `result.json` holds it."""
        beside = tuple(one.model_copy(update={"seconds": ()}) for one in self.background)
        return self.model_copy(update={"seconds": (), "background": beside})


class Seconds(Model):
    """Every second of the run on one time line: `seconds.json`."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    operations: tuple[SecondTotals, ...]
    # {name of the background work: its seconds}
    background: dict[str, tuple[SecondTotals, ...]] = Field(default_factory=dict)
    target: tuple[TargetSample, ...]

    @classmethod
    def of(cls, run_id: str, steps: Sequence[StepResult], target: tuple[TargetSample, ...]) -> Self:
        """Collect the seconds of all steps, and separately those of the background work."""
        beside: dict[str, tuple[SecondTotals, ...]] = {}
        for step in steps:
            for one in step.background:
                beside[one.name] = beside.get(one.name, ()) + one.seconds
        operations = tuple(second for step in steps for second in step.seconds)
        return cls(run_id=run_id, operations=operations, background=beside, target=target)


class Candidate(Model):
    """A resource that may be the limit."""

    resource: Resource
    share: float | None  # share of its limit, or of the operations' time spent waiting for it
    threshold: float  # share from which on it explains a limit
    reached: bool
    evidence: str
    to_change: str  # what to change to raise the limit


class LimitingResource(Model):
    """The resource that is the limit, or nearest to its limit, with the evidence."""

    resource: Resource
    reached: bool | None = None  # False if it is only nearest to its limit; None in an older result
    share: float | None = None
    to_change: str | None = None
    second: Candidate | None = None
    host_bound: bool | None  # on one machine only: whether its own disk was slower than the volume
    step: int | None  # the step that shows it
    evidence: tuple[str, ...]


class CheckedCondition(Model):
    """A condition of the workload, checked on all rows after the last step."""

    name: str
    about: str  # what is true of the rows
    breaches: int | None  # rows (or groups of rows) that break it; None if it was not checked
    unknown: str | None = None  # why it was not checked; None if it was


class CheckedConditions(Model):
    """The conditions of the run's workload: `conditions.json`, written before the conclusion."""

    conditions: tuple[CheckedCondition, ...]


class Moments(Model):
    """When each phase of the run began, and when the run ended. UTC; None if never reached."""

    submitted: datetime
    record: datetime | None
    provision: datetime | None
    target_ready: datetime | None
    prepare: datetime | None
    step: datetime | None
    conclude: datetime | None
    teardown: datetime | None
    deleted: datetime | None  # when DELETE_COMPLETE was seen: the proof of deletion
    ended: datetime | None


class Versions(Model):
    """Versions of the software that measured and of the database that was measured."""

    plimsoll: str
    engine: str | None
    database: str | None = None  # the version that RDS resolved; None for an endpoint
    server: str | None  # the server's own version string
    workload_sha256: str | None


class RunResult(Model):
    """The result of a run that has ended: `result.json`."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    name: str
    team: str
    local: bool  # ran on one machine, not on AWS
    # CPUs of the machine that stood in for AWS; None on AWS, for an endpoint, or in an older result
    processors: int | None = None
    state: RunState
    failure: Failure | None
    capacity: Capacity | None  # None if the run did not get that far
    limiting: LimitingResource | None
    toggle: ToggleResult | None = None  # None without a toggle, or if the run did not get that far
    expect: tuple[Expectation, ...] = ()  # result of each expectation; empty in an older result
    # What is true of the workload's rows; empty without conditions, or in an older result
    conditions: tuple[CheckedCondition, ...] = ()
    steps: tuple[StepResult, ...]  # steps of the search
    phases: tuple[PhaseResult, ...] = ()  # run before the search, each to completion
    rows: int | None  # exact count of the dataset's rows
    # Layout on the server before the load; None in an older result, or if not reached
    dataset: DatasetLayout | None = None
    zone: str | None = None  # zone of its load clients and of a target made for it; None if unknown
    # Limits of the volume (of each, in a cluster); None if unknown
    volume_limits: VolumeLimits | None
    cost: RunCost | None = None  # an estimate by list prices; None in an older result
    moments: Moments
    versions: Versions
    notes: tuple[str, ...] = ()
    links: Links = Field(default_factory=dict)  # links to dashboards that show the run
    request: Request
