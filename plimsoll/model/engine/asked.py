"""The job of the load engine: half of the contract with `plimsoll_engine`.

The other half is `engine/src/spec/`; `answered` holds what the engine returns. The engine
takes a `LoadSpec` as JSON and returns a `LoadReport` as JSON. Both refuse unknown fields.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.engine.expressions import Expression
from plimsoll.model.engine.networks import Network
from plimsoll.model.engine.scripts import Formula, SessionVariable
from plimsoll.model.engine.values import IntegerValue, LiteralValue, Value, VariableValue

# --- target ---


class Tls(Model):
    """TLS settings of the connections to the target."""

    ca_pem: str | None = None  # None for the system's root certificates
    verify: bool = True  # False encrypts without verifying the server's certificate


Protocol = Literal["mysql", "cql", "postgres"]
StatementMode = Literal["prepared", "simple"]
Consistency = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"
]


def require_options(protocol: Protocol, statement_mode: StatementMode, allow_md5: bool) -> None:
    """Refuse PostgreSQL's options on a database of another protocol.

    Raises:
        UsageError: An option is set; names the field.
    """
    chosen = {"statement_mode": statement_mode == "simple", "allow_md5": allow_md5}
    for name, is_set in chosen.items():
        if is_set and protocol != "postgres":
            raise UsageError(Complaint((name,), f"is of PostgreSQL alone, not of {protocol}"))


def require_cluster(protocol: Protocol, nodes: Sequence[str]) -> None:
    """Refuse a list of nodes on a database other than Cassandra.

    Raises:
        UsageError: Nodes are listed; names the field.
    """
    if nodes and protocol != "cql":
        raise UsageError(Complaint(("nodes",), f"are of Cassandra alone, not of {protocol}"))


# What each session sets when it opens, the engine's and ours (`databases/*/session.py`), because a
# load is measured wrongly without it: with autocommit off no update would be committed, and in
# another sql_mode a statement means something else. All else (isolation, time-outs, search_path)
# stays as the server has it. MySQL: SQL expressions. PostgreSQL: parameters of the startup message,
# only those that poolers in transaction mode keep for each of their clients.
SESSION_SETTINGS: dict[Protocol, tuple[tuple[str, str], ...]] = {
    "mysql": (
        ("autocommit", "1"),
        ("character_set_client", "utf8mb4"),
        ("character_set_connection", "utf8mb4"),
        ("character_set_results", "utf8mb4"),
        ("completion_type", "'NO_CHAIN'"),
        ("foreign_key_checks", "1"),
        ("sql_mode", "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'"),
        ("sql_safe_updates", "0"),
        ("sql_select_limit", "18446744073709551615"),
        ("time_zone", "'+00:00'"),
        ("unique_checks", "1"),
    ),
    "postgres": (
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
        ("standard_conforming_strings", "on"),
    ),
    "cql": (),
}


class EngineTarget(Model):
    """A database server and the account that the clients use."""

    protocol: Protocol
    host: str
    port: Annotated[int, Field(ge=1, le=65535)]
    user: str
    password: str = Field(repr=False)
    database: str  # CQL: the keyspace
    # None for no TLS; if the server requires it, the load fails with a clear error
    tls: Tls | None = None
    # Limit of a whole login, longer than the load's time-out: a machine that stalls for some
    # seconds is no reason to fail a load.
    login_timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000
    # PostgreSQL: `simple` sends each statement as text that contains its values, for poolers
    # without support of prepared statements.
    statement_mode: StatementMode = "prepared"
    allow_md5: bool = False  # PostgreSQL: allow MD5 logins, which an eavesdropper can break
    # CQL: networks in which the cluster's other nodes may be, on the same port. If empty, all load
    # goes to `host`, and no other node is looked up.
    nodes: tuple[Network, ...] = ()
    session_settings: tuple[tuple[str, str], ...] = Field(
        default_factory=lambda target: SESSION_SETTINGS[target["protocol"]]
    )
    # CQL: replicas of each row in a keyspace that Plimsoll creates; the engine does not use it
    replication: Annotated[int, Field(ge=1)] = Field(1, exclude=True)

    @model_validator(mode="after")
    def _require_options_of_family(self) -> Self:
        require_options(self.protocol, self.statement_mode, self.allow_md5)
        require_cluster(self.protocol, self.nodes)
        return self


# --- workload ---

_WRITE = re.compile(r"\s*(INSERT|REPLACE|UPDATE|DELETE)\b", re.IGNORECASE)


class Let(Model):
    """A value drawn once at the start of an operation, which its statements use by name."""

    name: str
    value: Value


class RowWritten(Model):
    """The row that a statement writes and names by its key, for a second session that reads it.

    An `insert` has a new key. An `insert_again` has the key of a row that is there, so it inserts
    only what a statement before it has deleted.
    """

    kind: Literal["update", "insert", "delete", "insert_again"]
    table: str  # the one that the statement's first alternative names
    column: str  # the key's
    bind: int  # index of the key among the statement's binds
    key: Value  # the same as in `binds`, without names of `let`
    rows: Annotated[int, Field(ge=1)] = 1  # rows with successive numbers that an INSERT writes


class Returned(Model):
    """A variable that takes a column of the first row of a statement's result; null if none."""

    name: str
    kind: Literal["integer", "text"]


