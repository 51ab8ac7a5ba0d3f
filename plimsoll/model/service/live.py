"""A run in progress, as `GET /runs/{run_id}/live` returns it in increments.

Times are UTC. An unknown value is null, never 0.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Axis
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.service.answers import RunSummary

Figures = tuple[float | None, ...]


class LivePlan(Model):
    """The step in progress, or the last one started."""

    sentence: str = Field(description="In words: which of about how many, and its load.")
    then: str | None = Field(description="What follows, in words; null: nothing of the search.")
    step: int = Field(description="Its number, from 1; 0: the load that warms the caches.")
    steps_expected: int | None = Field(description="Steps that the quote expected.")
    steps_most: int = Field(description="Steps at most.")
    load: float = Field(description="On the run's axis.")
    purpose: str = Field(description="Why the search asks for it.")
    why: str = Field(description="The same in one line.")
    start_at_epoch_ms: int = Field(description="When its load begins.")
    window_start_epoch_ms: int = Field(description="When its measured window begins.")
    window_end_epoch_ms: int = Field(description="When it ends.")


class LiveTime(Model):
    """Elapsed time, and the longest possible time."""

    elapsed_s: float = Field(description="Since it was recorded, to its end.")
    left_s: float | None = Field(
        description="Until its search is over, by the steps that the quote expected; null: not"
        " known, or there is no search under way."
    )
    limit_left_s: float | None = Field(
        description="Until its target is deleted, whatever happens; null: not begun, or gone."
    )
    time_limit_s: int = Field(description="The run's, or what its budget leaves of it.")


class LiveMoney(Model):
    """Cost, by list prices."""

    basis: Literal["aws", "as-if-on-aws"] = Field(
        description="`as-if-on-aws`: on one machine nothing is spent; the hour is such a target's."
    )
    spent_usd: float | None = Field(description="So far, estimated; null: nothing, or not known.")
    expected_usd: float | None = Field(description="As quoted when it was submitted.")
    budget_usd: float | None = Field(description="At most; null: it has none.")
    target_usd_per_hour: float | None = Field(description="Of the target, while it is there.")


class LogLine(Model):
    """An event of the run."""

    id: str = Field(description="A line that comes again under its id has changed.")
    at: datetime
    text: str
    problem: bool = Field(False, description="Whether a reader has to know it.")


class LiveLoad(Model):
    """One load with all its repetitions, as judged so far; later steps may change the verdict."""

    load: float = Field(description="On the run's axis.")
    passed: bool
    decides: bool = Field(
        description="False: an audit disputes every repetition, or its clients were the limit."
    )
    throughput_ops_per_second: float = Field(description="Median of its repetitions.")
    latency_us: dict[str, float] = Field(
        description="By operation, of the statistic judged: the median of the repetitions."
    )
    limit_us: dict[str, float] = Field(description="By operation: what it may be.")
    repetitions: int
    repetitions_passed: int
    reasons: tuple[str, ...] = Field(description="Why it did not pass, the worst first.")
    explanations: tuple[str, ...] = Field(description="The same for people.")


class LiveStep(Model):
    """A finished step."""

    step: int
    load: float = Field(description="On the run's axis.")
    clients: int
    connections: int = Field(description="Of all clients together.")
    rate_ops_per_second: float | None = Field(description="Offered; null: a closed loop.")
    purpose: str
    throughput_ops_per_second: float | None
    errors: int | None
    latency_us: dict[str, float | None] = Field(description="By operation, of the statistic.")
    window_start_epoch_ms: int | None = Field(description="Of the time in which all clients ran.")
    window_end_epoch_ms: int | None
    words: str
    problems: tuple[str, ...]


class OperationSeries(Model):
    """One operation over time, with a value for each bin."""

    ops_per_second: Figures
    errors_per_second: Figures
    p50_us: Figures
    p99_us: Figures
    max_us: Figures


class SecondSeries(Model):
    """The seconds of finished steps in bins, each of one step; there are no bins without load."""

    epoch_s: tuple[int, ...] = Field(description="When each bin begins.")
    step: tuple[int, ...] = Field(description="The step that it is of.")
    ops_per_second: Figures = Field(description="Operations that succeeded, mean over the bin.")
    errors_per_second: Figures
    operations: dict[str, OperationSeries]


class ResourceSeries(Model):
    """The target's own figures over time; means over each bin, unless stated otherwise."""

    every_s: int = Field(description="The width of its bins, in seconds.")
    epoch_s: tuple[int, ...] = Field(description="When each bin begins.")
    read_iops: Figures
    write_iops: Figures
    read_mib_s: Figures
    write_mib_s: Figures
    queue: Figures = Field(description="I/Os under way.")
    read_latency_us: Figures
    write_latency_us: Figures
    cpu_percent: Figures
    burst_balance_percent: Figures = Field(description="The volume's; the least of the bin.")
    ebs_io_balance_percent: Figures = Field(description="The instance's; the least of the bin.")
    ebs_byte_balance_percent: Figures = Field(description="Likewise.")
    cpu_credits: Figures = Field(description="Left to a burstable instance; the least of the bin.")


