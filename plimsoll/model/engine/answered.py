"""The report of the load engine: half of the contract with `plimsoll_engine`.

The other half is `engine/src/report.rs`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.asked import EngineWorkload

# Bounds, so that sums over thousands of clients, one of which wrote nonsense, fit a float
Count = Annotated[int, Field(ge=0, le=2**53)]
Amount = Annotated[float, Field(ge=0, le=2**53)]


class LatencySummary(Model):
    """Latencies in microseconds, from the histogram beside it; None if nothing was measured."""

    mean: Amount | None
    p50: Count | None
    p95: Count | None
    p99: Count | None
    p999: Count | None
    max: Count | None


class StatementReport(Model):
    """What one statement of an operation did in the window, those that succeeded."""

    sql: str
    executed: Count
    latency_us: LatencySummary


class OperationReport(Model):
    """What one operation did in the window. Failed operations do not count as throughput."""

    succeeded: Count
    records: Count  # succeeded x records of one operation
    # Rows that the statements of its successes met, as the server counts them: returned, inserted,
    # matched for an update or deleted. None if unknown: CQL does not tell it of plain writes, nor
    # do old results
    rows: Count | None = None
    # How many fewer each statement met than the workload means, over all of them
    rows_missing: Count | None = None
    # The fewest that they mean to meet, and whether the operation writes, by the workload; the
    # engine does not tell them
    rows_least: Count | None = None
    writes: bool | None = None
    # Successes that rolled back what they had done, as they were to
    rolled_back: Count = 0
    # Tries that met a deadlock or a serialization failure and were followed by another, by code
    retries: dict[str, Count] = Field(default_factory=dict)
    # {code: count}: "1213", CQL's "write_timeout", "timeout", "connection_lost", "protocol"
    errors: dict[str, Count]
    # Successes and time-outs (at full length, CQL servers' time-outs too)
    latency_us: LatencySummary
    histogram: str  # HdrHistogram V2 compressed, base64; 1 us to 5 min, 3 digits
    # The operation's statements, then BEGIN and COMMIT; empty unless their latencies are recorded
    statements: tuple[StatementReport, ...] = ()


class NodeReport(Model):
    """What one node of a cluster did in the window: operations whose last statement it executed."""

    address: str
    ring_share: Amount  # share of all tokens; each range is divided evenly among its replicas
    succeeded: Count
    errors: dict[str, Count]
    latency_us: LatencySummary  # successes and time-outs, as for an operation
    histogram: str
    statements_sent: Count  # including the warm-up
    taken_over: Count  # those sent here because the intended node had no connection
    lost: Count  # number of connections to it that were lost


class SecondReport(Model):
    """One second of the run, including warm-up; `second` counts from the start of the load."""

    second: Count
    operation: str
    succeeded: Count
    errors: Count
    p50_us: Count | None
    p99_us: Count | None
    max_us: Count | None
    # A coarse histogram that can be added over clients, {upper bound in us: count}, without empty
    # buckets. Upper bounds are 2^(k/8), rounded up.
    buckets: dict[Count, Count]


class SelfReport(Model):
    """What the client measured about itself in the window: the basis of *client-bound*."""

    cpu_user_s: Amount
    cpu_system_s: Amount
    # Time that its threads busy-polled for replies, which is not work; None if unknown
    polled_s: Amount | None = None
    cpu_us_per_operation: Amount | None  # without the busy-polling
    busy_fraction: Amount | None  # share of the window in which its threads were not waiting
    # Time that its threads were runnable without a CPU; None if the system does not report it
    processor_wait_s: Amount | None = None
    send_lateness_us: LatencySummary | None  # open loop: send time - due time
    backlog_max: Count | None  # open loop: most operations that were due without a free connection
    backlog_end: Count | None  # the same at the end of the window
    unsent: Count | None  # due in the window but not sent by its end
    unanswered: Count  # sent but without reply at the end of the window
    oldest_unanswered_us: Count | None  # age, at the end, of the oldest due operation without reply


class ConnectionReport(Model):
    """What happened to the connections (CQL: TCP connections) over the whole load."""

    opened: Count
    replaced: Count  # after a time-out or a lost connection
    failed: dict[str, Count]  # {error code: failed attempts}


class ReadBack(Model):
    """What a second session found of rows that were written as the load writes, after it."""

    written: Count
    kept: Count  # those that the second session saw changed


class LoadReport(Model):
    """The report of one client."""

    engine_version: str
    window_start_epoch_ms: Count
    window_end_epoch_ms: Count
    window_s: Amount
    late_start_ms: Count  # delay after the barrier until it was ready; 0 if in time
    connections: Count
    threads: Count
    poll_us: Count = 0  # longest busy-poll for a reply before it slept
    rate_ops_per_second: Amount | None
    operations: dict[str, OperationReport]
    nodes: tuple[NodeReport, ...] = ()  # nodes of a cluster; empty for a single server
    seconds: tuple[SecondReport, ...]
    client: SelfReport
    connection_report: ConnectionReport
    error_examples: dict[str, str]  # {error code: its first message}
    # Executions of prepared statements, including warm-up: the server's Com_stmt_execute
    statements_sent: Count
    transaction_commands_sent: Count  # BEGIN, COMMIT and ROLLBACK, including warm-up
    operations_sent: Count  # including warm-up
    ended: Literal["duration", "operations", "cancelled"]
    # None if the workload updates no row by its key, or no second session could read; the engine
    # does not tell it
    read_back: ReadBack | None = None

    def per_minute(self, of: Mapping[str, str]) -> dict[str, float]:
        """Return figures of the load: operations committed per minute of the window.

        Args:
            of: The operation of each figure, by the figure's name.
        """
        if not self.window_s:
            return {}
        totals = {name: self.operations[one] for name, one in of.items() if one in self.operations}
        return {
            name: 60 * (one.succeeded - one.rolled_back) / self.window_s
            for name, one in totals.items()
        }

    def with_meaning(self, workload: EngineWorkload) -> Self:
        """Return the report with what its operations mean by the workload."""
        operations = dict(self.operations)
        for meant in workload.operations:
            if totals := operations.get(meant.name):
                told = {"rows_least": totals.succeeded * meant.rows_least, "writes": meant.writes}
                operations[meant.name] = totals.model_copy(update=told)
        return self.model_copy(update={"operations": operations})
