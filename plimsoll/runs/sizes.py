"""A finished run as the ground on which `plimsoll size` and the API say what to buy."""

import os
from collections.abc import Mapping

from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.results import RunResult
from plimsoll.model.steps import Statistic
from plimsoll.runs.limits.seen import Seen
from plimsoll.sizing.from_run import Measured, measured


def operations_of(result: RunResult) -> list[str]:
    """Name the operations of a run, each of which needs a limit."""
    return sorted({name for step in result.steps for name in step.operations})


def own_limits_us(result: RunResult) -> dict[str, float]:
    """Give the limits that a run was judged by: its request's, or times its lightest load."""
    judged = result.capacity.steps if result.capacity else ()
    found = {name: us for load in judged for name, us in load.limit_us.items()}
    return {**found, **result.request.limits.limits_us}


def own_gib(result: RunResult) -> int:
    """Give the size of a run's volume; 1 where it has none."""
    target = result.request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return 1
    return target.volume.size_gib


def ground(result: RunResult, statistic: Statistic, limits_us: Mapping[str, float]) -> Measured:
    """Read a run as the ground of predictions.

    Args:
        result: The run.
        statistic: Of the latencies that the limits are of.
        limits_us: The most that each operation may take.

    Raises:
        UsageError: It says too little, or nothing of AWS.
        NoGroundError: Its figures are doubtful.
    """
    waits = [Seen(step, None).waits for step in result.steps]
    processors = result.processors or (os.cpu_count() if result.local else None)
    return measured(result, waits, statistic=statistic, limits_us=limits_us, processors=processors)
