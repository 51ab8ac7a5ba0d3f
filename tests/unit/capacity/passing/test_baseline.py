"""The lightest load, of whose latency limits are multiples, is light, or a note says so."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.request.search_request import RampSearch, RateSearch, StepsSearch
from tests.unit.capacity.samples import step
from tests.unit.capacity.simulators import QUIET, World, queue
from tests.unit.capacity.trials import Trial, run

ONE_SERVER = queue(servers=1, service_s=1 / 8000)  # latency grows from the first load on
ANSWER = 5400.0  # ops/s, from a first rate at 5 % of its 8,000 ops/s


def searched(first_share: float, rules: Rules | None = None, world: World = QUIET) -> Trial:
    search = RateSearch(
        rate_first_ops_per_second=8000 * first_share, rate_max_ops_per_second=30_000
    )
    return run(search, ONE_SERVER, world, 1, rules or Rules())


def warned(capacity: Capacity) -> bool:
    noted = any("nothing shows that this load is light" in note for note in capacity.notes)
    assert noted == ("the lightest load may be too heavy" in capacity.summary)
    return noted


@pytest.mark.parametrize("first_share", [0.05, 0.2, 0.5, 0.85])
def test_the_answer_does_not_depend_on_the_first_load(first_share: float) -> None:
    capacity = searched(first_share).capacity
    assert capacity.max_sustainable_throughput_ops_per_second == pytest.approx(ANSWER, rel=0.06)
    assert not warned(capacity)


def test_a_first_load_that_is_not_light_sends_the_search_lighter() -> None:
    trial = searched(0.5)
    baselines = [s.rate_ops_per_second for s in trial.asked if s.purpose == "baseline"]
    assert baselines == [4000.0] * 3 + [2000.0, 1000.0] + [500.0] * 3
    assert len(trial.steps) <= 30


def test_where_no_load_is_lighter_a_note_says_so() -> None:
    """A list of client counts has nothing below its first, whose latency is queueing already."""
    search = StepsSearch(clients=(4, 6, 8, 9, 10, 12, 16, 24))
    trial = run(search, ONE_SERVER, QUIET, 0)
    assert {asked.clients for asked in trial.asked if asked.purpose == "baseline"} == {4}
    assert warned(trial.capacity)


def test_one_connection_is_light_whatever_comes_next() -> None:
    trial = run(RampSearch(connections_first=1, connections_max=64), ONE_SERVER, QUIET, 0)
    assert not warned(trial.capacity)


def test_limits_in_microseconds_need_no_baseline() -> None:
    limits_us = {"read": 5_000.0, "update": 5_000.0}
    trial = searched(0.5, Rules(limits_us=limits_us, audits_off=frozenset({"drift"})))
    assert [asked.purpose for asked in trial.asked].count("baseline") == 1
    assert not warned(trial.capacity)


def test_a_table_that_begins_on_the_slope_is_told_so() -> None:
    slope = [step(4, 1000, 100), step(6, 1100, 140), step(8, 1150, 200), step(16, 1160, 400)]
    flat = [step(4, 1000, 100), step(6, 1500, 110), step(8, 1900, 140), step(16, 2000, 400)]
    rules = Rules(confirmation=None)
    assert warned(judge(slope, rules))
    assert not warned(judge(flat, rules))


def test_a_heavier_load_without_latencies_shows_nothing_of_the_lightest() -> None:
    refused = "the target refused 4 of 8 connections"
    table = [step(4, 1000, 100), step(8, 900, None, refused=refused)]
    assert warned(judge(table, Rules(confirmation=None)))
