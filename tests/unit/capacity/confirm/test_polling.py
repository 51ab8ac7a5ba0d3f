"""The closing step by clients that poll: is it their way of waiting that the answer speaks of?"""

import pytest

from plimsoll.capacity.confirm.probes import THROUGHPUT_LEAST
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.closing import Waiting
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import (
    NextStep,
    RampSearch,
    RateSearch,
    Search,
    StepsSearch,
)
from tests.unit.capacity.simulators import QUIET, Target, World, cliff, queue
from tests.unit.capacity.trials import Fault, Trial, run

RAMP = RampSearch(
    connections_first=2, connections_max=128, connections_per_client=128, clients_max=8
)
RATE = RateSearch(
    rate_first_ops_per_second=400, rate_max_ops_per_second=32_000, connections_per_client=64
)
STEPS = StepsSearch(clients=(1, 2, 4, 8, 16), connections_per_client=4)
# a probe that is told to be faster has no latencies to go with it
RULES = Rules(audits_off=frozenset({"littles_law"}))


def one_machine(gain: float = 1.0, *, lucky_only: bool = False, poll_us: int = 0) -> Fault:
    """Steps of one machine, where clients that poll get so many times what sleeping ones do."""
    seen: list[int] = []

    def fault(wish: NextStep, step: Step) -> Step:
        polls = wish.poll_us if wish.poll_us is not None else poll_us
        update: dict[str, object] = {"host_idle_percent": 34.0, "poll_us": polls}
        if wish.poll_us and not (lucky_only and seen):
            seen.append(wish.index)
            assert step.throughput_ops_per_second is not None
            faster = step.throughput_ops_per_second * gain
            update |= {"throughput_ops_per_second": faster, "shares": {}}
        return step.model_copy(update=update)

    return fault


def asked(trial: Trial) -> list[NextStep]:
    return [step for step in trial.closing if step.purpose == "polling"]


def waiting_of(trial: Trial) -> Waiting | None:
    assert trial.capacity.closing is not None
    return trial.capacity.closing.waiting


@pytest.mark.parametrize("search", [RAMP, STEPS], ids=lambda search: search.strategy)
def test_clients_whose_waiting_limits_them_are_told_from_a_database(search: Search) -> None:
    trial = run(search, queue(), QUIET, 0, RULES, fault=one_machine(1.3))
    assert (trial.capacity.verdict, trial.capacity.causes) == ("CLIENT_BOUND", ("client",))
    assert trial.capacity.max_sustainable_throughput_ops_per_second is None
    assert "let them busy-poll: busy-polling clients reached" in trial.capacity.summary
    assert f"their sleep was the limit (load.poll_us = {POLL_US})" in trial.capacity.summary
    assert len(asked(trial)) == 2, "it has to be seen twice"


@pytest.mark.parametrize("search", [RAMP, STEPS], ids=lambda search: search.strategy)
def test_a_database_that_is_the_limit_is_asked_once_with_the_answers_load(search: Search) -> None:
    trial = run(search, queue(), QUIET, 0, RULES, fault=one_machine(1.05))
    (probe,) = asked(trial)
    confirmed = [step for step in trial.asked if step.purpose == "confirm"][-1]
    assert (probe.clients, probe.connections) == (confirmed.clients, confirmed.connections)
    assert (probe.poll_us, probe.rate_ops_per_second) == (POLL_US, None)
    found = waiting_of(trial)
    assert found is not None
    assert found.raised is False
    assert found.detail.startswith("busy-polling clients reached ")
    assert trial.capacity.verdict in {"KNEE", "PLATEAU"}


def test_one_lucky_step_takes_no_answer_back() -> None:
    trial = run(RAMP, queue(), QUIET, 0, RULES, fault=one_machine(1.5, lucky_only=True))
    assert len(asked(trial)) == 2
    assert trial.capacity.verdict != "CLIENT_BOUND"


def test_in_noise_a_database_is_not_taken_for_its_clients() -> None:
    trials = [run(RAMP, queue(), World(noise=0.10), seed, fault=one_machine()) for seed in range(8)]
    assert "CLIENT_BOUND" not in [trial.capacity.verdict for trial in trials]


@pytest.mark.parametrize(
    ("search", "target", "fault"),
    [
        pytest.param(RAMP, queue(), None, id="clients on machines of their own"),
        pytest.param(RAMP, queue(), one_machine(poll_us=POLL_US), id="clients that poll already"),
        pytest.param(RAMP, cliff(), one_machine(), id="too slow for wake-ups to matter"),
        pytest.param(RATE, queue(), one_machine(), id="an open loop"),
    ],
)
def test_it_is_not_asked_where_it_could_show_nothing(
    search: Search, target: Target, fault: Fault | None
) -> None:
    trial = run(search, target, QUIET, 0, RULES, fault=fault)
    assert not asked(trial)
    assert waiting_of(trial) is None


def test_the_slow_database_of_these_tests_is_below_the_bound() -> None:
    assert cliff().ceiling_ops_per_second < THROUGHPUT_LEAST < queue().ceiling_ops_per_second
