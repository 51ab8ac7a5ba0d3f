"""What to do after a run: an honest next step for each verdict, and a marked prediction. Pure."""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.forced_flow import (
    carried_ops_per_second,
    full_at_ops_per_second,
    visits_per_operation,
)
from plimsoll.model.capacity import Capacity, Verdict
from plimsoll.model.metric_periods import held
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.results import RunResult, StepResult
from plimsoll.model.volumes import band, iops_range

AT_ITS_LIMIT = 0.9  # of the volume's IOPS, as a mean over a step
STEP_UP = 2  # times the IOPS of now

NEXT: dict[Verdict, str] = {
    "KNEE": "Find out what set the limit: the steps and the time line below show what was near it",
    "PLATEAU": "Find out what set the limit: the steps and the time line below show what was near"
    " it",
    "LOWER_BOUND": "Give the search heavier loads: nothing failed, so that the limit lies beyond",
    "BELOW_FIRST_STEP": "Begin the search with a lighter load, or allow a higher latency",
    "CLIENT_BOUND": "Add load clients: these were the limit, and nothing is known of the database",
    "NOISY": "Measure again with longer windows or more repetitions; look at the time line for what"
    " comes and goes",
    "INCONSISTENT": "Read which audit failed, below, and mend that: the figures cannot all be true",
    "DISTURBED": "Measure again while nothing else runs on the machine",
    "DRIFTING": "Warm the target for longer, until it no longer changes, and measure again",
    "NOT_SUSTAINED": "Plan with less than this load: ask for a soak at a lower one, and see whether"
    " that lasts",
    "BURST": "Let the credits run out first, or choose a volume without them: what lasts is what to"
    " plan with",
}
_OF_A_LIMIT = {"KNEE", "PLATEAU", "BELOW_FIRST_STEP", "NOT_SUSTAINED"}


@dataclass(frozen=True)
class Prediction:
    """What a volume with more IOPS would carry at most."""

    iops: int  # of such a volume
    iops_now: int
    visits: float  # I/Os for each operation, as measured
    step: int  # in which they were
    with_warmup: bool  # a period of the metrics was longer than its window
    throughput_ops_per_second: float  # the most that the volume carries
    full_processor_ops_per_second: float | None  # where the processors would be busy all the time

    @property
    def sentence(self) -> str:
        """The prediction, marked as one, with its grounds and what it leaves out."""
        most = words.throughput(self.throughput_ops_per_second)
        visits = words.number(float(f"{self.visits:.3g}"))
        told = (
            f"Predicted, not measured: {self.iops:,} IOPS instead of {self.iops_now:,} would carry"
            f" at most about {most} (forced-flow law, {visits} I/Os for each operation in"
            f" step {self.step}{', I/Os counted over its warm-up too' if self.with_warmup else ''})"
        )
        processor = self.full_processor_ops_per_second
        if processor is not None and processor < self.throughput_ops_per_second:
            return (
                f"{told}, but the processors would be full at about {words.throughput(processor)}"
            )
        return f"{told}, if nothing else is the limit before, and each operation takes as many I/Os"


def next_step(result: RunResult) -> str:
    """Say what to do next."""
    capacity = result.capacity
    if capacity is None:
        return "Mend what ended the run, if anything did, and run it again: it has no verdict"
    if (found := predicted(result)) is not None:
        return f"More storage IOPS, if you need more. {found.sentence}"
    change = result.limiting.to_change if result.limiting and result.limiting.reached else None
    if change is not None and capacity.verdict in _OF_A_LIMIT:
        return f"If you need more: {change}"
    return NEXT[capacity.verdict] + _up_to(capacity)


def _up_to(capacity: Capacity) -> str:
    if capacity.verdict != "LOWER_BOUND" or not capacity.steps:
        return ""
    most = max(judged.load for judged in capacity.steps)
    return f" {words.load(most, capacity.axis)}"


def predicted(result: RunResult) -> Prediction | None:
    """Predict what twice the IOPS would carry, or as many as such a volume can have.

    None unless storage IOPS set the limit, its volume's I/O was measured at that limit with nothing
    else beside the workload, and more IOPS can be provisioned.
    """
    limiting, target = result.limiting, result.request.target
    capacity = result.capacity
    if limiting is None or capacity is None or capacity.verdict not in _OF_A_LIMIT:
        return None
    of_storage = limiting.resource == "storage_iops" and limiting.reached
    step = next((one for one in result.steps if one.plan.index == limiting.step), None)
    if not of_storage or step is None or step.plan.background or not isinstance(target, RdsTarget):
        return None
    now = target.volume.iops
    row = band(target.volume, service=target.service)
    done, throughput = _iops(step), step.step.throughput_ops_per_second
    if now is None or row.min_iops is None or done is None or throughput is None:
        return None
    more = min(STEP_UP * now, iops_range(target.volume, row)[1])
    visits = visits_per_operation(done, throughput)
    if not visits or done < AT_ITS_LIMIT * now or more <= now:
        return None
    carried = carried_ops_per_second(more, visits)
    if carried <= (capacity.max_sustainable_throughput_ops_per_second or 0):
        return None  # in this step operations took more I/Os than in that of the figure
    busy = step.target.cpu_percent if step.target else None
    return Prediction(
        iops=more,
        iops_now=now,
        visits=visits,
        step=step.plan.index,
        with_warmup=_with_warmup(step),
        throughput_ops_per_second=carried,
        full_processor_ops_per_second=None
        if busy is None
        else full_at_ops_per_second(throughput, busy / 100),
    )


def _with_warmup(step: StepResult) -> bool:
    """Whether the target's figures are of the whole load: no period of them lies in the window."""
    start = step.window_start_epoch_ms or step.plan.window_start_epoch_ms
    end = step.window_end_epoch_ms or step.plan.window_end_epoch_ms
    return step.target is not None and not held(start, end, period_s=step.target.period_s)


def _iops(step: StepResult) -> float | None:
    """Reads and writes per second of the volume over a step; None where either is not known."""
    figures = step.target
    if figures is None or figures.read_iops is None or figures.write_iops is None:
        return None
    return figures.read_iops + figures.write_iops
