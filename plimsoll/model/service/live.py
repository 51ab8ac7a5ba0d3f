"""A run in progress, as `GET /runs/{run_id}/live` returns it in increments.

Times are UTC. An unknown value is null, never 0.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Axis, LoadOutcome, is_undecided
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.service.answers import RunSummary

Figures = tuple[float | None, ...]


class LivePlan(Model):
    """The step in progress, or the last one started."""

    sentence: str = Field(
        description="Step in one sentence: its number, how many to expect, and its load."
    )
    then: str | None = Field(
        description="What follows this step, in words; null if no step of the search does."
    )
    step: int = Field(
        description="Number of the step, from 1; 0 for the load that warms the caches."
    )
    steps_expected: int | None = Field(description="Number of steps that the quote expected.")
    steps_most: int = Field(description="Maximum number of steps.")
    load: float = Field(description="Load, in the unit that `axis` names.")
    purpose: str = Field(description="Purpose of the step in the search.")
    why: str = Field(description="Purpose in one line of text.")
    start_at_epoch_ms: int = Field(description="When the load starts.")
    window_start_epoch_ms: int = Field(description="When the measured window starts.")
    window_end_epoch_ms: int = Field(description="When the measured window ends.")


class LiveTime(Model):
    """Elapsed time, and the longest possible time."""

    elapsed_s: float = Field(
        description="Seconds from submission to now, or to the end of the run."
    )
    left_s: float | None = Field(
        description="Estimated seconds until the search ends, from the number of steps in the"
        " quote; null if not known or if no search is in progress."
    )
    limit_left_s: float | None = Field(
        description="Seconds until the target is deleted in any case; null if the run has not"
        " started or the target is gone."
    )
    time_limit_s: int = Field(
        description="Time limit in seconds: the request's, or less if the budget allows less."
    )


class LiveMoney(Model):
    """Cost, by list prices."""

    basis: Literal["aws", "as-if-on-aws"] = Field(
        description="`aws`: real cost. `as-if-on-aws`: the run is on one machine and costs"
        " nothing; the price per hour is that of such a target on AWS."
    )
    spent_usd: float | None = Field(
        description="Estimated cost so far; null if nothing is spent or it is not known."
    )
    expected_usd: float | None = Field(description="Expected cost from the quote at submission.")
    budget_usd: float | None = Field(description="Budget of the run; null if it has none.")
    target_usd_per_hour: float | None = Field(
        description="Price of the target per hour, while it exists."
    )


class LogLine(Model):
    """An event of the run."""

    id: str = Field(description="Identifier; a later line with the same one replaces it.")
    at: datetime
    text: str
    problem: bool = Field(False, description="Whether the line reports a problem.")


class LiveLoad(Model):
    """One load with all its repetitions, as judged so far; later steps may change the verdict."""

    load: float = Field(description="Load, in the unit that `axis` names.")
    passed: bool
    decides: bool = Field(
        description="False if an audit disputes every repetition, or if the clients were the"
        " limit: the load then decides nothing."
    )
    throughput_ops_per_second: float = Field(description="Median throughput of the repetitions.")
    latency_us: dict[str, float] = Field(
        description="Latency of each operation in microseconds, by name: the judged statistic,"
        " median of the repetitions."
    )
    limit_us: dict[str, float] = Field(
        description="Latency limit of each operation in microseconds, by name."
    )
    repetitions: int
    repetitions_passed: int
    reasons: tuple[str, ...] = Field(description="Codes of why it did not pass, worst first.")
    explanations: tuple[str, ...] = Field(description="Reasons as sentences.")

    @property
    def outcome(self) -> LoadOutcome:
        """What became of the load, as far as it is known without its audits."""
        if not self.decides:
            doubted = any(code.startswith("audit:") for code in self.reasons)
            return "disputed" if doubted else "client-bound"
        if self.passed:
            return "passed"
        return "undecided" if is_undecided(self.reasons) else "failed"


class LiveStep(Model):
    """A finished step."""

    step: int
    load: float = Field(description="Load, in the unit that `axis` names.")
    clients: int
    connections: int = Field(description="Number of connections, summed over all clients.")
    rate_ops_per_second: float | None = Field(description="Arrival rate; null in a closed loop.")
    purpose: str
    throughput_ops_per_second: float | None
    errors: int | None
    latency_us: dict[str, float | None] = Field(
        description="Latency of each operation in microseconds, by name: the judged statistic."
    )
    window_start_epoch_ms: int | None = Field(
        description="Start of the time in which all clients ran."
    )
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

    epoch_s: tuple[int, ...] = Field(description="Start of each bin.")
    step: tuple[int, ...] = Field(description="Step that each bin belongs to.")
    ops_per_second: Figures = Field(
        description="Successful operations per second, mean over the bin."
    )
    errors_per_second: Figures
    operations: dict[str, OperationSeries]


class ResourceSeries(Model):
    """The target's own figures over time; means over each bin, unless stated otherwise."""

    every_s: int = Field(description="Width of the bins in seconds.")
    epoch_s: tuple[int, ...] = Field(description="Start of each bin.")
    read_iops: Figures
    write_iops: Figures
    read_mib_s: Figures
    write_mib_s: Figures
    queue: Figures = Field(description="Mean number of I/Os in progress.")
    read_latency_us: Figures
    write_latency_us: Figures
    cpu_percent: Figures
    burst_balance_percent: Figures = Field(
        description="Burst credits of the volume, minimum over the bin."
    )
    ebs_io_balance_percent: Figures = Field(
        description="I/O credits of the instance, minimum over the bin."
    )
    ebs_byte_balance_percent: Figures = Field(
        description="Throughput credits of the instance, minimum over the bin."
    )
    cpu_credits: Figures = Field(
        description="CPU credits of a burstable instance, minimum over the bin."
    )


