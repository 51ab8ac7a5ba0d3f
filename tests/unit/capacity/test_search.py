"""The search ends, repeats nothing without cause, lets the target recover, and can be trusted."""

import math
from collections import Counter
from functools import cache
from statistics import median

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import plan_next_step
from plimsoll.model.judging.capacity import Confirmation, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import (
    Done,
    NextStep,
    RampSearch,
    RateSearch,
    Search,
    StepsSearch,
)
from tests.unit.capacity.simulators import (
    NOISY,
    QUIET,
    World,
    client_bound,
    cliff,
    collapse,
    queue,
)
from tests.unit.capacity.trials import Score, run, score, search_for, targets, truth

ONCE = Rules(confirmation=None)
STRATEGIES = ("steps", "ramp", "rate")
# Trials of each case; benchmarks/capacity.py has hundreds, and writes docs/evidence/search.md.
FEW, MANY = 12, 32
TRIALS = pytest.mark.parametrize("trials", [FEW, pytest.param(MANY, marks=pytest.mark.whole)])


# --- the way that it takes, without noise ---


def loads(search: Search, target_name: str, rules: Rules) -> list[tuple[str, float]]:
    target = {t.name: t for t in targets()}[target_name]
    trial = run(search, target, QUIET, 0, rules)
    return [(a.purpose, a.rate_ops_per_second or a.connections) for a in trial.asked]


def test_steps_go_up_the_list_until_one_fails_twice_then_confirm_the_one_before() -> None:
    search = StepsSearch(clients=(1, 4, 8, 12, 64), connections_per_client=2)
    assert loads(search, "queue", Rules()) == [
        *[("baseline", 2.0)] * 3,
        ("climb", 8.0),
        ("climb", 16.0),
        ("climb", 24.0),
        ("climb", 128.0),
        ("again", 128.0),
        *[("confirm", 24.0)] * 4,
        ("again", 128.0),  # two bad windows may have decided
    ]


def test_the_whole_list_is_measured_where_that_is_wanted() -> None:
    search = StepsSearch(clients=(1, 16, 64, 96, 128), whole_list=True)
    assert [load for _, load in loads(search, "queue", ONCE)] == [1, 16, 64, 96, 128]


@pytest.mark.parametrize(("whole", "last"), [(False, 9), (True, 13)])
def test_a_plateau_ends_the_list_unless_the_whole_of_it_is_wanted(whole: bool, last: int) -> None:
    search = StepsSearch(clients=(2, 6, 8, 9, 10, 11, 12, 13), whole_list=whole)
    trial = run(search, cliff(), QUIET, 0, Rules(confirmation=None, deterioration=3))
    assert trial.capacity.verdict == "PLATEAU"
    assert [asked.clients for asked in trial.asked][-1] == last


def test_ramp_climbs_by_half_then_bisects_the_bracket_to_5_percent() -> None:
    strict = Rules(confirmation=None, deterioration=1.3)
    assert loads(RampSearch(connections_first=10, connections_max=200), "queue", strict) == [
        *[("baseline", 10), ("climb", 15), ("climb", 23)],
        *[("bisect", 19), ("bisect", 17), ("bisect", 18)],
    ]


def test_ramp_stops_climbing_where_throughput_stops_growing() -> None:
    trial = run(RampSearch(connections_first=2, connections_max=500), cliff(), QUIET, 0)
    assert trial.capacity.verdict == "PLATEAU"
    assert max(asked.connections for asked in trial.asked) == 12
    assert trial.capacity.at == 5  # 8 and 12 give the same, later


def test_rate_finds_the_cliff_within_5_percent() -> None:
    search = RateSearch(rate_first_ops_per_second=500, rate_max_ops_per_second=9000)
    trial = run(search, cliff(), QUIET, 0)
    claimed = trial.capacity.max_sustainable_throughput_ops_per_second
    assert claimed is not None
    assert 2850 <= claimed <= 3000
    assert trial.capacity.verdict == "KNEE"
    assert trial.capacity.cause in {"latency:update", "latency:read"}


def test_nothing_is_asked_again_but_for_the_baseline_a_costly_failure_and_the_answer() -> None:
    for strategy in STRATEGIES:
        for target in targets():
            trial = run(search_for(strategy, target), target, QUIET, 0)
            again = Counter(
                (a.connections, a.rate_ops_per_second)
                for a in trial.asked
                if a.purpose in {"climb", "bisect", "descend"}
            )
            assert not again or max(again.values()) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_after_an_overload_the_target_recovers_first(strategy: str) -> None:
    target = collapse()
    trial = run(search_for(strategy, target), target, QUIET, 0)
    limit_us = trial.capacity.steps[0].limit_us["update"]
    overloads = [step.latency_us["update"]["p99"] > limit_us for step in trial.steps]
    assert any(overloads)
    heavier = [step.purpose in {"twice_clients", "open_loop"} for step in trial.steps]
    waits = [over or heavy for over, heavy in zip(overloads, heavier, strict=True)]
    assert [asked.recover_first for asked in trial.all_asked] == [False, *waits[:-1]]