class EngineList(Model):
    """Lines that an operation draws once, after its `let`; each has variables of its own."""

    name: str  # also the variable with a line's number, from 1
    count: Value
    least: Annotated[int, Field(ge=1)]  # the bounds of `count`
    most: Annotated[int, Field(ge=1)]
    let: tuple[Let, ...]
    # The variable by which the lines are sorted, no two alike; None for their number
    key: str | None = None
    returned: tuple[Returned, ...] = ()  # the lines' variables that statements return


class Each(Model):
    """The part of a statement that is repeated for each line of a list: some of its binds."""

    list: str
    first: Annotated[int, Field(ge=0)]  # the binds [first, end)
    end: Annotated[int, Field(ge=0)]


class EngineStatement(Model):
    """One prepared statement, sent `repeat` times with newly drawn binds.

    `sql` holds alternatives, such as one per table. `choose` draws the index of the one to send;
    if it is None, each is equally likely. `rows_least` is the fewest rows that one execution is to
    meet, 0 if it may meet none. The engine does not use `row_written`.

    With `each`, `sql` holds each alternative for the least number of lines up to the most,
    `rows_least` is of one line, and rows are returned to the line that has their first column as
    its key; a line without a row has nulls.
    """

    sql: tuple[str, ...]
    binds: tuple[Value, ...] = ()
    repeat: Annotated[int, Field(ge=1)] = 1
    choose: Value | None = None
    rows_least: Annotated[int, Field(ge=0)] = 0
    returns: tuple[Returned, ...] = ()  # the first columns of the result
    # The row that they are of. `only` makes any other number of rows a failure (pgbench's \gset);
    # with `last` the variables stay as they are without a row (its \aset)
    row: Literal["first", "only", "last"] = "first"
    each: Each | None = None
    row_written: RowWritten | None = Field(None, exclude=True)


class SendStep(Model):
    """Sends a statement, by its index among the operation's."""

    kind: Literal["send"] = "send"
    statement: Annotated[int, Field(ge=0)]
    # Whether the next steps are taken before this one is answered, if the protocol allows it. With
    # None they are: on PostgreSQL, after a statement that returns no variables
    ahead: bool | None = None


class AwaitStep(Model):
    """Waits for the answers to what was sent ahead."""

    kind: Literal["await"] = "await"


class IfStep(Model):
    """Takes some steps or others."""

    kind: Literal["if"] = "if"
    condition: Expression
    then: "tuple[Step, ...]"
    otherwise: "tuple[Step, ...]" = ()


class RepeatStep(Model):
    """Takes steps as often as a value says; `turn` names the number of the turn, from 1."""

    kind: Literal["repeat"] = "repeat"
    times: Value
    turn: str
    let: tuple[Let, ...] = ()  # drawn in each turn
    steps: "tuple[Step, ...]"


