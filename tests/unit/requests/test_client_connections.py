"""A client on Lambda has 1,024 descriptors: a request that plans more connections is refused."""

from typing import Any

import pytest

from plimsoll.capacity.confirm.next_loads import LADDERS, Wish, make_next_step
from plimsoll.errors import UsageError
from plimsoll.fleet.plan import plan_step, plan_warming, share_connections
from plimsoll.model.request.load_request import CONNECTIONS_OF_A_CLIENT
from plimsoll.model.request.request import Request
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.quoting.quotes import require_possible
from plimsoll.requests.checked_request import check_request
from plimsoll.requests.client_connections import require_openable_connections
from tests.support.requested import REQUESTED

MANY = 951
RATE = {"rate_first_ops_per_second": 10, "rate_max_ops_per_second": 100}
PASS = {"records": 100_000, "connections": [10, MANY], "connections_per_client": MANY}
JOB = {"name": "job", "workload": {"name": "log-flush", "records": 1000}}


def asked(**changes: object) -> Request:
    return Request.model_validate(REQUESTED | changes)


def ramp(**changes: object) -> dict[str, Any]:
    return {"strategy": "ramp", **changes}


def phase(**end: object) -> dict[str, Any]:
    return {"phases": [{"name": "fill", **end}]}


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        (
            {"search": {"strategy": "steps", "clients": [1], "connections_per_client": MANY}},
            "search.connections_per_client",
            MANY,
        ),
        (
            {"search": ramp(connections_max=2000, connections_per_client=MANY)},
            "search.connections_per_client",
            MANY,
        ),
        (
            {"search": ramp(connections_max=200_000, clients_max=100)},
            "search.connections_max",
            200_000,
        ),
        (
            {"search": {"strategy": "rate", **RATE, "connections_per_client": MANY}},
            "search.connections_per_client",
            MANY,
        ),
        ({"prepare": {"connections_per_client": MANY}}, "prepare.connections_per_client", MANY),
        (
            {"background": [{**JOB, "connections_per_client": MANY}]},
            "background[0].connections_per_client",
            MANY,
        ),
        (phase(to_completion=PASS), "phases[0].to_completion.connections_per_client", MANY),
        (
            phase(search=ramp(connections_max=96_000, clients_max=100)),
            "phases[0].search.connections_max",
            96_000,
        ),
    ],
)
def test_too_many_connections_for_a_client_on_lambda_are_refused(
    changes: dict[str, Any], field: str, value: int
) -> None:
    checked = check_request(asked(**changes))
    with pytest.raises(UsageError, match="add clients") as caught:
        require_possible(checked, read_builtin_prices(), local=False)
    [complaint] = caught.value.complaints
    assert (complaint.field, complaint.value) == (field, value)
    require_possible(checked, read_builtin_prices(), local=True)


def test_a_ramp_with_too_few_clients_is_told_how_many_it_needs() -> None:
    with pytest.raises(UsageError) as caught:
        require_openable_connections(asked(search=ramp(connections_max=200_000, clients_max=100)))
    assert str(caught.value) == (
        "search.connections_max: plans 2,000 connections for each of clients_max = 100 clients, and"
        " a client on Lambda can open 950: add clients (clients_max 211 at least), or lower it"
        " (allowed: <= 95000)"
    )


@pytest.mark.parametrize(
    "search",
    [
        {"strategy": "steps", "clients": [1, 100], "connections_per_client": 950},
        ramp(connections_max=95_000, clients_max=100, connections_per_client=950),
        ramp(connections_max=200_000, clients_max=211),
        ramp(connections_max=900, connections_per_client=20_000),
        {"strategy": "rate", **RATE, "connections_per_client": 950},
    ],
)
def test_what_is_allowed_is_planned_with_no_more(search: dict[str, Any]) -> None:
    """Each load of the search's ladder, as a step, with every connection on the first client."""
    request = asked(search=search)
    require_openable_connections(request)
    ladder = LADDERS[request.search.strategy](request.search)
    load: float | None = ladder.first
    while load is not None:
        step = make_next_step(request.search, (), Wish(load, "climb", "the next one"), ())
        assert share_connections(plan_step(step, request), 0) <= CONNECTIONS_OF_A_CLIENT
        load = ladder.up(load)


@pytest.mark.parametrize(
    "search",
    [
        {"strategy": "steps", "clients": [100], "connections_per_client": 64},
        ramp(connections_first=5000, connections_max=10_000),
    ],
)
def test_the_one_client_that_warms_opens_no_more(search: dict[str, Any]) -> None:
    """It has the connections of the lightest step, which a hundred clients share."""
    request = asked(search=search)
    require_openable_connections(request)
    assert plan_warming(request).connections == CONNECTIONS_OF_A_CLIENT
