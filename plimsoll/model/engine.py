"""What the load engine is told and what it answers: the contract with `plimsoll_engine`.

`engine/src/spec.rs` and `engine/src/report.rs` are the other half of it. The engine takes a
`LoadSpec` as JSON and returns a `LoadReport` as JSON; both refuse unknown fields.
"""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model

# --- where the load goes ---


class Tls(Model):
    """TLS towards the target."""

    ca_pem: str | None = None  # None: the system's roots
    verify: bool = True  # False encrypts without checking who answers


Protocol = Literal["mysql", "cql"]
Consistency = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"
]


class EngineTarget(Model):
    """A database server and the account that the clients use."""

    protocol: Protocol
    host: str
    port: Annotated[int, Field(ge=1, le=65535)]
    user: str
    password: str = Field(repr=False)
    database: str  # of CQL: the keyspace
    tls: Tls | None = None  # None: no TLS, unless the server demands it (then a clear error)


# --- values drawn for each operation ---


class Uniform(Model):
    """Every number alike."""

    kind: Literal["uniform"] = "uniform"


class Sequential(Model):
    """0, 1, 2 ... and round again; one shared counter for a client."""

    kind: Literal["sequential"] = "sequential"


class Zipfian(Model):
    """YCSB's zipfian (Gray et al. 1994); `scrambled` spreads the popular ones by FNV hash."""

    kind: Literal["zipfian"] = "zipfian"
    constant: float = 0.99
    scrambled: bool = True


class Latest(Model):
    """YCSB's latest: zipfian over the distance from the newest key, following inserts."""

    kind: Literal["latest"] = "latest"
    constant: float = 0.99


class Hotspot(Model):
    """YCSB's hotspot: `hot_operations` of the draws go to the first `hot_set` of the numbers."""

    kind: Literal["hotspot"] = "hotspot"
    hot_set: float = 0.2
    hot_operations: float = 0.8


class Exponential(Model):
    """YCSB's exponential: `percentile` % of draws lie in the first `fraction`."""

    kind: Literal["exponential"] = "exponential"
    percentile: float = 95.0
    fraction: float = 0.8571428571


class Gaussian(Model):
    """sysbench's gaussian: the mean of `iterations` uniform draws (rand-type gaussian)."""

    kind: Literal["gaussian"] = "gaussian"
    iterations: int = 12


class Special(Model):
    """sysbench 1.0's special: `hot_operations` % of draws within `hot_set` % in the middle."""

    kind: Literal["special"] = "special"
    iterations: int = 12
    hot_set: int = 1
    hot_operations: int = 75


class Pareto(Model):
    """sysbench's pareto with parameter `h`."""

    kind: Literal["pareto"] = "pareto"
    h: float = 0.2


class SysbenchZipfian(Model):
    """sysbench's zipfian (rejection inversion; Hormann and Derflinger 1996), not scrambled."""

    kind: Literal["sysbench_zipfian"] = "sysbench_zipfian"
    exponent: float = 0.8


Distribution = Annotated[
    Uniform
    | Sequential
    | Zipfian
    | Latest
    | Hotspot
    | Exponential
    | Gaussian
    | Special
    | Pareto
    | SysbenchZipfian,
    Field(discriminator="kind"),
]


class LiteralValue(Model):
    """The same value each time."""

    kind: Literal["literal"] = "literal"
    value: int | float | str | None


class IntegerValue(Model):
    """A whole number from `low` to `high`, both included."""

    kind: Literal["integer"] = "integer"
    low: int
    high: int
    distribution: Distribution = Uniform()


class KeyValue(Model):
    """The number of an existing row of a key space."""

    kind: Literal["key"] = "key"
    key_space: str
    distribution: Distribution = Uniform()


class NextKeyValue(Model):
    """The number of a new row of a key space; see `KeySpace`."""

    kind: Literal["next_key"] = "next_key"
    key_space: str


class RowValue(Model):
    """While a dataset is loaded: the number of the row being made."""

    kind: Literal["row"] = "row"


class VariableValue(Model):
    """A value drawn once for the operation, by an entry of its `let`."""

    kind: Literal["variable"] = "variable"
    name: str


class SumValue(Model):
    """Another whole number plus a constant."""

    kind: Literal["sum"] = "sum"
    of: "Value"
    plus: int


class HashValue(Model):
    """YCSB's `Utils.hash`: the absolute value of the 64-bit FNV-1a hash of a whole number."""

    kind: Literal["fnv_hash"] = "fnv_hash"
    of: "Value"


class FormatValue(Model):
    """Text around other values: each `{}` of the template takes the next one."""

    kind: Literal["format"] = "format"
    template: str
    of: "tuple[Value, ...]"


class TextValue(Model):
    """Random text of a length in bytes."""

    kind: Literal["text"] = "text"
    length: Annotated[int, Field(ge=0, le=65_535)]
    alphabet: Literal["printable", "alphanumeric", "digits"] = "printable"