class EachStep(Model):
    """Takes steps for each line of a list, with the line's variables."""

    kind: Literal["each"] = "each"
    list: str
    steps: "tuple[Step, ...]"


class RollbackStep(Model):
    """Rolls back what the operation has done, and ends it as a success."""

    kind: Literal["rollback"] = "rollback"


class SetStep(Model):
    """Computes a variable of the connection."""

    kind: Literal["set"] = "set"
    name: str
    of: Formula
    place: str  # the command's file and line


class WhenStep(Model):
    """Takes some steps or others, by whether a formula is true."""

    kind: Literal["when"] = "when"
    condition: Formula
    place: str  # the command's file and line
    then: "tuple[Step, ...]"
    otherwise: "tuple[Step, ...]" = ()


class SleepStep(Model):
    """Waits so many microseconds, times the whole number that a variable begins with."""

    kind: Literal["sleep"] = "sleep"
    us: Annotated[int, Field(ge=0)]
    times: str | None = None  # the variable
    place: str  # the command's file and line


Step = Annotated[
    SendStep
    | AwaitStep
    | IfStep
    | RepeatStep
    | EachStep
    | RollbackStep
    | SetStep
    | WhenStep
    | SleepStep,
    Field(discriminator="kind"),
]


class EngineOperation(Model):
    """One unit of work with one latency: its statements, in a transaction if requested.

    They are sent in order, or as `steps` says.
    """

    name: str
    weight: Annotated[float, Field(ge=0)]
    let: tuple[Let, ...] = ()
    lists: tuple[EngineList, ...] = ()  # drawn after `let`
    transaction: bool = False  # BEGIN before, COMMIT after; both count in the latency
    own_transactions: bool = False  # whether its statements begin and end transactions
    statements: tuple[EngineStatement, ...]
    steps: tuple[Step, ...] = ()
    # How often it is tried if it meets deadlocks or serialization failures
    max_tries: Annotated[int, Field(ge=1, le=1000)] = 1
    # Closed loop: the time before it is sent, and the mean of the exponential time after it
    keying_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    think_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    records: Annotated[int, Field(ge=1)] = 1  # rows that one success counts as, in records/s
    consistency: Consistency = "ONE"  # CQL: which replicas must acknowledge

    @property
    def rows_least(self) -> int:
        """The fewest rows that one success meets, 0 if it may meet none."""
        if not self.steps:
            return sum(statement.rows_least * statement.repeat for statement in self.statements)
        goes_on, rolled_back = self._count_least_rows(self.steps)
        return goes_on if rolled_back is None else min(goes_on, rolled_back)

    def _count_least_rows(self, steps: Sequence[Step]) -> tuple[int, int | None]:
        """Return the fewest rows that steps meet, and those met before a rollback; None if none."""
        goes_on, ends = 0, list[int]()
        for step in steps:
            match step:
                case SendStep():
                    sent = self.statements[step.statement]
                    lines = 1 if sent.each is None else self._count_least_lines(sent.each.list)
                    goes_on += sent.rows_least * sent.repeat * lines
                case IfStep() | WhenStep():
                    sides = [self._count_least_rows(side) for side in (step.then, step.otherwise)]
                    ends += [goes_on + end for _, end in sides if end is not None]
                    goes_on += min(on for on, _ in sides)
                case RepeatStep():
                    turn, end = self._count_least_rows(step.steps)
                    ends += [] if end is None else [goes_on + end]
                    goes_on += self._count_least_turns(step.times) * turn
                case EachStep():
                    turn, end = self._count_least_rows(step.steps)
                    ends += [] if end is None else [goes_on + end]
                    goes_on += self._count_least_lines(step.list) * turn
                case RollbackStep():
                    ends.append(goes_on)
        return goes_on, min(ends, default=None)

    def _count_least_lines(self, name: str) -> int:
        return next(one.least for one in self.lists if one.name == name)

    def _count_least_turns(self, times: Value) -> int:
        match times:
            case VariableValue(name=name):
                drawn = [let.value for let in self.let if let.name == name]
                return self._count_least_turns(drawn[0]) if drawn else 0
            case IntegerValue(low=least) | LiteralValue(value=int(least)):
                return max(least, 0)
            case _:
                return 0

    @property
    def writes(self) -> bool:
        """Whether one of its statements is a write."""
        return any(_WRITE.match(sql) for one in self.statements for sql in one.sql)


