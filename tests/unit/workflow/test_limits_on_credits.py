"""What sets the limit where burst credits paid for some of the loads."""

import pytest

from plimsoll.capacity.credits import judge_sustained
from plimsoll.limiting import find_limiting_resource
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.run.results import LimitingResource
from tests.unit.capacity.samples import gp2
from tests.unit.workflow.limit_samples import GP2, result


def on_gp2(*loads: tuple[int, float, float]) -> LimitingResource:
    """Steps of (clients, IOPS, percent of the credits that are left) on a gp2 that earns 300."""
    steps = []
    for index, (clients, iops, left) in enumerate(loads, start=1):
        figures = {"read_iops": iops, "write_iops": 0, "burst_balance_percent": left}
        made = result(index, clients, iops, 500, {**figures, "cpu_percent": 5})
        spending = made.step.model_copy(update=gp2(iops, left))
        steps.append(made.model_copy(update={"step": spending}))
    rules = Rules(confirmation=None, limits_us={"update": 1000})
    return find_limiting_resource(judge_sustained([step.step for step in steps], rules), steps, GP2)


@pytest.mark.parametrize(
    ("loads", "step", "told"),
    [
        ([(1, 2999, 50), (1, 300, 0)], 2, "300 of 300 IOPS (100 %)"),
        ([(1, 200, 90), (2, 800, 90), (3, 2000, 90)], 1, "200 of 300 IOPS (66.7 %)"),
        ([(1, 2000, 90), (2, 2999, 90)], 1, "2,000 of 3,000 IOPS (66.7 %)"),  # nothing lasts
    ],
)
def test_a_load_that_lives_on_credits_shows_no_limit_of_what_lasts(
    loads: list[tuple[int, float, float]], step: int, told: str
) -> None:
    limiting = on_gp2(*loads)
    assert (limiting.resource, limiting.step) == ("storage_iops", step)
    assert told in "; ".join(limiting.evidence)
