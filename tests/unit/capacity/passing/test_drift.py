"""A target that changes while it is measured: found, and told from noise."""

import pytest

from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.closing import Drift
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import NextStep, StepsSearch
from tests.unit.capacity.simulators import QUIET, World, queue
from tests.unit.capacity.trials import Trial, run, search_for

STRATEGIES = ("steps", "ramp", "rate")
WARMING = World(cold=0.4)


def searched(strategy: str, world: World, rules: Rules | None = None, seed: int = 0) -> Trial:
    return run(search_for(strategy, queue()), queue(), world, seed, rules or Rules())


def drift_of(capacity: Capacity) -> Drift:
    assert capacity.closing is not None
    assert capacity.closing.drift is not None
    return capacity.closing.drift


def change(capacity: Capacity) -> float:
    found = drift_of(capacity).change_share
    assert found is not None
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_lightest_load_runs_twice_more_at_the_end(strategy: str) -> None:
    trial = searched(strategy, QUIET)
    lightest = trial.asked[0]
    sentinels = [asked for asked in trial.closing if asked.purpose == "sentinel"]
    assert len(sentinels) == 2
    for sentinel in sentinels:
        same = ("clients", "connections", "rate_ops_per_second")
        assert [getattr(sentinel, n) for n in same] == [getattr(lightest, n) for n in same]
    assert not drift_of(trial.capacity).found
    assert trial.capacity.verdict != "DRIFTING"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_cache_that_warms_leaves_no_figure(strategy: str) -> None:
    capacity = searched(strategy, WARMING).capacity
    assert (capacity.verdict, capacity.cause) == ("DRIFTING", "drift")
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert change(capacity) > 0.2
    assert "% faster at the end" in capacity.summary


def test_a_slow_drift_widens_the_interval_by_what_it_came_to() -> None:
    drifting = searched("steps", World(drift=-0.003)).capacity
    assert drifting.verdict == "KNEE"
    assert -0.10 < change(drifting) < -0.03
    assert drifting.interval is not None
    low, high = drifting.interval.low_ops_per_second, drifting.interval.high_ops_per_second
    assert high / low > (1 - change(drifting)) ** 2
    assert drifting.max_sustainable_throughput_ops_per_second == low
    assert any("the interval is widened by that" in note for note in drifting.notes)


def test_a_drift_of_next_to_nothing_is_none() -> None:
    capacity = searched("steps", World(drift=-0.0005)).capacity
    assert not drift_of(capacity).found


def test_one_bad_window_among_the_sentinels_is_no_drift() -> None:
    search = search_for("steps", queue())
    clean = run(search, queue(), QUIET, 0)
    first = next(asked.index for asked in clean.closing if asked.purpose == "sentinel")

    def fault(asked: NextStep, step: Step) -> Step:
        assert step.throughput_ops_per_second is not None
        slow = {"throughput_ops_per_second": step.throughput_ops_per_second / 2}
        return step.model_copy(update=slow) if asked.index == first else step

    hit = run(search, queue(), QUIET, 0, fault=fault).capacity
    assert hit.verdict == "KNEE"


def test_nobody_looks_for_drift_where_it_is_off_or_nothing_is_repeated() -> None:
    off = Rules(audits_off=frozenset({"drift"}))
    trial = searched("steps", WARMING, off)
    assert "sentinel" not in {asked.purpose for asked in trial.closing}
    assert trial.capacity.closing is None or trial.capacity.closing.drift is None
    assert not searched("steps", QUIET, Rules(confirmation=None)).closing


def test_where_no_sentinel_counts_the_answer_says_that_the_end_was_not_compared() -> None:
    def void(asked: NextStep, step: Step) -> Step:
        return step.model_copy(update={"void": "late"}) if asked.purpose == "sentinel" else step

    trial = run(search_for("steps", queue()), queue(), QUIET, 0, fault=void)
    assert trial.capacity.verdict == "KNEE"
    assert "no repetition of the lightest load at the end counts" in drift_of(trial.capacity).detail


def test_a_search_that_a_change_made_long_has_two_probes_left_to_see_it() -> None:
    """It took every probe for its loads, and none was left to compare the end with."""
    noisy = World(noise=0.10, drift=-0.01)
    trials = [run(search_for("rate", queue()), queue(), noisy, seed) for seed in range(12)]
    long = [trial for trial in trials if len(trial.asked) >= 28]
    answered = [trial for trial in long if trial.capacity.closing is not None]
    assert answered
    assert all(len(trial.asked) == 28 for trial in answered)
    assert all(drift_of(trial.capacity).sentinels == 2 for trial in answered)
    # Where there is no answer to question, the kept steps look for one.
    without = [trial for trial in long if trial not in answered]
    assert without
    assert all(len(trial.asked) == 30 for trial in without)


def test_without_sentinels_a_trend_is_told_and_changes_nothing() -> None:
    """The answer's load is the lightest: there is no other to compare it with."""
    single = StepsSearch(clients=(8,))
    capacity = run(single, queue(), World(drift=-0.02), 0).capacity
    found = drift_of(capacity)
    assert (found.found, found.sentinels, found.change_share) == (False, 0, None)
    assert found.trend_p is not None
    assert found.trend_p < 0.01
    assert capacity.verdict == "LOWER_BOUND"


def test_with_limits_in_microseconds_the_lightest_load_is_run_twice_at_first() -> None:
    rules = Rules(limits_us={"read": 15_000, "update": 25_000})
    trial = searched("steps", QUIET, rules)
    assert [asked.purpose for asked in trial.asked][:3] == ["baseline", "baseline", "climb"]
    assert searched("steps", WARMING, rules).capacity.verdict == "DRIFTING"


def test_drift_is_seldom_found_in_noise_and_mostly_where_there_is_one() -> None:
    def found(world: World) -> int:
        closings = [searched("steps", world, seed=seed).capacity.closing for seed in range(30)]
        return sum(1 for c in closings if c and c.drift and c.drift.found)

    assert found(World(noise=0.05)) <= 2
    assert found(World(noise=0.05, cold=0.4)) >= 27