class KeySpace(Model):
    """The rows of a table by number: first, first + 1, ... and the rows that this client inserts.

    The new rows of a client have the numbers insert_from + client_index + n x client_count. A load
    on a table into which an earlier load inserted rows needs a higher `insert_from`, so that no key
    is used twice.
    """

    name: str
    first: int = 0
    records: Annotated[int, Field(ge=0)]
    insert_from: int | None = None  # None for first + records


class EngineWorkload(Model):
    """A workload with all names resolved: what one client executes."""

    key_spaces: tuple[KeySpace, ...]
    operations: tuple[EngineOperation, ...]
    # How the next operation is chosen: by weight, or from each connection's shuffled deck, with
    # as many cards of an operation as its weight (TPC-C, clause 5.2.4.2)
    mix: Literal["weights", "deck"] = "weights"
    variables: tuple[SessionVariable, ...] = ()  # what each connection keeps for its scripts


POLL_MOST_US = 1_000
# Most of the gain from busy-polling, on slow hosts too (docs/evidence/performance.md)
POLL_US = 500


class ClosedLoop(Model):
    """Each connection (CQL: stream) sends its next operation after the reply to the last."""

    kind: Literal["closed"] = "closed"


class OpenLoop(Model):
    """Operations are due at times fixed in advance; latency counts from the due time."""

    kind: Literal["open"] = "open"
    arrivals: Literal["constant", "poisson"] = "constant"
    rate_ops_per_second: Annotated[float, Field(gt=0)]  # per client, not for the fleet


class LoadSpec(Model):
    """The load of one client: a warm-up, then the measured window."""

    target: EngineTarget
    workload: EngineWorkload
    connections: Annotated[int, Field(ge=1, le=20_000)]  # operations in flight (threads in YCSB)
    # CQL: operations in flight that share one TCP connection, each on its own stream
    streams_per_connection: Annotated[int, Field(ge=1, le=10_000)] = 128
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    # Longest busy-poll for a reply before a thread sleeps, where that pays; 0 for none. Only for
    # clients that share no CPU with the server or with each other.
    poll_us: Annotated[int, Field(ge=0, le=POLL_MOST_US)] = 0
    loop: Annotated[ClosedLoop | OpenLoop, Field(discriminator="kind")] = ClosedLoop()
    warmup_s: Annotated[float, Field(ge=0)] = 0.0
    duration_s: Annotated[float, Field(gt=0)]
    # Ends the load after so many operations
    operations_limit: Annotated[int, Field(ge=1)] | None = None
    sequence_from: Annotated[int, Field(ge=0)] = 0  # first number of sequential draws
    timeout_ms: Annotated[int, Field(ge=1)] = 60_000
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
    client_index: Annotated[int, Field(ge=0)] = 0
    client_count: Annotated[int, Field(ge=1)] = 1
    start_at_epoch_ms: int | None = None  # the barrier: connect before this time, send from it on
    # Whether the latency of each statement is recorded; a transaction is not pipelined then
    statement_latencies: bool = False


LoadOrder = Literal["key", "number"]


class DatasetSpec(Model):
    """Rows to load: the numbers [from_row, to_row) of a table, many rows per statement.

    An existing row stays as it is (INSERT IGNORE), so a load can be repeated until it is complete.
    With CQL, each row is a statement, 32 in flight on each connection, and an existing row is
    written again with the same values.
    """

    target: EngineTarget
    table: str
    columns: tuple[str, ...]
    row: tuple[Value, ...]  # one per column; the same seed and row number give the same values
    from_row: int
    to_row: int
    load_order: LoadOrder = "key"  # CQL: always by number
    rows_per_statement: Annotated[int, Field(ge=1)] = 500
    connections: Annotated[int, Field(ge=1)] = 8
    timeout_ms: Annotated[int, Field(ge=1)] = 60_000
    seed: int = 1
