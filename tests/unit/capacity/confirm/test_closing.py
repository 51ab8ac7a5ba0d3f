"""The closing steps: twice the clients, and callers who do not wait."""

from itertools import pairwise
from random import Random

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.closing import Closing
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import (
    NextStep,
    RampSearch,
    RateSearch,
    Search,
    StepsSearch,
)
from tests.unit.capacity.simulators import QUIET, World, answer, network_bound, queue
from tests.unit.capacity.trials import Trial, run, search_for, truth

RAMP = RampSearch(
    connections_first=2, connections_max=128, connections_per_client=128, clients_max=8
)
RATE = RateSearch(
    rate_first_ops_per_second=400, rate_max_ops_per_second=32_000, connections_per_client=64
)
STEPS = StepsSearch(clients=(1, 2, 4, 8, 16), connections_per_client=4)


def closing_of(capacity: Capacity) -> Closing:
    assert capacity.closing is not None
    return capacity.closing


def asked(trial: Trial, purpose: str) -> list[NextStep]:
    return [step for step in trial.closing if step.purpose == purpose]


# --- twice the clients ---


@pytest.mark.parametrize("search", [RAMP, RATE], ids=lambda search: search.strategy)
def test_a_network_that_limits_the_clients_is_told_by_more_of_them(search: Search) -> None:
    few = search.model_copy(update={"clients_max": 2})
    capacity = run(few, network_bound(), QUIET, 0).capacity
    assert (capacity.verdict, capacity.causes) == ("CLIENT_BOUND", ("client",))
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert "2 clients" in capacity.summary


@pytest.mark.parametrize("search", [RAMP, RATE], ids=lambda search: search.strategy)
def test_a_search_goes_on_with_more_clients_where_the_request_allows_them(search: Search) -> None:
    """With 100 clients allowed it ended CLIENT_BOUND at 1, after 14 to 20 steps."""
    many = search.model_copy(update={"clients_max": 100, "probes_max": 45})
    trial = run(many, network_bound(), QUIET, 0)
    figure = trial.capacity.max_sustainable_throughput_ops_per_second
    assert figure is not None, trial.capacity.summary
    assert 0.9 * truth(many, queue()) <= figure <= 1.03 * truth(many, queue())
    resumed = next(wish for wish in trial.asked if wish.purpose == "more_clients")
    for wish in trial.asked:
        if wish.index > resumed.index and _load(wish) >= _load(resumed):
            assert wish.clients >= resumed.clients > 1
    assert all(step.clients != 1 for step in judged_steps(trial, from_load=_load(resumed)))
    assert any("left out: more were found to be needed" in note for note in trial.capacity.notes)
    after = [wish.purpose for wish in trial.closing if wish.index > resumed.index]
    assert after.count("sentinel") == 2, "the later answer is questioned anew"
    lightest = {step.clients for step in trial.steps if step.purpose in {"baseline", "sentinel"}}
    assert lightest == {1}, "the lightest load is compared with itself"
    more = closing_of(trial.capacity).more_clients
    assert more is not None
    assert more.raised is False


@pytest.mark.parametrize("search", [RAMP, RATE], ids=lambda search: search.strategy)
def test_the_most_that_all_allowed_clients_send_is_no_figure_of_the_database(
    search: Search,
) -> None:
    """Three of them send 4,500 ops/s; the database does 8,000."""
    three = search.model_copy(update={"clients_max": 3, "probes_max": 45})
    capacity = run(three, network_bound(), QUIET, 0).capacity
    assert capacity.verdict == "CLIENT_BOUND"
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert "3 clients reached 4," in capacity.summary
    assert "one sends 1,500 ops/s at most" in capacity.summary


def test_what_one_client_sends_is_no_figure_where_steps_run_out() -> None:
    """A load below the probed one had passed, and was confirmed, at the clients' limit."""
    wide = RAMP.model_copy(update={"clients_max": 100})
    for seed in range(97_000_700, 97_000_708):
        capacity = run(wide, network_bound(), World(noise=0.05), seed).capacity
        figure = capacity.max_sustainable_throughput_ops_per_second
        assert figure is None or figure > 0.8 * truth(wide, queue()), capacity.summary


def test_a_search_with_few_steps_left_does_not_begin_anew() -> None:
    trial = run(RAMP.model_copy(update={"probes_max": 20}), network_bound(), QUIET, 0)
    assert trial.capacity.verdict == "CLIENT_BOUND"
    assert trial.all_asked[-1].purpose == "twice_clients"


def test_a_search_whose_lightest_load_was_the_clients_limit_does_not_go_on() -> None:
    """Its latency, the base of the limits, was the clients' too: a larger fleet has no base."""
    heavy = RAMP.model_copy(update={"connections_first": 32, "clients_max": 100, "probes_max": 45})
    trial = run(heavy, network_bound(), QUIET, 0)
    assert trial.capacity.verdict == "CLIENT_BOUND"
    assert all(wish.purpose != "more_clients" for wish in trial.asked)