def test_a_failure_of_a_target_that_had_not_recovered_is_asked_again_and_never_believed() -> None:
    search = StepsSearch(clients=(1, 2, 3))
    good = {"update": {"p99": 100.0}}
    first = [
        Step(clients=n, throughput_ops_per_second=1000.0 * n, latency_us=good) for n in (1, 1, 1, 2)
    ]
    dirty = Step(
        clients=3,
        throughput_ops_per_second=900.0,
        latency_us={"update": {"p99": 9000.0}},
        recovered=False,
    )
    asked = plan_next_step(search, [*first, dirty], Rules())
    assert isinstance(asked, NextStep)
    assert (asked.clients, asked.purpose, asked.recover_first) == (3, "again", True)
    ended = plan_next_step(search, [*first, dirty, dirty, dirty], Rules())
    assert isinstance(ended, Done)
    assert "no step at 3 clients counts" in ended.why


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_void_step_is_asked_for_again_after_a_recovery_and_costs_a_probe(strategy: str) -> None:
    search = search_for(strategy, collapse())
    trial = run(search, collapse(), QUIET, 0)
    for count, asked in enumerate(trial.all_asked):
        void = Step(clients=1, void="nothing was answered", source=f"steps/{count + 1}")
        again = plan_next_step(search, [*trial.steps[:count], void], Rules())
        assert again == asked.model_copy(update={"index": count + 1, "recover_first": True})
    last = search.model_copy(update={"probes_max": 3})
    assert isinstance(plan_next_step(last, [*trial.steps[:2], void], Rules()), Done)


def test_a_lightest_load_that_fails_sends_the_search_down() -> None:
    search = RateSearch(rate_first_ops_per_second=12_000, rate_max_ops_per_second=20_000)
    rules = Rules(limits_us={"read": 30_000, "update": 30_000})
    trial = run(search, queue(), QUIET, 0, rules)
    assert [a.purpose for a in trial.asked][:3] == ["baseline", "again", "descend"]
    assert trial.capacity.verdict == "KNEE"


def test_a_lightest_load_that_fails_at_the_bottom_is_below_the_first_step() -> None:
    search = StepsSearch(clients=(8, 16))
    trial = run(search, queue(), QUIET, 0, Rules(limits_us={"read": 1.0}))
    assert trial.capacity.verdict == "BELOW_FIRST_STEP"
    assert trial.capacity.bound == "<"
    assert trial.done == "the lightest load, 8 clients, fails"


def test_clients_that_are_the_limit_get_help_as_long_as_it_is_allowed() -> None:
    target = client_bound()
    search = RateSearch(
        rate_first_ops_per_second=1000, rate_max_ops_per_second=20_000, clients_max=100
    )
    trial = run(search, target, QUIET, 0)
    assert max(a.clients for a in trial.asked) > 5
    assert trial.capacity.verdict == "KNEE"
    few = run(search.model_copy(update={"clients_max": 2}), target, QUIET, 0)
    assert few.capacity.verdict == "CLIENT_BOUND"
    assert few.capacity.max_sustainable_throughput_ops_per_second is None


def test_one_load_is_always_sent_by_the_same_fleet_unless_its_clients_were_the_limit() -> None:
    search = RampSearch(connections_first=2, connections_max=128, connections_per_client=8)
    trial = run(search, queue(), NOISY, 3)
    fleets: dict[int, set[int]] = {}
    for asked in trial.asked:
        fleets.setdefault(asked.connections, set()).add(asked.clients)
    assert all(len(clients) == 1 for clients in fleets.values())


def test_repetitions_follow_the_request() -> None:
    rules = Rules(confirmation=Confirmation(least=3, most=3))
    trial = run(StepsSearch(clients=(1, 16, 64)), queue(), QUIET, 0, rules)
    assert Counter(a.purpose for a in trial.asked)["confirm"] == 2
    assert trial.capacity.repetitions == 3


def test_repetitions_end_when_the_figure_is_precise_or_at_the_most() -> None:
    """Precise: the lower end of the interval is within 3 % of the middle."""
    ends = set()
    for seed in range(12):
        trial = run(search_for("ramp", queue()), queue(), World(noise=0.05), seed)
        if not trial.done.endswith("is confirmed"):
            continue
        capacity = trial.capacity
        at = next(step for step in capacity.steps if step.load == capacity.at)
        assert capacity.interval is not None
        low, high = capacity.interval.low_ops_per_second, capacity.interval.high_ops_per_second
        precise = 1 - math.sqrt(low / high) <= 0.03
        assert precise or at.repetitions == 10
        ends.add(precise)
    assert ends == {True, False}


