"""The record of a run: its state, how it ended, and the proof that nothing is left of it."""

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
    """The state of a run."""

    PENDING = "PENDING"  # recorded, but not started
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"  # the target is being deleted; nothing new is created
    SUCCEEDED = "SUCCEEDED"  # it has a verdict
    FAILED = "FAILED"
    STOPPED = "STOPPED"  # stopped by a user
    TIMED_OUT = "TIMED_OUT"  # the time limit was reached
    OVER_BUDGET = "OVER_BUDGET"  # continuing would have exceeded its budget

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self not in BEFORE_END


BEFORE_END = (RunState.PENDING, RunState.RUNNING, RunState.STOPPING)

Phase = Literal["record", "provision", "prepare", "step", "conclude", "teardown"]


class Failure(Model):
    """Why a run failed: the name of the error, and one sentence."""

    phase: Phase | None
    error: str
    cause: str


class NodeAddress(Model):
    """Address of a further node of a target's cluster, and its identifiers in CloudWatch."""

    host: str
    identifier: str
    volume_id: str | None = None


class TargetAddress(Model):
    """Address of a target and the ARN of its secret; never the secret itself."""

    host: str
    port: int
    database: str
    secret_arn: str | None = None  # None if it needs no password
    identifier: str | None  # identifier of the RDS or EC2 instance in CloudWatch
    protocol: Protocol
    volume_id: str | None = None  # data volume of an EC2 instance; None if it has no EBS volume
    tls: TlsMode = "off"  # "off" in records written before this field existed
    statement_mode: StatementMode = "prepared"
    allow_md5: bool = False
    load_user: str | None = None  # user of the load; None for the user in the secret
    nodes: tuple[NodeAddress, ...] = ()  # nodes of a cluster except the first
    replication: int = 1  # Cassandra: replicas of each row


class HeldBudget(Model):
    """How a run's budget is divided: time for the target, dollars for the load.

    Amounts are decimals as text, since DynamoDB has no floats.
    """

    usd: str
    # Seconds from the run's start after which the target's share, deletion included, is spent
    target_s: int
    fleet_usd: str  # load clients, functions and everything else
    loading_s: int  # seconds that the loaders may run within that


class Recovery(Model):
    """A wait for a target to recover from an overload, as last observed."""

    what: str  # remaining work in words, with its figure
    left: int | None  # remaining amount; None if no figure shows the progress
    since_epoch_ms: int
    moved_epoch_ms: int  # when `left` last shrank, or was first observed
    seen_epoch_ms: int


class BusyMachine(Model):
    """A wait for this machine, which other programs keep too busy for a step."""

    what: str  # who uses it, with figures
    since_epoch_ms: int
    seen_epoch_ms: int


class Switch(Model):
    """A switch of a target to another state of its toggle."""

    step: int  # step before which it switches
    state: str
    stage: Literal["set", "restart", "apply", "done", "failed"]  # next action, or the end
    problem: str | None = None  # why it failed; None if it has not

    def mark_failed(self, problem: str) -> Self:
        """Return the switch as failed, with the reason."""
        return self.model_copy(update={"stage": "failed", "problem": problem})


class Restored(Model):
    """A snapshot from which a target is made, and the run that prepared its dataset."""

    snapshot: str  # name of the snapshot at AWS
    prepared_by: str


class RunFigures(Model):
    """The figures of a run that a list of runs shows, during the run or after its end.

    Amounts are decimals as text, since DynamoDB has no floats.
    """

    axis: Axis
    # (load on the axis, median operations per second) of each load
    curve: tuple[tuple[str, str], ...]
    bound: Bound | None = None  # bound of the run's figure; None if there is none yet
    interval: tuple[str, str] | None = None  # 95 % interval, in operations per second

    @classmethod
    def of(cls, capacity: Capacity, *, final: bool) -> Self:
        """Take the figures from a capacity; bound and interval only if it is final."""
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
    """An item of the runs table. Times are UTC."""

    run_id: str
    name: str
    team: str
    state: RunState
    phase: Phase = "record"
    local: bool = False  # ran on one machine, not on AWS
    # On one machine only: recorded by an earlier service, restored from its files
    past: bool = False
    tags: dict[str, str] = Field(default_factory=dict)  # tags of the request
    target_words: str | None = None  # the requested target in words; None in an older record
    quoted_usd: str | None = None  # expected cost at submission; None if a price was missing
    request_sha256: str
    submitted_at: datetime
    forget_at_epoch_s: int | None = None  # time to live in the table; None for never
    time_limit_s: int
    budget: HeldBudget | None = None
    started_at: datetime | None = None
    provision_at: datetime | None = None
    prepare_at: datetime | None = None
    step_at: datetime | None = None
    conclude_at: datetime | None = None
    # Waits until then for the target's metrics; None if it does not
    metrics_awaited_until: datetime | None = None
    expires_at: datetime | None = None  # when the target is deleted regardless of the run's state
    # Version that RDS resolved; None for an endpoint, or in an older record
    database_version: str | None = None
    zone: str | None = None  # zone of its load clients and of a target made for it
    zones_refused: tuple[str, ...] = ()  # zones that had no capacity for its target
    stack_id: str | None = None
    target_ready_at: datetime | None = None
    target: TargetAddress | None = None  # address in the active state of its toggle
    # Addresses of an existing database in each state of its toggle
    targets_by_state: dict[str, TargetAddress] = Field(default_factory=dict)
    server_version: str | None = None  # the server's own version string
    rows: int | None = None  # exact count of the dataset's rows
    # Time limit of the snapshot that it makes; None if it makes none
    prepares_until: datetime | None = None
    snapshot: str | None = None  # name at AWS of the snapshot that it made
    # Snapshot that its target is made from; None if the dataset is loaded
    restores: Restored | None = None
    preconditioned: str | None = None  # the unmeasured load so far, in words
    step: int | None = None  # the running step, or the last finished one
    # Last step of the relay in progress, if it ends before its planned end; None if it does not
    relay_until: int | None = None
    steps_finished: int = 0
    turn: Turn | None = None  # only for a run whose steps alternate with those of another run
    # Since when it is ready to measure and waits for the other run
    turn_ready_at: datetime | None = None
    # Wait of its target before the next step; None if it does not wait
    recovery: Recovery | None = None
    # On one machine: its wait for other programs before the next step; None if it does not wait
    busy: BusyMachine | None = None
    switch: Switch | None = None  # the latest switch; None if there was none
    teardown_asked_at: datetime | None = None
    deleted_at: datetime | None = None  # when DELETE_COMPLETE was seen: the proof of deletion
    teardown_error: str | None = None
    ended_at: datetime | None = None
    failure: Failure | None = None
    verdict: str | None = None
    # None if nothing is judged yet, or in a record of an older version
    figures: RunFigures | None = None
    capacity_ops_per_second: str | None = None  # a decimal as text, since DynamoDB has no floats
    cost_usd: str | None = None  # estimate after its end; None if a price is missing

    @property
    def runs_for_s(self) -> int:
        """Seconds from its start after which its target is deleted: by time limit or budget."""
        return min(self.time_limit_s, self.budget.target_s if self.budget else self.time_limit_s)

    @property
    def stack_name(self) -> str:
        """The name of the target's CloudFormation stack."""
        return f"plimsoll-run-{self.run_id}"
