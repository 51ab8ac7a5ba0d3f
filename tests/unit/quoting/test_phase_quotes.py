"""A quote counts the passes of phases, and the steps of a phase's search as those of a run's."""

from typing import Any

import pytest

from plimsoll.model.run.quote import Quote
from plimsoll.quoting.charges import CLIENT_GIB
from plimsoll.quoting.times import count_fleet_most
from tests.support.requested import quote_request
from tests.unit.quoting.test_quotes import line, request

JOB = {
    "name": "job",
    "to_completion": {"records": 5000, "connections": [1, 4], "repetitions": 3, "longest_s": 60},
}
SEARCH = {"strategy": "steps", "clients": [7], "probes_max": 9}
ASK = {"name": "ask", "workload": {"name": "ycsb-c"}, "search": SEARCH}


def quoted(*phases: dict[str, Any]) -> Quote:
    return quote_request(request(phases=list(phases)))


def seconds(found: Quote, name: str) -> tuple[float, float]:
    (phase,) = [phase for phase in found.phases if phase.name == name]
    return phase.expected_s, phase.most_s


def test_passes_are_steps_before_those_of_the_search() -> None:
    alone, found = quoted(), quoted(JOB)
    assert found.steps.expected == pytest.approx(alone.steps.expected + 6)
    assert found.steps.most == alone.steps.most + 6
    assert seconds(found, "search") == seconds(alone, "search")


def test_a_phases_search_takes_what_it_would_take_as_a_runs() -> None:
    of_run = quote_request(request(workload={"name": "ycsb-c", "records": 100_000}, search=SEARCH))
    found, alone = quoted(ASK), quoted()
    assert seconds(found, "phases") == pytest.approx(seconds(of_run, "search"))
    assert found.steps.expected == pytest.approx(alone.steps.expected + of_run.steps.expected)
    assert found.steps.most == alone.steps.most + 9
    fleets = [line(each, "client").quantity.expected for each in (found, alone)]
    assert fleets[0] > fleets[1]
    both = quoted(JOB, ASK)
    assert seconds(both, "phases")[0] == pytest.approx(
        seconds(found, "phases")[0] + seconds(quoted(JOB), "phases")[0]
    )


def test_its_clients_are_those_that_a_team_needs_room_for() -> None:
    assert count_fleet_most(request(phases=[ASK])) == 7


def test_all_searches_together_take_no_more_than_the_runs_time() -> None:
    """At worst the whole time limit goes to the search with the most clients, and only once."""
    asks = [{**ASK, "name": f"ask-{number}"} for number in range(3)]
    limits = {"time_limit_s": 600, "prepare": {"warm_s": 0}}
    found = quote_request(request(phases=asks, **limits))
    busiest = max(count_fleet_most(request(phases=[ask])) for ask in asks)
    loading = line(quote_request(request(**limits)), "client").quantity.most
    assert line(found, "client").quantity.most <= loading + busiest * 600 * CLIENT_GIB
