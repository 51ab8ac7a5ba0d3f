"""From finished steps to a verdict."""

from collections.abc import Sequence

from plimsoll.model.capacity import Capacity, Rules
from plimsoll.model.steps import Step


def judge(steps: Sequence[Step], rules: Rules) -> Capacity:
    """Judge finished steps, in any order, repetitions included.

    Raises:
        UsageError: the steps cannot be judged; names the row and the column.
    """
    raise NotImplementedError
