"""The plan of a step for the fleet of clients, and what one client measured."""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.answered import Amount, Count, LoadReport
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.judging.debt import FILL_CONNECTIONS, WriteDebt
from plimsoll.model.judging.steps import Purpose
from plimsoll.model.request.background import BackgroundLoad

# Share of the clients that may be missing: one of a thousand, none of fewer
MISSING_SHARE_MOST = 0.001
WARMING_STEP = 0  # number of the step that warms the caches; it is neither measured nor judged


class ServerCounters(Model):
    """Counters and gauges of the database server at one moment, by the server's own names."""

    epoch_ms: int
    values: dict[str, int]
    family: Protocol  # protocol of the server that names them


class ServerLook(Model):
    """What a server was doing at one moment; None if it does not report it."""

    epoch_ms: Count | None = None  # None in an older result
    row_lock_waiters: Count | None = None  # waiting sessions
    table_lock_waiters: Count | None = None
    # Share of the redo log whose pages are not written yet (checkpoint age / log size)
    checkpoint_share: float | None = None
    page_read_waiters: Count | None = None
    # Sessions waiting for locks on the server's own memory structures
    inner_lock_waiters: Count | None = None
    log_waiters: Count | None = None  # sessions waiting for the log to be written or flushed
    log_io: bool | None = None  # whether the log was being written or flushed
    autovacuum_workers: Count | None = None
    checkpoint: bool | None = None  # whether a checkpoint was in progress
    debt: WriteDebt | None = None


class UnfinishedWork(Model):
    """Work that a target still has to do after a load, such as flushing pages."""

    what: str  # in words, with its figure
    # Remaining amount, in any unit. Once it stops shrinking, an idle target leaves the rest undone.
    # None if an amount that stays the same does not show that.
    left: int | None = None


class Relay(Model):
    """A step's place in a relay: windows of one load whose fleets follow each other.

    Each fleet waits at its barrier before the one before it ends, so the load never pauses.
    """

    first: Annotated[int, Field(ge=1)]  # number of its first step
    last: Annotated[int, Field(ge=1)]
    called_at_epoch_ms: int  # when this step's clients are called


class StepPlan(Model):
    """One step, the same for all of its clients: `steps/<index>/plan.json`."""

    index: Annotated[int, Field(ge=0)]
    purpose: Purpose | Literal["warm", "phase"]
    why: str
    clients: Annotated[int, Field(ge=1)]
    connections: Annotated[int, Field(ge=1)]  # total over all clients, spread evenly
    rate_ops_per_second: float | None  # total over all clients; None for a closed loop
    warmup_s: float
    duration_s: float
    # Longest time before the barrier in which the first client fills the server's log
    fill_s: float = 0.0
    fill_connections: int = FILL_CONNECTIONS  # number of connections of the load that fills
    # Multiple of the request's warm-up and window, limited by how long a client can run
    window_factor: int = 1
    timeout_ms: int
    poll_us: int = 0  # longest busy-poll of a client for a reply
    seed: int
    round: Annotated[int, Field(ge=0)] = 0  # round of the warming step, which may be repeated
    load_number: int = 0  # number of the load on this dataset; each load inserts rows of its own
    fill_load_number: int = 0  # likewise, of the load that fills the log
    start_at_epoch_ms: int  # the barrier: clients connect before it, and send from it on
    recovered: bool | None  # whether the target had recovered from an overload before it
    state: str | None = None  # name of the toggle's state; None without a toggle
    # The server's own values of the toggle's parameters; empty if it does not report them
    parameters: dict[str, str] = Field(default_factory=dict)
    # How the wait for recovery ended; None if there was nothing to wait for
    recovery: str | None = None
    calm_waited_s: float = 0  # how long it waited until other programs left this machine calm
    server_before: ServerCounters | None  # None if the server did not reply
    phase: str | None = None  # name of the phase; None for a step of the search
    # Phase only: operations after which the load ends, over all clients
    operations: Annotated[int, Field(ge=1)] | None = None
    sequence_from: Annotated[int, Field(ge=0)] = 0  # phase only: first record of its part
    # Background work that runs beside it, with its own clients
    background: tuple[BackgroundLoad, ...] = ()
    relay: Relay | None = None  # None if the target has no load before it and after it

    @property
    def clients_in_all(self) -> int:
        """Number of its own clients and those of its background, which are numbered after them."""
        return self.clients + sum(beside.clients for beside in self.background)

    def background_of(self, client: int) -> BackgroundLoad | None:
        """Return the background work that a client belongs to; None for the step's own clients."""
        return next((beside for beside in self.background if beside.has(client)), None)

    @property
    def window_start_epoch_ms(self) -> int:
        """When the measured window starts for every client that is in time."""
        return self.start_at_epoch_ms + round(self.warmup_s * 1000)

    @property
    def window_end_epoch_ms(self) -> int:
        """When the measured window ends."""
        return self.window_start_epoch_ms + round(self.duration_s * 1000)


class ClientResult(Model):
    """What one client measured: `steps/<index>/clients/<client>.json`."""

    run_id: str
    step: Count
    client: Count
    invoked_epoch_ms: Count  # when the function was called
    cold_start: bool  # whether this was the first call of its process
    memory_max_mib: Amount  # peak memory of its process so far
    report: LoadReport
    # Samples of the server within the window; taken by the first client only
    looks: tuple[ServerLook, ...] = ()
    background: str | None = None  # name of the background work; None for the step's own clients


class FailedPart(Model):
    """A part of the dataset whose invocation failed."""

    error: str
    cause: str


class FailedClient(Model):
    """A client whose invocation failed."""

    client: int
    error: str  # such as States.Timeout, Lambda.Unknown, EngineError
    cause: str