class VolumeCaps(Model):
    """The limits of its volume; null if it has no such limit."""

    baseline_iops: float | None
    burst_iops: float | None
    burst_credits: float | None
    throughput_mib_s: float | None


class TeardownStage(Model):
    """One stage of deleting the target."""

    stage: Literal["asked", "deleting", "seen deleted", "failed"]
    at: datetime | None = Field(
        description="When the stage was completed; null if it is in progress or the time is not"
        " known."
    )
    text: str


class Teardown(Model):
    """The deletion of the target."""

    stages: tuple[TeardownStage, ...] = Field(
        description="Stages in order; empty if deletion was not requested yet."
    )
    gone: bool = Field(description="Whether the target was confirmed to be deleted.")


class LiveAnswer(Model):
    """The result in words."""

    tag: str
    decided: bool = Field(
        description="True if the figure is a capacity, false if it is only a bound."
    )
    figure: str | None = Field(description="Capacity in operations per second, with its bound.")
    sentence: str
    facts: tuple[tuple[str, str], ...] = Field(description="Pairs of a name and a text.")


class Live(Model):
    """A run during and after its execution: what is new since a cursor."""

    cursor: str = Field(description="Value of `after` for the next call.")
    at: datetime = Field(description="Time at which the state was read.")
    every_s: int = Field(description="Width of the bins of `seconds`, in seconds.")
    run: RunSummary
    plan: LivePlan | None = Field(description="Plan of the step; null before the first.")
    time: LiveTime
    money: LiveMoney
    log: tuple[LogLine, ...] = Field(
        description="Lines sorted by id; lines from before the cursor may be sent again."
    )
    statistic: Statistic = Field(description="Latency statistic that is judged.")
    axis: Axis = Field(description="What `load` counts: clients, connections or arrival rate.")
    limits_us: dict[str, float] = Field(
        description="Latency limit of each operation in microseconds, by name; empty until a step"
        " is judged."
    )
    bracket: tuple[float | None, float | None] | None = Field(
        description="Heaviest load that passes, and lightest load above it that fails."
    )
    loads: tuple[LiveLoad, ...] = Field(description="All loads so far, from the lightest.")
    steps: tuple[LiveStep, ...] = Field(description="Steps that ended since the cursor.")
    seconds: SecondSeries = Field(description="Seconds of the steps in `steps`.")
    resources: ResourceSeries = Field(
        description="Figures since the cursor; the last bin may be partial."
    )
    caps: VolumeCaps | None = Field(
        description="Limits of the target's volume; null for an endpoint or Aurora."
    )
    teardown: Teardown
    answer: LiveAnswer | None = Field(
        description="Result in words; null if the run has not ended or has no result."
    )


class LiveSecondOperation(Model):
    """One operation in a second of the step in progress."""

    succeeded: int
    errors: int
    p99_us: int | None = Field(
        description="99th percentile over all clients that reported; null if no operation was"
        " answered."
    )


class LiveSecond(Model):
    """A second of the step in progress, from its clients; the finished step replaces it."""

    step: int
    epoch_s: int
    clients: int = Field(description="Number of clients of the step.")
    clients_told: int = Field(description="Number of clients that reported this second so far.")
    operations: dict[str, LiveSecondOperation]