def judged_steps(trial: Trial, *, from_load: float) -> list[Step]:
    loads = [judged for judged in trial.capacity.steps if judged.load >= from_load]
    return [step for judged in loads for step in judged.steps]


def _load(wish: NextStep) -> float:
    return wish.rate_ops_per_second or float(wish.connections)


@pytest.mark.parametrize("search", [RAMP, RATE, STEPS], ids=lambda search: search.strategy)
def test_a_database_that_is_the_limit_is_asked_once(search: Search) -> None:
    trial = run(search, queue(), QUIET, 0)
    assert trial.capacity.verdict in {"KNEE", "PLATEAU"}
    assert len(asked(trial, "twice_clients")) == 1
    more = closing_of(trial.capacity).more_clients
    assert more is not None
    assert more.raised is False


def test_a_closed_loop_keeps_its_connections_and_an_open_one_goes_beyond_the_rate_that_failed() -> (
    None
):
    ramp = run(RAMP, queue(), QUIET, 0)
    (probe,) = asked(ramp, "twice_clients")
    plateau = [judged.load for judged in ramp.capacity.steps if judged.passed]
    assert (probe.clients, probe.connections) == (2, max(plateau))
    rate = run(RATE, queue(), QUIET, 0)
    (probe,) = asked(rate, "twice_clients")
    assert rate.capacity.bracket is not None
    failed = rate.capacity.bracket[1]
    assert failed is not None
    assert probe.rate_ops_per_second == pytest.approx(1.15 * failed, rel=0.001)


def test_clients_of_one_connection_cannot_be_made_two() -> None:
    trial = run(StepsSearch(clients=(1, 4, 8, 16, 32, 64)), queue(), QUIET, 0)
    assert not asked(trial, "twice_clients")
    more = closing_of(trial.capacity).more_clients
    assert more is not None
    assert more.raised is None
    assert "each has only one connection" in more.detail


def test_twice_the_clients_are_never_offered_more_than_the_search_may_offer() -> None:
    failed = run(RATE, queue(), QUIET, 0).capacity.bracket
    assert failed is not None
    assert failed[1] is not None
    for most, tried in ((1.1 * failed[1], 0), (1.2 * failed[1], 1)):
        search = RATE.model_copy(update={"rate_max_ops_per_second": most})
        trial = run(search, queue(), QUIET, 0)
        assert len(asked(trial, "twice_clients")) == tried
        assert all((wish.rate_ops_per_second or 0.0) <= most for wish in trial.all_asked)
        more = closing_of(trial.capacity).more_clients
        assert more is not None
        assert (more.raised is None) == (not tried)


@pytest.mark.parametrize("search", [RAMP, RATE], ids=lambda search: search.strategy)
def test_a_probe_of_another_load_says_nothing_of_the_answers_clients(search: Search) -> None:
    def elsewhere(wish: NextStep, step: Step) -> Step:
        """What a search held that found another answer, before its credits ran out."""
        if wish.purpose != "twice_clients":
            return step
        if wish.rate_ops_per_second is not None:
            return step.model_copy(update={"rate_ops_per_second": 0.7 * wish.rate_ops_per_second})
        return step.model_copy(update={"connections": wish.connections + 1})

    more = closing_of(run(search, queue(), QUIET, 0, fault=elsewhere).capacity).more_clients
    assert more is not None
    assert more.raised is None
    assert more.detail == "more clients were tried, and none of these steps counts"


@pytest.mark.parametrize(("purpose", "told"), [
    ("sentinel", "no repetition of the lightest load at the end counts"),
    ("twice_clients", "more clients were tried, and none of these steps counts"),
])  # fmt: skip
def test_closing_steps_that_do_not_count_are_not_called_missing(purpose: str, told: str) -> None:
    """An evening's busy machine had 4 of them in the table, and "was not repeated" below it."""

    def disturb(wish: NextStep, step: Step) -> Step:
        busy = {"host_others_percent": 75.0, "host_idle_percent": 1.0}
        return step.model_copy(update=busy) if wish.purpose == purpose else step

    closing = closing_of(run(RAMP, queue(), QUIET, 0, fault=disturb).capacity)
    details = [found.detail for found in (closing.drift, closing.more_clients) if found]
    assert any(detail.startswith(told) for detail in details), details


def test_one_lucky_probe_with_more_clients_takes_no_answer_back() -> None:
    lucky: list[int] = []

    def fault(wish: NextStep, step: Step) -> Step:
        if wish.purpose != "twice_clients" or lucky:
            return step
        lucky.append(wish.index)
        assert step.throughput_ops_per_second is not None
        return step.model_copy(
            update={"throughput_ops_per_second": step.throughput_ops_per_second * 1.5, "shares": {}}
        )

    rules = Rules(audits_off=frozenset({"littles_law"}))
    trial = run(RAMP, queue(), QUIET, 0, rules, fault=fault)
    assert lucky
    assert len(asked(trial, "twice_clients")) == 2
    assert trial.capacity.verdict != "CLIENT_BOUND"