class PatternValue(Model):
    """sysbench's template: each `#` becomes a digit, each `@` a letter a to z."""

    kind: Literal["pattern"] = "pattern"
    pattern: str


Value = Annotated[
    LiteralValue
    | IntegerValue
    | KeyValue
    | NextKeyValue
    | RowValue
    | VariableValue
    | SumValue
    | HashValue
    | FormatValue
    | TextValue
    | PatternValue,
    Field(discriminator="kind"),
]


class Let(Model):
    """A value drawn once at the start of an operation and used by name."""

    name: str
    value: Value


class EngineStatement(Model):
    """One prepared statement, sent `repeat` times with newly drawn binds.

    `sql` holds alternatives (one per table, say); `choose` gives the index of the one sent
    (None: uniform).
    """

    sql: tuple[str, ...]
    binds: tuple[Value, ...] = ()
    repeat: Annotated[int, Field(ge=1)] = 1
    choose: Value | None = None


class EngineOperation(Model):
    """One unit of work with one latency: its statements in order, in a transaction where asked."""

    name: str
    weight: Annotated[float, Field(ge=0)]
    let: tuple[Let, ...] = ()
    transaction: bool = False  # BEGIN before, COMMIT after, both within the latency
    statements: tuple[EngineStatement, ...]
    records: Annotated[int, Field(ge=1)] = 1  # rows that one success counts for, in records/s
    consistency: Consistency = "ONE"  # CQL: the replicas that must have answered


class KeySpace(Model):
    """The rows of a table by number: first, first + 1, ... and what this client's inserts add.

    A client's new rows are insert_from + client_index + n x client_count. A load on a table that
    an earlier one has inserted into takes an `insert_from` of its own, so that keys never meet.
    """

    name: str
    first: int = 0
    records: Annotated[int, Field(ge=0)]
    insert_from: int | None = None  # None: first + records


class EngineWorkload(Model):
    """A workload with every name resolved: what one client sends."""

    key_spaces: tuple[KeySpace, ...]
    operations: tuple[EngineOperation, ...]


# --- the load ---


class ClosedLoop(Model):
    """Each connection (CQL: stream) sends its next operation when the last has answered."""

    kind: Literal["closed"] = "closed"


class OpenLoop(Model):
    """Operations fall due at times fixed in advance; latency counts from the due time."""

    kind: Literal["open"] = "open"
    arrivals: Literal["constant", "poisson"] = "constant"
    rate_ops_per_second: Annotated[float, Field(gt=0)]  # of this client, not of the fleet


class LoadSpec(Model):
    """One client's load: warm-up, then the measured window."""

    target: EngineTarget
    workload: EngineWorkload
    connections: Annotated[int, Field(ge=1, le=20_000)]  # operations in flight (YCSB's threads)
    # CQL: so many of them share one TCP connection, each on a stream of its own
    streams_per_connection: Annotated[int, Field(ge=1, le=10_000)] = 128
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    loop: Annotated[ClosedLoop | OpenLoop, Field(discriminator="kind")] = ClosedLoop()
    warmup_s: Annotated[float, Field(ge=0)] = 0.0
    duration_s: Annotated[float, Field(gt=0)]
    operations_limit: Annotated[int, Field(ge=1)] | None = None  # ends earlier after so many in all
    timeout_ms: Annotated[int, Field(ge=1)] = 60_000
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
    client_index: Annotated[int, Field(ge=0)] = 0
    client_count: Annotated[int, Field(ge=1)] = 1
    start_at_epoch_ms: int | None = None  # the barrier: connect before, send from then on


class DatasetSpec(Model):
    """Rows to load: numbers [from_row, to_row) of a table, many rows a statement.

    A row that exists stays as it is (INSERT IGNORE), so a repeated load completes, never doubles.
    CQL inserts rows one by one, 32 at a time on each connection, and writes one that exists again
    with the same values.
    """

    target: EngineTarget
    table: str
    columns: tuple[str, ...]
    row: tuple[Value, ...]  # one per column; equal for equal seed and row number
    from_row: int
    to_row: int
    rows_per_statement: Annotated[int, Field(ge=1)] = 500
    connections: Annotated[int, Field(ge=1)] = 8
    timeout_ms: Annotated[int, Field(ge=1)] = 60_000
    seed: int = 1


# --- the answer ---


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
    cpu_us_per_operation: float | None
    busy_fraction: float  # share of the window in which its threads were not waiting
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
    rate_ops_per_second: float | None
    operations: dict[str, OperationReport]
    seconds: tuple[SecondReport, ...]
    client: SelfReport
    connection_report: ConnectionReport
    error_examples: dict[str, str]  # the first message of each error code
    statements_sent: int  # prepared executions, warm-up included: the server's Com_stmt_execute
    transaction_commands_sent: int  # BEGIN, COMMIT and ROLLBACK, likewise
    operations_sent: int  # likewise
    ended: Literal["duration", "operations", "cancelled"]