class VolumeCaps(Model):
    """The limits of its volume; null if it has no such limit."""

    baseline_iops: float | None
    burst_iops: float | None
    burst_credits: float | None
    throughput_mib_s: float | None


class TeardownStage(Model):
    """One stage of deleting the target."""

    stage: Literal["asked", "deleting", "seen deleted", "failed"]
    at: datetime | None = Field(description="Null: under way, or not noted.")
    text: str


class Teardown(Model):
    """The deletion of the target."""

    stages: tuple[TeardownStage, ...] = Field(description="In order; empty: not asked for yet.")
    gone: bool = Field(description="Whether it was seen to be deleted.")


class LiveAnswer(Model):
    """The result in words."""

    tag: str
    decided: bool = Field(description="Whether the figure is a capacity, not only a bound of it.")
    figure: str | None = Field(description="Operations per second, with its bound.")
    sentence: str
    facts: tuple[tuple[str, str], ...] = Field(description="Name and text.")


class Live(Model):
    """A run during and after its execution: what is new since a cursor."""

    cursor: str = Field(description="For `after` of the next call.")
    at: datetime = Field(description="When it was looked at.")
    every_s: int = Field(description="The width of the bins of `seconds`, in seconds.")
    run: RunSummary
    plan: LivePlan | None = Field(description="Null: no step has begun.")
    time: LiveTime
    money: LiveMoney
    log: tuple[LogLine, ...] = Field(
        description="By its ids: those before the cursor may come again."
    )
    statistic: Statistic = Field(description="Of latency, which is judged.")
    axis: Axis = Field(description="What `load` counts.")
    limits_us: dict[str, float] = Field(description="By operation; empty: nothing judged yet.")
    bracket: tuple[float | None, float | None] | None = Field(
        description="The heaviest load that passes, and the lightest above it that fails."
    )
    loads: tuple[LiveLoad, ...] = Field(description="All so far, from the lightest.")
    steps: tuple[LiveStep, ...] = Field(description="That ended since the cursor.")
    seconds: SecondSeries = Field(description="Of those steps.")
    resources: ResourceSeries = Field(description="Since the cursor; its last bin may be partial.")
    caps: VolumeCaps | None = Field(description="Null: an endpoint, or Aurora.")
    teardown: Teardown
    answer: LiveAnswer | None = Field(description="Null: it has not ended, or came to nothing.")


class LiveSecondOperation(Model):
    """One operation in a second of the step in progress."""

    succeeded: int
    errors: int
    p99_us: int | None = Field(description="Of all clients that told; null: none answered.")


class LiveSecond(Model):
    """A second of the step in progress, from its clients; the finished step replaces it."""

    step: int
    epoch_s: int
    clients: int = Field(description="Of the step.")
    clients_told: int = Field(description="That told this second so far.")
    operations: dict[str, LiveSecondOperation]