def test_in_noise_a_database_is_not_taken_for_its_clients() -> None:
    verdicts = [run(RAMP, queue(), World(noise=0.10), seed).capacity.verdict for seed in range(30)]
    assert "CLIENT_BOUND" not in verdicts


# --- callers who do not wait ---


@pytest.mark.parametrize("search", [RAMP, STEPS], ids=lambda search: search.strategy)
def test_a_closed_loop_ends_with_callers_who_do_not_wait(search: Search) -> None:
    trial = run(search, queue(), QUIET, 0)
    (probe,) = asked(trial, "open_loop")
    figure = trial.capacity.max_sustainable_throughput_ops_per_second
    assert figure is not None
    assert probe.rate_ops_per_second == pytest.approx(0.95 * figure, rel=0.001)
    assert probe.connections <= max(wish.connections for wish in trial.asked)
    found = closing_of(trial.capacity).open_loop
    assert found is not None
    assert found.kept_up
    assert found.detail.startswith(
        "at 95 % of this rate, callers that do not wait for replies would see p99"
    )
    assert trial.capacity.question is not None
    assert trial.capacity.question.startswith("closed loop: ")


def test_an_open_loop_has_no_need_of_it_and_who_does_not_want_it_has_none() -> None:
    rate = run(RATE, queue(), QUIET, 0)
    assert not asked(rate, "open_loop")
    assert rate.capacity.question is not None
    assert rate.capacity.question.startswith("open loop: ")
    unwanted = RAMP.model_copy(update={"open_loop_probe": False})
    assert not asked(run(unwanted, queue(), QUIET, 0), "open_loop")


def test_a_probe_that_does_not_keep_up_says_so_and_changes_no_verdict() -> None:
    def fault(wish: NextStep, step: Step) -> Step:
        return (
            step
            if wish.purpose != "open_loop"
            else step.model_copy(
                update={"throughput_ops_per_second": 0.8 * (wish.rate_ops_per_second or 0.0)}
            )
        )

    usual = run(RAMP, queue(), QUIET, 0).capacity
    slow = run(RAMP, queue(), QUIET, 0, fault=fault).capacity
    found = closing_of(slow).open_loop
    assert found is not None
    assert not found.kept_up
    assert "were completed" in found.detail
    assert slow.verdict == usual.verdict
    assert (
        slow.max_sustainable_throughput_ops_per_second
        == usual.max_sustainable_throughput_ops_per_second
    )


# --- all of them ---


@pytest.mark.parametrize("strategy", ["steps", "ramp", "rate"])
def test_closing_steps_never_pass_probes_max_and_move_no_load(strategy: str) -> None:
    whole = run(search_for(strategy, queue()), queue(), QUIET, 0)
    assert whole.closing
    own = judge(whole.steps[: len(whole.asked)], Rules(), find_axis(search_for(strategy, queue())))
    assert own.steps == whole.capacity.steps
    for spare in range(len(whole.closing) + 1):
        most = len(whole.asked) + spare
        search = search_for(strategy, queue()).model_copy(update={"probes_max": most})
        assert len(run(search, queue(), QUIET, 0).steps) <= most


def test_a_table_of_steps_has_no_closing() -> None:
    wish = NextStep(index=0, clients=2, connections=2, purpose="climb", why="")
    steps = [
        answer(queue(), wish.model_copy(update={"clients": n, "connections": n}), QUIET, Random(0))
        for n in (1, 2, 4, 64)
    ]
    table = [step.model_copy(update={"purpose": None}) for step in steps]
    assert judge(table, Rules(confirmation=None)).closing is None


@pytest.mark.parametrize("search", [RAMP, RATE], ids=lambda search: search.strategy)
def test_what_follows_a_heavier_closing_step_waits_until_the_target_has_recovered(
    search: Search,
) -> None:
    trial = run(search, queue(), QUIET, 0, Rules(soak_s=1200))
    after = {
        wish.purpose: wish.recover_first
        for before, wish in pairwise(trial.closing)
        if before.purpose == "twice_clients"
    }
    assert after == {"soak": True}
    windows = [wish.recover_first for wish in asked(trial, "soak")]
    assert windows == [True, False]  # the second begins where the first has ended


def test_a_window_of_a_soak_that_failed_before_a_recovery_is_not_believed() -> None:
    def fault(wish: NextStep, step: Step) -> Step:
        if not (wish.purpose == "soak" and wish.recover_first):
            return step
        latency_us = {name: {"p99": 1e6, "mean": 1e6} for name in step.latency_us}
        return step.model_copy(
            update={"recovered": False, "latency_us": latency_us, "throughput_ops_per_second": 10.0}
        )

    trial = run(RATE, queue(), QUIET, 0, Rules(soak_s=1200), fault=fault)
    assert len(asked(trial, "soak")) == 3
    assert trial.capacity.verdict == "KNEE"
