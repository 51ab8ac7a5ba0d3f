"""A finished run as the ground of predictions, with what its server said of waits."""

import os
from collections.abc import Mapping

from plimsoll.model.results import RunResult
from plimsoll.model.steps import Statistic
from plimsoll.runs.limits.seen import Seen
from plimsoll.sizing.from_run import Measured, measured


def ground_from(
    result: RunResult, statistic: Statistic, limits_us: Mapping[str, float]
) -> Measured:
    """Read a run; one on one machine was on this one where it does not say how large that was.

    Args:
        result: It.
        statistic: Of the latencies that the limits are of.
        limits_us: The most that each operation may take.

    Raises:
        UsageError: It says too little, or nothing of AWS.
        NoGroundError: Its figures are doubtful.
    """
    return measured(
        result,
        [Seen(step, None).waits for step in result.steps],
        statistic=statistic,
        limits_us=limits_us,
        processors=result.processors or (os.cpu_count() if result.local else None),
    )