def test_the_same_steps_always_get_the_same_answer() -> None:
    search = search_for("rate", queue())
    trial = run(search, queue(), NOISY, 1)
    for count in range(len(trial.steps)):
        assert plan_next_step(search, trial.steps[:count], Rules()) == trial.all_asked[count]


def test_probes_are_never_more_than_allowed() -> None:
    search = search_for("ramp", queue()).model_copy(update={"probes_max": 12})
    trial = run(search, queue(), World(noise=0.2), 4)
    assert len(trial.steps) <= 12


# --- how far it can be trusted, with noise ---


@cache
def scored(strategy: str, target_name: str, trials: int) -> Score:
    names = [target.name for target in targets()]
    first = 1_000 * names.index(target_name)  # no window is another target's, too
    return score(strategy, targets()[names.index(target_name)], NOISY, range(first, first + trials))


CASES = [(strategy, target.name) for strategy in STRATEGIES for target in targets()]


@TRIALS
@pytest.mark.parametrize(("strategy", "target_name"), CASES)
def test_at_10_percent_noise_a_search_ends_and_answers(
    strategy: str, target_name: str, trials: int
) -> None:
    found = scored(strategy, target_name, trials)
    assert found.probes_max <= 30
    if target_name == "client-bound":
        assert found.unanswered == 1  # CLIENT_BOUND: no figure for the database, ever
    else:
        assert found.unanswered <= 0.25


@TRIALS
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_at_10_percent_noise_half_of_the_claims_are_within_13_percent(
    strategy: str, trials: int
) -> None:
    scores = [scored(strategy, target.name, trials) for target in targets()]
    shortfalls = [x for found in scores for x in found.shortfalls]
    assert len(shortfalls) > 2 * trials
    # Of 12 seeds with `rate` 12.6 %, and 10.5 % while a load's percentile was the median of its
    # windows': over all of their operations, noise between windows is part of the tail.
    assert median(shortfalls) <= 0.13


def over_claims(trials: int) -> tuple[float, int]:
    """Return how many searches over-claimed, and how many there were."""
    scores = [scored(strategy, target_name, trials) for strategy, target_name in CASES]
    return sum(found.over_claims * found.runs for found in scores), sum(s.runs for s in scores)


@pytest.mark.whole
def test_at_10_percent_noise_hardly_any_search_over_claims() -> None:
    """Among so few, chance moves the share by half a percent; docs/evidence has thousands."""
    over, runs = over_claims(MANY)
    assert over / runs < 0.015


def test_at_10_percent_noise_far_fewer_searches_over_claim_than_with_single_probes() -> None:
    """Of 144 at most 7: were it 1.5 %, chance would bring more 1 time in 600.

    Where it were the fifth of single probes (below), 7 or fewer would come 1 time in 5 million.
    """
    over, runs = over_claims(FEW)
    assert runs == 144
    assert over <= 7


@TRIALS
def test_at_10_percent_noise_the_edge_lies_in_its_range_as_often_as_that_says(trials: int) -> None:
    scores = [scored(strategy, target_name, trials) for strategy, target_name in CASES]
    knees = sum(found.knees for found in scores)
    assert knees > 100 * trials / MANY
    assert sum(found.in_edge for found in scores) / knees >= 0.90
    assert sum(found.in_bracket for found in scores) / knees < 0.70  # what was seen holds it less


def test_single_probe_bisection_would_over_claim_in_a_fifth_of_the_runs() -> None:
    """What peers do, on the same databases: each load once, and the last that passed is claimed."""
    target = queue()
    search = search_for("rate", target)
    true = truth(search, target)
    claims = [run(search, target, NOISY, seed, ONCE).capacity for seed in range(MANY)]
    figures = [c.max_sustainable_throughput_ops_per_second or 0.0 for c in claims]
    assert sum(figure > true * 1.03 for figure in figures) / len(figures) > 0.1
    assert median(figures) > 0


def test_the_load_before_throughput_fell_is_the_one_that_is_confirmed() -> None:
    """Two clients pass, with less than one gave: they are not what is repeated."""
    gives = {1: (495.0, 100.0), 2: (475.0, 200.0), 3: (470.0, 350.0)}
    search, steps = StepsSearch(clients=(1, 2, 3), open_loop_probe=False), list[Step]()
    rules = Rules(audits_off=frozenset({"drift"}))
    while isinstance(asked := plan_next_step(search, steps, rules), NextStep):
        assert asked.clients is not None
        ops, p99_us = gives[asked.clients]
        steps.append(
            Step(
                clients=asked.clients,
                purpose=asked.purpose,
                throughput_ops_per_second=ops,
                latency_us={"update": {"p99": p99_us}},
            )
        )
    found = judge(steps, rules)
    assert (found.verdict, found.at) == ("KNEE", 1)
    assert [one.clients for one in steps if one.purpose == "confirm"] == [1, 1]
