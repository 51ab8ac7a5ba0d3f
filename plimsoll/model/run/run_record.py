"""A run's record: where it stands, how it ended, and the proof that nothing is left."""

from datetime import datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.asked import Protocol, StatementMode
from plimsoll.model.judging.capacity import Axis, Bound, Capacity
from plimsoll.model.request.dsn import TlsMode
from plimsoll.model.request.experiment import Turn


class RunState(StrEnum):
    """Where a run stands."""

    PENDING = "PENDING"  # recorded, not started
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"  # its target is being deleted; nothing new is made
    SUCCEEDED = "SUCCEEDED"  # it has a verdict
    FAILED = "FAILED"
    STOPPED = "STOPPED"  # by someone, from outside
    TIMED_OUT = "TIMED_OUT"  # its time limit passed
    OVER_BUDGET = "OVER_BUDGET"  # to go on would have passed its budget

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self not in {RunState.PENDING, RunState.RUNNING, RunState.STOPPING}


Phase = Literal["record", "provision", "prepare", "step", "conclude", "teardown"]


class Failure(Model):
    """Why a run failed: the error's name, and one sentence."""

    phase: Phase | None
    error: str
    cause: str


class NodeAddress(Model):
    """Where a further node of a target's cluster is, and its names in CloudWatch."""

    host: str
    identifier: str
    volume_id: str | None = None


class TargetAddress(Model):
    """Where a target is and whose secret opens it; never the secret itself."""

    host: str
    port: int
    database: str
    secret_arn: str | None = None  # None: it asks for no password
    identifier: str | None  # of the RDS or EC2 instance, under which CloudWatch knows it
    protocol: Protocol
    volume_id: str | None = None  # of the data volume of an EC2 instance; None: it has none of EBS
    tls: TlsMode = "off"  # (of records that were written before it was noted)
    statement_mode: StatementMode = "prepared"
    allow_md5: bool = False
    load_user: str | None = None  # whom the load connects as; None: the secret's own user
    nodes: tuple[NodeAddress, ...] = ()  # of a cluster, all but the first
    replication: int = 1  # Cassandra: the copies of each row


class HeldBudget(Model):
    """How a run's budget is held: what is left to the target in time, to the load in dollars.

    Amounts are decimals: DynamoDB knows no floats.
    """

    usd: str
    target_s: int  # from the run's start; with the deletion after it, the target's part is spent
    fleet_usd: str  # for load clients, functions and the rest
    loading_s: int  # for which the loaders may run on that


class Recovery(Model):
    """A wait for a target to work off what an overload left it, as it was last seen."""

    what: str  # what is left, in words, with its figure
    left: int | None  # of it; None: its progress cannot be told from a figure
    since_epoch_ms: int
    moved_epoch_ms: int  # when `left` last shrank, or began to be watched
    seen_epoch_ms: int


class Switch(Model):
    """A target on its way into a state of its toggle."""

    step: int  # before which
    state: str
    stage: Literal["set", "restart", "apply", "done", "failed"]  # what comes next
    problem: str | None = None  # why it failed; None: it has not

    def failed(self, problem: str) -> Self:
        """Give the same as ended, for this reason."""
        return self.model_copy(update={"stage": "failed", "problem": problem})


class Restored(Model):
    """A snapshot that a target is made from, and the run that prepared the dataset in it."""

    snapshot: str  # as AWS names it
    prepared_by: str


class RunFigures(Model):
    """What a list of runs shows of how a run was judged, so far or in the end.

    Amounts are decimals: DynamoDB knows no floats.
    """

    axis: Axis
    curve: tuple[tuple[str, str], ...]  # by load on the axis: median operations per second
    bound: Bound | None = None  # of the run's figure; None: it has none yet
    interval: tuple[str, str] | None = None  # 95 %, in operations per second

    @classmethod
    def of(cls, capacity: Capacity, *, final: bool) -> Self:
        """Take them from what was judged; before the end there is no figure."""
        sure = capacity.interval if final else None
        return cls(
            axis=capacity.axis,
            curve=tuple(
                (f"{judged.load:.10g}", f"{judged.throughput_ops_per_second:.1f}")
                for judged in capacity.steps
            ),
            bound=capacity.bound if final else None,
            interval=(f"{sure.low_ops_per_second:.1f}", f"{sure.high_ops_per_second:.1f}")
            if sure
            else None,
        )


class RunRecord(Model):
    """One item of the runs table. Times are UTC."""

    run_id: str
    name: str
    team: str
    state: RunState
    phase: Phase = "record"
    local: bool = False  # on one machine, not on AWS
    past: bool = False  # one machine only: of an earlier service, brought back from its files
    tags: dict[str, str] = Field(default_factory=dict)  # the request's
    target_words: str | None = None  # as it was asked for; None: of an older run
    quoted_usd: str | None = None  # expected when it was submitted; None: a price was missing
    request_sha256: str
    submitted_at: datetime
    forget_at_epoch_s: int | None = None  # the table's time to live; None: never
    time_limit_s: int
    budget: HeldBudget | None = None
    started_at: datetime | None = None
    provision_at: datetime | None = None
    prepare_at: datetime | None = None
    step_at: datetime | None = None
    conclude_at: datetime | None = None
    metrics_awaited_until: datetime | None = None  # it waits for the target's; None: it does not
    expires_at: datetime | None = None  # when the target is deleted, whatever happens
    database_version: str | None = None  # as RDS resolved it; None: an endpoint, or an older run
    zone: str | None = None  # of its load clients, and of the target that is made for it
    zones_refused: tuple[str, ...] = ()  # had no room for its target
    stack_id: str | None = None
    target_ready_at: datetime | None = None
    target: TargetAddress | None = None  # in the state of its toggle that it is in
    # of an existing database with a toggle: where it is reached in each state
    targets_by_state: dict[str, TargetAddress] = Field(default_factory=dict)
    server_version: str | None = None  # as it names itself
    rows: int | None = None  # of the dataset, counted
    prepares_until: datetime | None = None  # it makes a snapshot, to be gone by then; None: no
    snapshot: str | None = None  # that it has made, as AWS names it
    restores: Restored | None = None  # that its target is made from; None: the dataset is loaded
    preconditioned: str | None = None  # the unmeasured load so far, in words
    step: int | None = None  # the step under way or last finished
    steps_finished: int = 0
    turn: Turn | None = None  # of a run whose steps take turns with another's
    turn_ready_at: datetime | None = None  # it can measure, and waits for the other
    recovery: Recovery | None = None  # its target recovers before the next step; None: it does not
    switch: Switch | None = None  # the last one; None: there was none
    teardown_asked_at: datetime | None = None
    deleted_at: datetime | None = None  # when DELETE_COMPLETE was seen: the proof
    teardown_error: str | None = None
    ended_at: datetime | None = None
    failure: Failure | None = None
    verdict: str | None = None
    figures: RunFigures | None = None  # None: nothing is judged yet, or by an older version
    capacity_ops_per_second: str | None = None  # a decimal: DynamoDB knows no floats
    cost_usd: str | None = None  # estimated, once it has ended; None: a price is missing

    @property
    def runs_for_s(self) -> int:
        """Seconds from its start after which its target is deleted: time limit or budget."""
        return min(self.time_limit_s, self.budget.target_s if self.budget else self.time_limit_s)

    @property
    def stack_name(self) -> str:
        """The name of the target's stack."""
        return f"plimsoll-run-{self.run_id}"
