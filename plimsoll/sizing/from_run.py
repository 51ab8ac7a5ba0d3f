"""A finished run, prepared as the basis of predictions. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.capacity.credits import judge_sustained
from plimsoll.errors import NoGroundError, UsageError
from plimsoll.model.aws.instances import find_instance_size
from plimsoll.model.judging.capacity import Capacity, Resource, Verdict
from plimsoll.model.judging.steps import CreditBucket, Statistic, TargetFigures
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.run.results import LimitingResource, RunResult, ServerWaits
from plimsoll.sizing.caps import (
    INSTANCE_IO,
    Caps,
    Made,
    apply_credits,
    find_caps,
    replace_processors,
)
from plimsoll.sizing.measured import Observed, build_profile, observe_steps
from plimsoll.sizing.predict import Calibrated, calibrate_profile
from plimsoll.sizing.queueing import RUNS_SPREAD

HELD: frozenset[Resource] = frozenset(
    {"row_locks", "table_locks", "inner_locks", "connections", "log"}
)
DOUBTFUL: frozenset[Verdict] = frozenset({"DISTURBED", "INCONSISTENT"})
Evidence = Literal["carries", "falls short", "no answer"]
SPENT_PERCENT = 1.0  # burst credits below this count as used up
_BALANCES: dict[CreditBucket, Callable[[TargetFigures], float | None]] = {
    "volume": lambda seen: seen.burst_balance_percent,
    "instance_io": lambda seen: seen.ebs_io_balance_percent,
    "instance_throughput": lambda seen: seen.ebs_byte_balance_percent,
}


@dataclass(frozen=True)
class Measured:
    """A run judged against the wanted limits, and calibrated for predictions.

    Attributes:
        result: The run.
        target: The target that it measured.
        seen: The steps that can be used.
        capacity: The run's answer for the wanted latency limits.
        known: The calibrated profile that predictions start from.
    """

    result: RunResult
    target: Made
    seen: tuple[Observed, ...]
    capacity: Capacity
    known: Calibrated

    @property
    def limiting(self) -> LimitingResource | None:
        """What set the limit; None if other latency limits than the run's give another answer."""
        return find_limiting(self.result, self.capacity)

    def compare_with(self, required: float) -> Evidence:
        """Compare the run's figure with a required load line, in operations per second.

        A lower bound below it and an upper bound above it decide nothing.
        """
        figure = self.capacity.max_sustainable_throughput_ops_per_second
        if figure is None:
            return "no answer"
        enough, bound = figure >= required, self.capacity.bound
        if (bound == "<" and enough) or (bound == ">=" and not enough):
            return "no answer"
        return "carries" if enough else "falls short"

    def compute_error(self, predicted: float) -> float | None:
        """Return predicted / measured - 1; None if the run has no exact figure."""
        figure = self.capacity.max_sustainable_throughput_ops_per_second
        return predicted / figure - 1 if figure and self.capacity.bound == "=" else None


def prepare_run(
    result: RunResult,
    waits: Sequence[ServerWaits],
    *,
    statistic: Statistic,
    limits_us: Mapping[str, float],
    processors: int | None,
) -> Measured:
    """Prepare a run for predictions.

    Args:
        result: The run.
        waits: The server's wait counters for each step.
        statistic: The latency statistic that the limits apply to.
        limits_us: The highest latency of each operation, in microseconds.
        processors: The processors of the machine that stood in for AWS; None if not known.

    Raises:
        UsageError: The run lacks needed figures, or its target was an existing endpoint.
        NoGroundError: The run is disturbed or inconsistent.
    """
    target = result.request.target
    if isinstance(target, EndpointTarget):
        raise UsageError(
            "its target is an existing endpoint, whose volume and class are not known: sizing needs"
            " a run on a target that was created for it"
        )
    rules = result.request.limits.model_copy(
        update={"limits_us": dict(limits_us), "statistic": statistic}
    )
    capacity = judge_sustained([step.step for step in result.steps], rules)
    if capacity.verdict in DOUBTFUL or capacity.slowed:
        raise NoGroundError(f"nothing can be predicted from it: {capacity.sentence}")
    size = find_instance_size(target.instance_class)
    own_processors = processors if result.local else size.vcpus if size else None
    doubtful = {s.index for load in capacity.steps if not load.consistent for s in load.steps}
    seen = observe_steps(
        result, waits, statistic=statistic, processors=own_processors, without=doubtful
    )
    own = _find_caps_in_force(result, target)
    if result.local and processors is not None:
        own = replace_processors(own, processors)
    pages = result.dataset.pages if result.dataset else None
    profile = build_profile(seen, own, local=result.local, dataset_pages=pages)
    lacking = [name for name in limits_us if name not in profile.tails]
    if lacking:
        raise UsageError(f"the run has no {statistic} of {', '.join(lacking)}")
    known = calibrate_profile(
        profile,
        limits_us,
        None if capacity.bound == "<" else capacity.max_sustainable_throughput_ops_per_second,
        least=capacity.bound == ">=",
        spread=_compute_relative_spread(capacity),
    )
    return Measured(
        result, target, seen, capacity, replace(known, held=_find_fixed_limit(result, capacity))
    )


def _find_caps_in_force(result: RunResult, target: Made) -> Caps:
    """Return the limits that held during the run, given the burst credits left.

    Credits of an instance are assumed to last unless its metrics say otherwise; credits of a
    volume only if its metrics say so.
    """
    seen = [step.target for step in result.steps if step.target is not None]
    least = {
        bucket: min((left for one in seen if (left := balance(one)) is not None), default=None)
        for bucket, balance in _BALANCES.items()
    }
    held = {bucket for bucket, left in least.items() if left is not None and left >= SPENT_PERCENT}
    held |= {bucket for bucket in INSTANCE_IO if least[bucket] is None}
    return apply_credits(find_caps(target, lasting=False), target, held)


def _compute_relative_spread(capacity: Capacity) -> float:
    """Return half the relative width of an answer's interval; a tenth at least."""
    between = capacity.interval
    if between is None:
        return RUNS_SPREAD
    low, high = between.low_ops_per_second, between.high_ops_per_second
    return min(0.5, max(RUNS_SPREAD, (high - low) / 2 / math.sqrt(low * high)))


def find_limiting(result: RunResult, capacity: Capacity) -> LimitingResource | None:
    """Return what set a run's limit; None if an answer differs from the run's own figure."""
    own = result.capacity.max_sustainable_throughput_ops_per_second if result.capacity else None
    same = own == capacity.max_sustainable_throughput_ops_per_second
    return result.limiting if same else None


def _find_fixed_limit(result: RunResult, capacity: Capacity) -> tuple[Resource, float] | None:
    """Return the limiting resource and its throughput, if no other volume or class changes it."""
    limiting = find_limiting(result, capacity)
    figure = capacity.max_sustainable_throughput_ops_per_second
    if limiting is None or not limiting.reached or limiting.resource not in HELD:
        return None
    return None if figure is None or capacity.bound != "=" else (limiting.resource, figure)
