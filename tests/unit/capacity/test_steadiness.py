"""Windows that are not steady: what a trend is, and what becomes of halves that disagree."""

import math
import random
from typing import Any

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import plan_next_step
from plimsoll.capacity.statistics.trends import detect_trend, is_significant
from plimsoll.capacity.steps.audits import audit_steady_state
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Half, Step, Trend
from plimsoll.model.request.search_request import Done, NextStep, StepsSearch
from tests.unit.capacity.samples import step

RULES = Rules(limits_us={"update": 150})


def halves(first: float, second: float) -> tuple[Half, Half]:
    return (
        Half(throughput_ops_per_second=first),
        Half(throughput_ops_per_second=second),
    )


def noisy(rng: random.Random, count: int, depends: float = 0.0) -> list[float]:
    """A series around 100 without a trend, each value partly that of before."""
    x, series = 0.0, []
    for _ in range(count):
        x = depends * x + rng.gauss(0, 5 * math.sqrt(1 - depends**2))
        series.append(100 + x)
    return series


def share_significant(series: list[list[float]]) -> float:
    found = [detect_trend(values) for values in series]
    return sum(t is not None and is_significant(t) for t in found) / len(series)


@pytest.mark.parametrize(("depends", "at_most"), [(0.0, 0.07), (0.5, 0.25)])
def test_chance_alone_seldom_looks_like_a_trend(depends: float, at_most: float) -> None:
    rng = random.Random(1)
    assert share_significant([noisy(rng, 30, depends) for _ in range(300)]) <= at_most


def test_a_rise_by_a_fifth_is_seen() -> None:
    rng = random.Random(2)
    rising = [[x + 20 * i / 29 for i, x in enumerate(noisy(rng, 30))] for _ in range(100)]
    assert share_significant(rising) > 0.95
    found = detect_trend(rising[0])
    assert found is not None
    assert found.change_share == pytest.approx(0.2, abs=0.1)


def test_waves_are_no_trend() -> None:
    waves = [
        [100 + 25 * math.sin(2 * math.pi * (i / 10 + phase / 8)) for i in range(30)]
        for phase in range(8)
    ]
    assert share_significant(waves) == 0


@pytest.mark.parametrize("values", [[], [1.0] * 5, [0.0] * 30])
def test_where_nothing_can_be_said_there_is_no_trend(values: list[float]) -> None:
    assert detect_trend(values) is None


def test_a_long_series_is_thinned() -> None:
    found = detect_trend([float(i) for i in range(1000)])
    assert found is not None
    assert found.values == 1000
    assert found.change_share == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize(
    ("p_value", "change", "steady"), [(0.4, 0.1, True), (0.001, 0.4, False), (0.001, -0.4, True)]
)
def test_a_faster_second_half_is_a_doubt_only_with_a_trend(
    p_value: float, change: float, steady: bool
) -> None:
    found = Trend(change_share=change, p_value=p_value, values=30)
    audited = audit_steady_state(step(1, 600, halves=halves(540, 700), trend=found))
    assert audited.passed is steady
    assert f"(p = {p_value:g})" in audited.detail


def runs(search: StepsSearch, finished: list[Step], rules: Rules = RULES) -> NextStep:
    following = plan_next_step(search, finished, rules)
    assert isinstance(following, NextStep)
    return following


RISING: dict[str, Any] = {"halves": halves(540, 700)}
SLOWING: dict[str, Any] = {"halves": halves(700, 500)}
STEADY: dict[str, Any] = {"halves": halves(600, 605)}


def test_a_load_whose_halves_disagree_gets_longer_windows_before_it_is_given_up() -> None:
    search = StepsSearch(clients=(1,))
    finished = [step(1, 600, **RISING)]
    for factor in (2, 4):
        following = runs(search, finished)
        assert (following.clients, following.window_factor) == (1, factor)
        finished.append(step(1, 600, window_factor=factor, **RISING))
    given_up = plan_next_step(search, finished, RULES)
    assert isinstance(given_up, Done), "three windows, each twice as long, and still warming up"


def test_what_a_longer_window_shows_steady_is_steady_and_stays_so_long() -> None:
    """Three restless ones of five repetitions alike ended NOISY after 10 of 30 probes."""
    search = StepsSearch(clients=(1,), open_loop_probe=False)
    finished = [step(1, x, **RISING) for x in (600, 604, 597)]
    finished += [step(1, x, **STEADY) for x in (601, 598)]
    following: NextStep | Done = runs(search, finished)
    assert isinstance(following, NextStep)
    assert following.window_factor == 2
    while isinstance(following, NextStep):
        finished.append(step(1, 601, window_factor=following.window_factor, **STEADY))
        following = plan_next_step(search, finished, RULES)
        assert isinstance(following, Done) or following.window_factor == 2
    capacity = judge(finished, RULES)
    assert (capacity.verdict, len(finished)) == ("LOWER_BOUND", 8)
    assert capacity.max_sustainable_throughput_ops_per_second == pytest.approx(600, abs=2)
    assert any("3 of 8 repetitions are left out" in note for note in capacity.notes)


def test_a_second_half_that_is_slower_is_given_more_time_before_it_fails() -> None:
    search = StepsSearch(clients=(1, 2))
    finished = [step(1, 600, **STEADY), step(2, 900, **SLOWING)]
    for factor in (2, 4):
        assert runs(search, finished).window_factor == factor
        finished.append(step(2, 900, window_factor=factor, **SLOWING))
    assert runs(search, finished).clients == 1, "it is slower each time: that load fails"
    assert judge(finished, Rules(limits_us={"update": 150}, confirmation=None)).cause == "unsteady"


def test_a_heavier_load_that_fails_and_is_restless_does_not_end_the_search() -> None:
    """It was repeated three times, and then "no step at 27 connections counts" after 14 of 30."""
    search = StepsSearch(clients=(1, 2, 4))
    finished = [step(1, 600, **STEADY), step(1, 601, **STEADY), step(2, 900, **STEADY)]
    finished += [step(4, 1000, p99_us=400, **RISING)] * 3
    following = runs(search, finished)
    assert (following.clients, following.purpose) == (2, "confirm")


def test_a_load_that_fails_for_its_latency_is_given_no_more_time() -> None:
    finished = [step(1, 600, **STEADY), step(2, 900, p99_us=400, **SLOWING)]
    assert runs(StepsSearch(clients=(1, 2)), finished).window_factor == 1


def test_the_step_that_is_quoted_is_named() -> None:
    finished = [
        step(1, 600, source="steps/1", **STEADY),
        step(1, 600, source="steps/2", **RISING),
        step(1, 600, source="steps/3", **RISING),
    ]
    capacity = judge(finished, RULES)
    quoted = next(text for load in capacity.steps for text in load.explanations)
    assert quoted.startswith("step 2: 540 ops/s in the window's first half")
