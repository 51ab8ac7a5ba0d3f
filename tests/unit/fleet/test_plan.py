"""A step is divided evenly, and its clients are given time to come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.fleet.plan import (
    compute_barrier_ms,
    count_late_steps,
    make_load_spec,
    plan_step,
    plan_warming,
    reduce_step,
    share_connections,
    share_rate,
)
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.engine.asked import EngineTarget, EngineWorkload
from plimsoll.model.judging.steps import FinishedStep
from plimsoll.model.request.load_request import ENDING_S, compute_longest_load_s
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.fleet import FailedClient, StepPlan
from plimsoll.model.timings import AWS_TIMINGS
from tests.support.merged import merge_step
from tests.unit.fleet.test_merge import planned as two
from tests.unit.fleet.test_merge import result

REQUEST = Request.model_validate(
    {
        "name": "small",
        "target": {
            "kind": "rds",
            "engine": "mysql",
            "engine_version": "8.4.6",
            "instance_class": "db.m6i.large",
            "volume": {"type": "gp3", "size_gib": 100},
        },
        "workload": {"name": "ycsb-a", "records": 1000},
        "search": {"strategy": "steps", "clients": [2, 4], "connections_per_client": 3},
        "load": {"warmup_s": 2, "duration_s": 10, "seed": 5},
        "prepare": {"warm_s": 7},
    }
)


NOTHING = EngineWorkload(key_spaces=(), operations=())
NOWHERE = EngineTarget(protocol="mysql", host="h", port=1, user="u", password="", database="d")


def planned(clients: int, connections: int, rate: float | None = None) -> StepPlan:
    following = NextStep(
        index=2,
        clients=clients,
        connections=connections,
        rate_ops_per_second=rate,
        purpose="climb",
        why="the next one",
    )
    return plan_step(following, REQUEST).model_copy(update={"start_at_epoch_ms": 1_000})


def test_who_asks_for_polling_is_heard_the_search_first_then_the_request_then_the_place() -> None:
    def polls(asked: int | None, of_request: int | None) -> int:
        following = NextStep(
            index=2, clients=1, connections=1, purpose="climb", why="", poll_us=asked
        )  # fmt: skip
        load = REQUEST.load.model_copy(update={"poll_us": of_request})
        request = REQUEST.model_copy(update={"load": load})
        plan = plan_step(following, request, poll_us=50)
        spec = make_load_spec(plan, 0, workload=NOTHING, target=NOWHERE)
        assert spec.poll_us == plan.poll_us
        return plan.poll_us

    assert polls(None, None) == 50
    assert polls(None, 0) == 0
    assert polls(20, 0) == 20


def test_steps_are_numbered_from_one_and_know_their_window() -> None:
    plan = planned(4, 12)
    assert plan.index == 3
    assert (plan.window_start_epoch_ms, plan.window_end_epoch_ms) == (3_000, 13_000)
    assert plan.seed == 8  # each step draws anew


@pytest.mark.parametrize(
    ("duration_s", "factor", "length_s"), [(10, 4, (8, 40)), (600, 2, (810 / 301, 810 * 300 / 301))]
)
def test_a_longer_window_is_as_long_as_a_client_can_run(
    duration_s: float, factor: int, length_s: tuple[float, float]
) -> None:
    load = REQUEST.load.model_copy(update={"duration_s": duration_s})
    following = NextStep(
        index=2, clients=1, connections=1, purpose="again", why="", window_factor=factor
    )
    request = REQUEST.model_copy(update={"load": load})
    plan = plan_step(following, request)
    assert plan.window_factor == factor
    assert (plan.warmup_s, plan.duration_s) == pytest.approx(length_s)


@given(clients=st.integers(1, 200), more=st.integers(0, 5_000))
def test_connections_are_spread_evenly_and_none_is_lost(clients: int, more: int) -> None:
    plan = planned(clients, clients + more)
    shares = [share_connections(plan, client) for client in range(clients)]
    assert sum(shares) == plan.connections
    assert max(shares) - min(shares) <= 1


@given(clients=st.integers(1, 200), rate=st.floats(1, 1e6))
def test_rates_add_up_to_the_steps(clients: int, rate: float) -> None:
    plan = planned(clients, clients * 3 + 1, rate)
    rates = [share_rate(plan, client) or 0 for client in range(clients)]
    assert sum(rates) == pytest.approx(rate)


def test_a_window_of_a_soak_is_as_long_as_the_search_asks() -> None:
    following = NextStep(
        index=3, clients=1, connections=2, purpose="soak", duration_s=600, why="holds"
    )
    plan = plan_step(following, REQUEST)
    assert (plan.warmup_s, plan.duration_s) == (REQUEST.load.warmup_s, 600)
    assert planned(1, 2).duration_s == REQUEST.load.duration_s


def test_a_closed_loop_has_no_rate() -> None:
    assert share_rate(planned(1, 1), 0) is None


def test_a_larger_fleet_is_given_more_time_to_start() -> None:
    def barrier(clients: int) -> int:
        return compute_barrier_ms(50, clients=clients, lead_ms=1_000, per_client_ms=10)

    assert (barrier(1), barrier(100)) == (1_060, 2_050)


def test_ten_thousand_clients_are_given_what_lambda_takes_to_start_them() -> None:
    """1,000 more every 10 s: the last thousand is there after 100 s."""
    start = compute_barrier_ms(
        0,
        clients=10_000,
        lead_ms=AWS_TIMINGS.lead_ms,
        per_client_ms=AWS_TIMINGS.lead_ms_per_client,
    )
    assert start == 20_000 + 10_000 / 1_000 * 10_000
    most_s = FUNCTIONS["load-client"].timeout_s
    assert start / 1000 + compute_longest_load_s(10_000) + ENDING_S == most_s


def test_more_time_to_start_is_never_taken_from_the_load() -> None:
    """Who is called first waits for the barrier, and a client may run for 900 s."""
    barriers = [
        compute_barrier_ms(
            0, clients=10_000, lead_ms=20_000, per_client_ms=10, late_before=late, load_s=load_s
        )
        for late, load_s in ((1, 190), (2, 190), (3, 190), (3, 760))
    ]
    assert barriers == [240_000, 480_000, 690_000, 120_000]


@pytest.mark.parametrize(
    ("late_before", "lead_ms"), [(0, 1_010), (1, 2_020), (2, 4_040), (3, 8_080), (9, 8_080)]
)
def test_clients_that_came_too_late_are_given_twice_the_time(
    late_before: int, lead_ms: int
) -> None:
    barrier = compute_barrier_ms(
        50, clients=1, lead_ms=1_000, per_client_ms=10, late_before=late_before
    )
    assert barrier == 50 + lead_ms


def test_only_the_last_steps_in_a_row_were_late() -> None:
    """Beyond their warm-up of 1 s, or so late that they were refused."""
    refused = FailedClient(client=1, error="ClientTooLateError", cause="")
    killed = FailedClient(client=1, error="Lambda.Unknown", cause="")

    def step(late_ms: int, *failed: FailedClient) -> FinishedStep:
        results = [result(0, [9], late_ms=late_ms)]
        return reduce_step(merge_step(two(), results, failed, server_after=None))

    late, in_time = step(1_001), step(1_000)
    assert count_late_steps([]) == 0
    assert count_late_steps([late, late, in_time]) == 0
    assert count_late_steps([in_time, late, step(0, refused)]) == 2
    assert count_late_steps([late, step(0, killed)]) == 0


def test_a_few_late_ones_of_thousands_give_the_next_step_no_more_time() -> None:
    refused = [FailedClient(client=n, error="ClientTooLateError", cause="") for n in range(1, 12)]

    def step(late: int) -> FinishedStep:
        plan = two().model_copy(update={"clients": 10_000})
        return reduce_step(merge_step(plan, [result(0, [9])], refused[:late], server_after=None))

    assert (step(10).late, step(11).late) == (False, True)


def test_the_warming_step_is_step_zero_with_the_first_steps_connections() -> None:
    plan = plan_warming(REQUEST)
    assert (plan.index, plan.clients, plan.connections) == (0, 1, 6)
    assert (plan.warmup_s, plan.duration_s) == (0, 7)
