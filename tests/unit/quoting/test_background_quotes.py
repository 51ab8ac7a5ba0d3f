"""A quote counts the clients of a background, the pairs that tell what it takes, and its rows."""

from typing import Any

from plimsoll.model.run.quote import Quote
from plimsoll.teams.room import compute_ask
from tests.support.requested import quote_request
from tests.unit.quoting.test_quotes import line, request

SCAN = {"name": "nightly", "workload": {"name": "batch-full-scan", "records": 100_000}}


def quoted(**changes: Any) -> Quote:
    return quote_request(request(**changes))


def test_its_clients_and_pairs_are_paid_for() -> None:
    alone = quoted()
    beside = quoted(background=[{**SCAN, "clients": 5}], background_pairs=4)
    assert beside.steps.expected == alone.steps.expected + 8
    assert beside.steps.most == alone.steps.most + 8
    one, both = (line(found, "client").quantity.least for found in (alone, beside))
    assert both > 5 * one, "one client before, six now"


def test_without_pairs_it_takes_no_steps_more() -> None:
    beside = quoted(background=[SCAN], background_pairs=0)
    assert beside.steps == quoted().steps


def test_its_rows_are_loaded_too() -> None:
    prepare = [
        next(phase.expected_s for phase in found.phases if phase.name == "prepare")
        for found in (quoted(), quoted(background=[SCAN]))
    ]
    assert prepare[1] > prepare[0]


def test_a_teams_limit_on_clients_holds_them_too() -> None:
    asked = request(background=[{**SCAN, "clients": 5}])
    assert compute_ask(asked, quote_request(asked)).clients == 4 + 5
