"""A search on a target that takes ten connections finds the load that fits, and says why."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis, plan_next_step
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import Done, RampSearch, Search, StepsSearch

ROOM = 10  # connections
REFUSED = "the target refused connections of 1 of 1 client: Too many connections"


def searched(search: Search, rules: Rules) -> Capacity:
    """Search on a database that gives 100 ops/s for each connection that it takes."""
    finished: list[Step] = []
    while not isinstance(asked := plan_next_step(search, finished, rules), Done):
        fits = asked.connections <= ROOM
        answered = {
            "throughput_ops_per_second": 100.0 * asked.connections,
            "latency_us": {"read": {"p99": 10_000.0, "mean": 9_900.0}},
        }
        nothing = {"throughput_ops_per_second": 0.0, "refused": REFUSED, "clients_ran": 0}
        step = {
            "index": asked.index,
            "purpose": asked.purpose,
            "clients": asked.clients,
            "connections": asked.connections,
            **(answered if fits else nothing),
        }
        finished.append(Step.model_validate(step))
    return judge(finished, rules, find_axis(search))


@pytest.mark.parametrize(
    "rules", [Rules(), Rules(confirmation=None), Rules(limits_us={"read": 2e4})]
)
def test_a_heavier_load_that_is_refused_is_the_knee(rules: Rules) -> None:
    capacity = searched(RampSearch(connections_first=4, connections_max=64), rules)
    assert (capacity.verdict, capacity.causes) == ("KNEE", ("connections",))
    assert capacity.bracket is not None
    passes, fails = capacity.bracket
    assert passes == ROOM
    assert fails is not None
    assert ROOM < fails <= 12
    assert capacity.summary.endswith(REFUSED)


@pytest.mark.parametrize("rules", [Rules(), Rules(limits_us={"read": 2e4})])
def test_where_no_load_fits_the_lightest_fails(rules: Rules) -> None:
    search = StepsSearch(clients=(1, 2), connections_per_client=16)
    capacity = searched(search, rules)
    assert capacity.verdict == "BELOW_FIRST_STEP"
    assert capacity.cause == "connections"
    assert capacity.max_sustainable_throughput_ops_per_second is None
