"""What the load engine is told: half of the contract with `plimsoll_engine`.

`engine/src/spec/` is its other side, `engine_report` what the engine answers. The engine takes a
`LoadSpec` as JSON and returns a `LoadReport` as JSON; both refuse unknown fields.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.engine.networks import Network
from plimsoll.model.engine.values import Value

# --- where the load goes ---


class Tls(Model):
    """TLS towards the target."""

    ca_pem: str | None = None  # None: the system's roots
    verify: bool = True  # False encrypts without checking who answers


Protocol = Literal["mysql", "cql", "postgres"]
StatementMode = Literal["prepared", "simple"]
Consistency = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"
]


def require_options(protocol: Protocol, statement_mode: StatementMode, allow_md5: bool) -> None:
    """Refuse what is an option of PostgreSQL alone.

    Raises:
        UsageError: It was chosen for a database of another protocol; names the field.
    """
    chosen = {"statement_mode": statement_mode == "simple", "allow_md5": allow_md5}
    for name, is_set in chosen.items():
        if is_set and protocol != "postgres":
            raise UsageError(Complaint((name,), f"is of PostgreSQL alone, not of {protocol}"))


def require_cluster(protocol: Protocol, nodes: Sequence[str]) -> None:
    """Refuse nodes of a database that has none.

    Raises:
        UsageError: Names the field.
    """
    if nodes and protocol != "cql":
        raise UsageError(Complaint(("nodes",), f"are of Cassandra alone, not of {protocol}"))


class EngineTarget(Model):
    """A database server and the account that the clients use."""

    protocol: Protocol
    host: str
    port: Annotated[int, Field(ge=1, le=65535)]
    user: str
    password: str = Field(repr=False)
    database: str  # of CQL: the keyspace
    tls: Tls | None = None  # None: no TLS, unless the server demands it (then a clear error)
    # for a whole login, whatever the load's time-out: a machine that stands still for some seconds
    # is no reason to refuse a load
    login_timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000
    # PostgreSQL: `simple` sends statements as text with their values in it, for poolers that do not
    # know prepared ones
    statement_mode: StatementMode = "prepared"
    allow_md5: bool = False  # PostgreSQL: a login by MD5, which whoever listens can break
    # CQL: where a cluster's other nodes may be, on the same port; none: the load goes to `host`
    # alone, and nothing is asked for others
    nodes: tuple[Network, ...] = ()
    # CQL: the copies of each row in a keyspace that is made; no matter of the engine's
    replication: Annotated[int, Field(ge=1)] = Field(1, exclude=True)

    @model_validator(mode="after")
    def _only_postgres_has_its_options(self) -> Self:
        require_options(self.protocol, self.statement_mode, self.allow_md5)
        require_cluster(self.protocol, self.nodes)
        return self


# --- what it consists of ---


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

POLL_MOST_US = 1_000
POLL_US = 500  # most of what polling gains, on slow hosts too (docs/performance.md)


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
    # CQL: how many operations in flight share one TCP connection, each on a stream of its own
    streams_per_connection: Annotated[int, Field(ge=1, le=10_000)] = 128
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    # at most so long it looks for answers again before it sleeps, where that pays; 0: it sleeps.
    # For clients that share no processor with the server or with each other
    poll_us: Annotated[int, Field(ge=0, le=POLL_MOST_US)] = 0
    loop: Annotated[ClosedLoop | OpenLoop, Field(discriminator="kind")] = ClosedLoop()
    warmup_s: Annotated[float, Field(ge=0)] = 0.0
    duration_s: Annotated[float, Field(gt=0)]
    operations_limit: Annotated[int, Field(ge=1)] | None = None  # ends earlier after so many in all
    sequence_from: Annotated[int, Field(ge=0)] = 0  # the first number of sequential draws
    timeout_ms: Annotated[int, Field(ge=1)] = 60_000
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
    client_index: Annotated[int, Field(ge=0)] = 0
    client_count: Annotated[int, Field(ge=1)] = 1
    start_at_epoch_ms: int | None = None  # the barrier: connect before, send from then on


LoadOrder = Literal["key", "number"]


class DatasetSpec(Model):
    """Rows to load: numbers [from_row, to_row) of a table, many rows a statement.

    A row that exists stays as it is (INSERT IGNORE), so a repeated load completes, never doubles.
    CQL inserts each row by a statement of its own, 32 of them in flight on each connection; a row
    that exists is written again with the same values.
    """

    target: EngineTarget
    table: str
    columns: tuple[str, ...]
    row: tuple[Value, ...]  # one per column; equal for equal seed and row number
    from_row: int
    to_row: int
    load_order: LoadOrder = "key"  # of CQL: always by number
    rows_per_statement: Annotated[int, Field(ge=1)] = 500
    connections: Annotated[int, Field(ge=1)] = 8
    timeout_ms: Annotated[int, Field(ge=1)] = 60_000
    seed: int = 1
