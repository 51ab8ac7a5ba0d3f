"""A step as it is planned for the fleet, and what one client measured of it."""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.judging.steps import Purpose
from plimsoll.model.request.background import BackgroundLoad

MISSING_SHARE_MOST = 0.001  # of the clients: one of a thousand, none of fewer
WARMING_STEP = 0  # fills the caches; never measured, never judged


class ServerCounters(Model):
    """Counters and gauges of the database server, by its own names, at one moment."""

    epoch_ms: int
    values: dict[str, int]
    family: Protocol  # whose names they are


class ServerLook(Model):
    """What a server did at one moment; None where it does not tell."""

    row_lock_waiters: int | None = None  # sessions
    table_lock_waiters: int | None = None
    checkpoint_share: float | None = None  # of the redo log: changes whose pages are not written
    page_read_waiters: int | None = None
    inner_lock_waiters: int | None = None  # for locks on what the server itself keeps in memory
    log_waiters: int | None = None  # until the log is written or flushed
    log_io: bool | None = None  # whether the log was being written or flushed
    autovacuum_workers: int | None = None
    checkpoint: bool | None = None  # whether one was going on


class UnfinishedWork(Model):
    """What a target still has to work off after a load."""

    what: str  # in words, with its figure
    # What is left of it, in any unit: once this stands still, an idle target leaves it as it is.
    # None: a figure that stands still does not mean that.
    left: int | None = None


class StepPlan(Model):
    """One step, the same for all of its clients: `steps/<index>/plan.json`."""

    index: Annotated[int, Field(ge=0)]
    purpose: Purpose | Literal["warm", "phase"]
    why: str
    clients: Annotated[int, Field(ge=1)]
    connections: Annotated[int, Field(ge=1)]  # of all clients together, spread evenly
    rate_ops_per_second: float | None  # of all clients together; None: closed loop
    warmup_s: float
    duration_s: float
    window_factor: int = 1  # times the request's warm-up and window, as far as a client can run
    timeout_ms: int
    poll_us: int = 0  # how long each client looks for answers before it sleeps, at most
    seed: int
    round: Annotated[int, Field(ge=0)] = 0  # of the warming step, which may be repeated
    load_number: int = 0  # of loads on this dataset; each inserts rows of its own
    start_at_epoch_ms: int  # the barrier: all connect before it, and send from then on
    recovered: bool | None  # had the target recovered from an overload before it?
    state: str | None = None  # of a toggle, by its name; None: of none
    # what the server itself called the toggle's parameters; empty: it does not tell
    parameters: dict[str, str] = Field(default_factory=dict)
    recovery: str | None = None  # how the wait for that ended; None: nothing was left to wait for
    server_before: ServerCounters | None  # None: it did not answer
    phase: str | None = None  # whose pass it is; None: a step of the search
    operations: Annotated[int, Field(ge=1)] | None = None  # of a pass, all clients: its end
    sequence_from: Annotated[int, Field(ge=0)] = 0  # of a pass: the first record of its slice
    background: tuple[BackgroundLoad, ...] = ()  # what runs beside it, with clients of its own

    @property
    def clients_in_all(self) -> int:
        """Its own clients and those of its background, which are numbered after them."""
        return self.clients + sum(beside.clients for beside in self.background)

    def background_of(self, client: int) -> BackgroundLoad | None:
        """The background that a client is one of; None for a client of the step's own."""
        return next((beside for beside in self.background if beside.has(client)), None)

    @property
    def window_start_epoch_ms(self) -> int:
        """When the measured window starts, for every client that is in time."""
        return self.start_at_epoch_ms + round(self.warmup_s * 1000)

    @property
    def window_end_epoch_ms(self) -> int:
        """When the measured window ends."""
        return self.window_start_epoch_ms + round(self.duration_s * 1000)


class ClientResult(Model):
    """What one client measured: `steps/<index>/clients/<client>.json`."""

    run_id: str
    step: int
    client: int
    invoked_epoch_ms: int  # when its code got the call
    cold_start: bool  # the first call of its process
    memory_max_mib: float  # the most that its process has held so far
    report: LoadReport
    looks: tuple[ServerLook, ...] = ()  # within the window; the first client's alone
    background: str | None = None  # whose client it is; None: the step's own


class FailedClient(Model):
    """A client whose invocation ended in an error."""

    client: int
    error: str  # such as States.Timeout, Lambda.Unknown, EngineError
    cause: str
