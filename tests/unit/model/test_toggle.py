"""A toggle that cannot be is refused by name, before anything is made."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.request import Request
from plimsoll.requests.request_values import checked_request
from tests.support.requested import REQUESTED

ON = {"name": "doublewrite-on", "parameters": {"innodb_doublewrite": "ON"}}
OFF = {"name": "doublewrite-off", "parameters": {"innodb_doublewrite": "OFF"}}


def refused(**changes: Any) -> str:
    with pytest.raises(UsageError) as caught:
        checked_request({**REQUESTED, "toggle": {"states": [ON, OFF]}, **changes})
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
        ({"states": [ON, {"name": "b", "parameters": {}}]}, "parameters"),
    ],
)
def test_states_that_are_no_two_states_of_the_same(toggle: dict[str, Any], told: str) -> None:
    assert told in refused(toggle=toggle)


def test_a_target_whose_owner_switches_it_is_measured_in_two_runs() -> None:
    endpoint = {"kind": "endpoint", "engine": "mysql", "host": "db", "database": "d"}
    told = refused(target={**endpoint, "secret_arn": "arn:aws:secretsmanager:x"})
    assert "toggle" in told
    assert "`plimsoll compare`" in told


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
