"""What the load engine answers: half of the contract with `plimsoll_engine`.

`engine/src/report.rs` is its other side.
"""

from typing import Literal

from plimsoll.model.base import Model


class LatencySummary(Model):
    """Latencies in microseconds, from the histogram beside it. None where nothing was measured."""

    mean: float | None
    p50: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None


class OperationReport(Model):
    """What one operation did in the window. Failed operations are no throughput."""

    succeeded: int
    records: int  # succeeded x the records of one
    # by code: "1213", of CQL "write_timeout" ...; "timeout", "connection_lost", "protocol"
    errors: dict[str, int]
    latency_us: LatencySummary  # of successes and time-outs (at full length), CQL servers' too
    histogram: str  # HdrHistogram V2 compressed, base64; 1 us to 5 min, 3 digits


class NodeReport(Model):
    """What one node of a cluster did in the window: operations whose last statement went to it."""

    address: str
    ring_share: float  # of all tokens: its ranges, each divided evenly between its copies
    succeeded: int
    errors: dict[str, int]
    latency_us: LatencySummary  # as an operation's
    histogram: str
    statements_sent: int  # warm-up included
    taken_over: int  # of these, in the place of a node without a connection
    lost: int  # how often a connection to it was lost


class SecondReport(Model):
    """One second of the run, warm-up included; `second` counts from the start of the load."""

    second: int
    operation: str
    succeeded: int
    errors: int
    p50_us: int | None
    p99_us: int | None
    max_us: int | None
    # the same latencies counted coarsely, to be added up over clients: {upper bound in us: count},
    # upper bounds 2^(k/8) rounded up; only where there are any
    buckets: dict[int, int]


class SelfReport(Model):
    """What the client measured of itself in the window: the ground of *client-bound*."""

    cpu_user_s: float
    cpu_system_s: float
    # of its threads' time: looking for answers without sleeping, which is no work; None: not known
    polled_s: float | None = None
    cpu_us_per_operation: float | None  # without the polling
    busy_fraction: float | None  # share of the window in which its threads were not waiting
    # its threads' time with work and without a processor; None where the system does not tell
    processor_wait_s: float | None = None
    send_lateness_us: LatencySummary | None  # open loop: send minus due time
    backlog_max: int | None  # open loop: operations due that found no free connection, at the worst
    backlog_end: int | None  # ... and at the end of the window
    unsent: int | None  # due in the window, never sent before the end: counted, never forgotten
    unanswered: int  # sent, and not answered when the window ended
    oldest_unanswered_us: int | None  # age of the oldest due operation without answer at the end


class ConnectionReport(Model):
    """What became of the connections (CQL: those of TCP) over the whole load."""

    opened: int
    replaced: int  # after a time-out or a loss
    failed: dict[str, int]  # attempts that failed, by code


class LoadReport(Model):
    """One client's answer."""

    engine_version: str
    window_start_epoch_ms: int
    window_end_epoch_ms: int
    window_s: float
    late_start_ms: int  # how long after the barrier it was ready, 0 if in time
    connections: int
    threads: int
    poll_us: int = 0  # how long it looked for answers at most before it slept
    rate_ops_per_second: float | None
    operations: dict[str, OperationReport]
    nodes: tuple[NodeReport, ...] = ()  # of a cluster; of one node none
    seconds: tuple[SecondReport, ...]
    client: SelfReport
    connection_report: ConnectionReport
    error_examples: dict[str, str]  # the first message of each error code
    statements_sent: int  # prepared executions, warm-up included: the server's Com_stmt_execute
    transaction_commands_sent: int  # BEGIN, COMMIT and ROLLBACK, likewise
    operations_sent: int  # likewise
    ended: Literal["duration", "operations", "cancelled"]
