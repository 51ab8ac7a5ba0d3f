"""A finished run as the ground of predictions. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.capacity.credits import judge_sustained
from plimsoll.errors import NoGroundError, UsageError
from plimsoll.model.aws.instances import instance_size
from plimsoll.model.judging.capacity import Capacity, Resource, Verdict
from plimsoll.model.judging.steps import CreditBucket, Statistic, TargetFigures
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.run.results import LimitingResource, RunResult, ServerWaits
from plimsoll.sizing.caps import INSTANCE_IO, Caps, Made, caps_of, on_machine, with_credits
from plimsoll.sizing.measured import Observed, observed, profile_of
from plimsoll.sizing.predict import Calibrated, calibrated
from plimsoll.sizing.queueing import RUNS_SPREAD

HELD: frozenset[Resource] = frozenset(
    {"row_locks", "table_locks", "inner_locks", "connections", "log"}
)
DOUBTFUL: frozenset[Verdict] = frozenset({"DISTURBED", "INCONSISTENT"})
SPENT_PERCENT = 1.0  # of burst credits: below it none are left
_BALANCES: dict[CreditBucket, Callable[[TargetFigures], float | None]] = {
    "volume": lambda seen: seen.burst_balance_percent,
    "instance_io": lambda seen: seen.ebs_io_balance_percent,
    "instance_throughput": lambda seen: seen.ebs_byte_balance_percent,
}


@dataclass(frozen=True)
class Measured:
    """A run, its answer within the limits that are asked about, and what it says of others.

    Attributes:
        result: The run.
        target: Its target.
        seen: Its steps.
        capacity: Its answer.
        known: The ground of predictions.
    """

    result: RunResult
    target: Made
    seen: tuple[Observed, ...]
    capacity: Capacity
    known: Calibrated

    @property
    def limiting(self) -> LimitingResource | None:
        """What set its limit; None where other limits of latency give another answer."""
        return limiting_of(self.result, self.capacity)


def measured(
    result: RunResult,
    waits: Sequence[ServerWaits],
    *,
    statistic: Statistic,
    limits_us: Mapping[str, float],
    processors: int | None,
) -> Measured:
    """Read a run.

    Args:
        result: It.
        waits: Of each of its steps, what its server says of waits.
        statistic: Of the latencies that the limits are of.
        limits_us: The most that each operation may take.
        processors: Of the machine on which it was, where that stood in for AWS.

    Raises:
        UsageError: It says too little, or nothing of AWS.
        NoGroundError: Its figures are doubtful.
    """
    target = result.request.target
    if isinstance(target, EndpointTarget):
        raise UsageError(
            "its target is an existing endpoint, whose volume and class are not known: sizing needs"
            " a run on a target that was made for it"
        )
    rules = result.request.limits.model_copy(
        update={"limits_us": dict(limits_us), "statistic": statistic}
    )
    capacity = judge_sustained([step.step for step in result.steps], rules)
    if capacity.verdict in DOUBTFUL:
        raise NoGroundError(f"nothing is predicted from it: {capacity.verdict}: {capacity.summary}")
    size = instance_size(target.instance_class)
    own_processors = processors if result.local else size.vcpus if size else None
    doubtful = {s.index for load in capacity.steps if not load.consistent for s in load.steps}
    seen = observed(result, waits, statistic=statistic, processors=own_processors, without=doubtful)
    own = _in_force(result, target)
    if result.local and processors is not None:
        own = on_machine(own, processors)
    pages = result.dataset.pages if result.dataset else None
    profile = profile_of(seen, own, local=result.local, dataset_pages=pages)
    lacking = [name for name in limits_us if name not in profile.tails]
    if lacking:
        raise UsageError(f"the run has no {statistic} of {', '.join(lacking)}")
    known = calibrated(
        profile,
        limits_us,
        None if capacity.bound == "<" else capacity.max_sustainable_throughput_ops_per_second,
        least=capacity.bound == ">=",
        spread=_spread(capacity),
    )
    return Measured(result, target, seen, capacity, replace(known, held=_held(result, capacity)))


def _in_force(result: RunResult, target: Made) -> Caps:
    """Take what the credits let through that the volume and the instance had while it was measured.

    Of an instance they last unless its metrics say otherwise; of a volume only if they say so.
    """
    seen = [step.target for step in result.steps if step.target is not None]
    least = {
        bucket: min((left for one in seen if (left := balance(one)) is not None), default=None)
        for bucket, balance in _BALANCES.items()
    }
    held = {bucket for bucket, left in least.items() if left is not None and left >= SPENT_PERCENT}
    held |= {bucket for bucket in INSTANCE_IO if least[bucket] is None}
    return with_credits(caps_of(target, lasting=False), target, held)


def _spread(capacity: Capacity) -> float:
    """Half of the interval of an answer, as a share of it; a tenth at least."""
    between, middle = capacity.interval, capacity.median_ops_per_second
    if between is None or not middle:
        return RUNS_SPREAD
    half = (between.high_ops_per_second - between.low_ops_per_second) / 2 / middle
    return min(0.5, max(RUNS_SPREAD, half))


def limiting_of(result: RunResult, capacity: Capacity) -> LimitingResource | None:
    """Give what set a run's limit, where an answer has the figure that this was named for."""
    own = result.capacity.max_sustainable_throughput_ops_per_second if result.capacity else None
    same = own == capacity.max_sustainable_throughput_ops_per_second
    return result.limiting if same else None


def _held(result: RunResult, capacity: Capacity) -> tuple[Resource, float] | None:
    """Name what set the limit, and where, if no other volume or class changes it."""
    limiting = limiting_of(result, capacity)
    figure = capacity.max_sustainable_throughput_ops_per_second
    if limiting is None or not limiting.reached or limiting.resource not in HELD:
        return None
    return None if figure is None or capacity.bound != "=" else (limiting.resource, figure)
