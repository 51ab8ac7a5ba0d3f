"""A toggle that cannot be is refused by name, before anything is made."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import map_endpoints_by_state
from plimsoll.requests.checked_request import validate_request
from tests.support.requested import REQUESTED

ON = {"name": "doublewrite-on", "parameters": {"innodb_doublewrite": "ON"}}
OFF = {"name": "doublewrite-off", "parameters": {"innodb_doublewrite": "OFF"}}


def refused(**changes: Any) -> str:
    with pytest.raises(UsageError) as caught:
        validate_request({**REQUESTED, "toggle": {"states": [ON, OFF]}, **changes})
    return str(caught.value)


def test_a_toggle_has_two_states_in_their_order_and_six_pairs() -> None:
    request = Request.model_validate({**REQUESTED, "toggle": {"states": [ON, OFF]}})
    assert request.toggle is not None
    assert [state.name for state in request.toggle.states] == ["doublewrite-on", "doublewrite-off"]
    assert (request.toggle.pairs, request.toggle.steps) == (6, 12)
    again = Request.model_validate_json(request.model_dump_json())
    assert again.toggle == request.toggle


@pytest.mark.parametrize(
    ("toggle", "told"),
    [
        ({"states": [ON]}, "states"),
        ({"states": [ON, OFF, ON]}, "states"),
        ({"states": [ON, OFF], "pairs": 2}, "pairs"),
        ({"states": [ON, {**OFF, "name": "doublewrite-on"}]}, "the first state's name too"),
        ({"states": [ON, {**ON, "name": "other"}]}, "nothing would be switched"),
        (
            {"states": [ON, {"name": "b", "parameters": {"innodb_flush_method": "fsync"}}]},
            "only one of both states sets innodb_doublewrite",
        ),
        ({"states": [ON, {"name": "b"}]}, "only one of both states sets innodb_doublewrite"),
    ],
)
def test_states_that_are_no_two_states_of_the_same(toggle: dict[str, Any], told: str) -> None:
    assert told in refused(toggle=toggle)


ENDPOINT = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "db",
    "database": "d",
    "secret_arn": "arn:aws:secretsmanager:x",
}
PROXY = {"name": "proxy", "endpoint": {"port": 3307}}


def test_an_existing_database_is_reached_in_two_ways() -> None:
    toggle = {"states": [{"name": "direct"}, PROXY]}
    request = Request.model_validate({**REQUESTED, "target": ENDPOINT, "toggle": toggle})
    assert request.toggle is not None
    assert isinstance(request.target, EndpointTarget)
    states = map_endpoints_by_state(request.target, request.toggle)
    assert {name: state.address for name, state in states.items()} == {
        "direct": "db:3306",
        "proxy": "db:3307",
    }


@pytest.mark.parametrize(
    ("target", "toggle", "told"),
    [
        (ENDPOINT, {"states": [ON, OFF]}, "an existing database is not changed"),
        (ENDPOINT, {"states": [{"name": "a"}, {"name": "b"}]}, "nothing would be switched"),
        (
            ENDPOINT,
            {"states": [{"name": "a"}, {"name": "b", "endpoint": {"port": 3306}}]},
            "nothing would be switched",
        ),
        (
            ENDPOINT,
            {"states": [{"name": "a"}, PROXY], "restart": "always"},
            "an existing database is not restarted",
        ),
        (
            ENDPOINT,
            {"states": [{"name": "a"}, {"name": "b", "endpoint": {"statement_mode": "simple"}}]},
            "toggle.states[1].endpoint.statement_mode: is of PostgreSQL alone",
        ),
        ({**ENDPOINT, "engine": "cassandra"}, {"states": [{"name": "a"}, PROXY]}, "`plimsoll comp"),
        (
            REQUESTED["target"],
            {"states": [OFF, {**ON, **PROXY}]},
            "toggle.states[1].endpoint: applies to an existing database",
        ),
        (
            REQUESTED["target"],
            {"states": [{"name": "a"}, {"name": "b"}]},
            "toggle.states[0].parameters: is missing",
        ),
    ],
)
def test_states_that_the_target_cannot_have(
    target: dict[str, Any], toggle: dict[str, Any], told: str
) -> None:
    assert told in refused(target=target, toggle=toggle)


def test_a_rate_fixes_what_would_be_compared() -> None:
    rate = {"strategy": "rate", "rate_first_ops_per_second": 1, "rate_max_ops_per_second": 9}
    assert "which a rate fixes" in refused(search=rate)


def test_its_steps_are_out_of_probes_max() -> None:
    search = {"strategy": "steps", "clients": [1], "probes_max": 12}
    assert "12 steps of search.probes_max" in refused(search=search)


def test_the_warming_is_within_each_step() -> None:
    told = refused(prepare={"warm_s": 600}, load={"warmup_s": 200, "duration_s": 100})
    assert "prepare.warm_s" in told


def test_of_thousands_of_clients_the_first_waits_for_the_last_besides() -> None:
    changes = {"prepare": {"warm_s": 300}, "load": {"warmup_s": 200, "duration_s": 290}}
    told = refused(search={"strategy": "steps", "clients": [10_000]}, **changes)
    assert "prepare.warm_s" in told
