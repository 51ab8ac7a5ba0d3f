"""A toggle is asked for once the answer is there, in pairs, and told in a sentence."""

from collections.abc import Callable

import pytest

from plimsoll.capacity.confirm.toggled import judge_toggle
from plimsoll.capacity.search import plan_next_step
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import NextStep, StepsSearch
from plimsoll.model.request.toggle import Toggle, ToggledState, ToggleResult

SEARCH = StepsSearch(clients=(2,), connections_per_client=32, open_loop_probe=False)
ONCE = Rules(confirmation=None, statistic="mean")
TOGGLE = Toggle(
    states=(
        ToggledState(name="on", parameters={"innodb_doublewrite": "ON"}),
        ToggledState(name="off", parameters={"innodb_doublewrite": "OFF"}),
    ),
    pairs=4,
)
SAYS = {"on": {"innodb_doublewrite": "ON"}, "off": {"innodb_doublewrite": "OFF"}}
Target = Callable[[NextStep], float]


def measured(asked: NextStep, throughput: float, void: str | None = None) -> Step:
    return Step(
        index=asked.index + 1,
        purpose=asked.purpose,
        state=asked.state,
        void=void,
        clients=asked.clients,
        connections=asked.connections,
        throughput_ops_per_second=throughput,
        operations=round(10 * throughput),
        errors=0,
        window_s=10,
        latency_us={"write": {"mean": 1e6 * asked.connections / throughput}},
        operation_counts={"write": round(10 * throughput)},
    )


def ran(target: Target, *, search: StepsSearch = SEARCH, rules: Rules = ONCE) -> list[Step]:
    """Let a search and its toggle go on until they are over."""
    steps: list[Step] = []
    while isinstance(asked := plan_next_step(search, steps, rules, TOGGLE), NextStep):
        steps.append(measured(asked, target(asked)))
    return steps


def told(steps: list[Step]) -> ToggleResult:
    return judge_toggle(TOGGLE, steps, ONCE, axis="clients", readings=SAYS, addresses={})


def test_pairs_follow_the_answer_at_its_load_each_state_first_as_often() -> None:
    steps = ran(lambda _: 1_000)
    assert [step.purpose for step in steps] == ["baseline"] + ["toggle"] * 8
    assert [step.state for step in steps[1:]] == [
        *("on", "off", "off", "on"),
        *("off", "on", "on", "off"),  # the seed draws which of two orders comes first
    ]
    assert {(step.clients, step.connections) for step in steps} == {(2, 64)}


def test_a_gain_is_told_with_its_interval_whatever_drifts() -> None:
    def slowing(asked: NextStep) -> float:
        noise = (1.0, 1.01, 0.99)[asked.index % 3]
        return 1_000 * 0.97**asked.index * noise * (1.23 if asked.state == "off" else 1)

    found = told(ran(slowing))
    assert found.throughput.ratio == pytest.approx(1.23, rel=0.02)
    assert found.throughput.differs
    assert found.steps == ((2, 3), (5, 4), (7, 6), (8, 9))
    assert found.detail.startswith("off gives 1.2")
    assert "times the throughput of on at 2 clients (95 % interval 1." in found.detail
    assert found.latency["write"].ratio == pytest.approx(1 / 1.23, rel=0.02)
    assert [state.server_says for state in found.states] == [SAYS["on"], SAYS["off"]]


def test_nothing_to_be_seen_has_a_bound() -> None:
    found = told(ran(lambda asked: (1_000, 1_010, 995, 1_005)[asked.index % 4]))
    assert found.throughput.differs is False
    assert found.detail.startswith(
        "no difference between on and off can be shown at 2 clients: throughput differs by"
    )
    assert " at most (ratio 1.0" in found.detail


def test_an_interval_that_is_wide_decides_nothing() -> None:
    found = told(ran(lambda asked: (1_000, 1_300, 800, 1_100)[asked.index * 7 % 4]))
    assert found.throughput.differs is False
    assert "whether on and off differ at 2 clients is not decided: the ratio of throughputs is" in (
        found.detail
    )


def test_a_void_step_is_asked_for_again_in_its_state() -> None:
    steps = ran(lambda _: 1_000)[:3]
    steps[2] = steps[2].model_copy(update={"void": "its clients were late"})
    asked = plan_next_step(SEARCH, steps, ONCE, TOGGLE)
    assert isinstance(asked, NextStep)
    assert (asked.state, asked.index) == ("off", 3)
    found = told([*steps, measured(asked, 1_100)])
    assert found.steps == ((2, 4),)
    assert found.left_out == 1
    assert "too few for an interval" in found.detail
    assert "only 1 of 4 pairs could be measured" in found.detail


def test_it_gives_up_where_nothing_counts() -> None:
    steps: list[Step] = []
    while isinstance(asked := plan_next_step(SEARCH, steps, ONCE, TOGGLE), NextStep):
        void = "late" if asked.purpose == "toggle" else None
        steps.append(measured(asked, 1_000, void))
    assert len(steps) == 1 + 4
    assert told(steps).detail.startswith("on and off were not compared: no pair of steps counts")


def test_its_steps_are_kept_from_the_search_and_from_other_closing_steps() -> None:
    tight = SEARCH.model_copy(update={"probes_max": 14, "open_loop_probe": True})
    steps = ran(lambda _: 1_000, search=tight, rules=Rules(statistic="mean"))
    assert len(steps) <= 14
    assert [step.purpose for step in steps].count("toggle") == 8


def test_of_a_ramp_it_is_the_answers_load() -> None:
    listed = SEARCH.model_copy(update={"clients": (1, 2, 3, 4)})

    def knee(asked: NextStep) -> float:
        return 1_000 * asked.clients if asked.clients <= 3 else 300

    steps = ran(knee, search=listed)
    assert {step.clients for step in steps if step.purpose == "toggle"} == {3}


def test_a_state_in_which_nothing_succeeds_has_no_ratio() -> None:
    steps = ran(lambda _: 1_000)
    steps = [
        step.model_copy(update={"throughput_ops_per_second": 0.0, "operations": 0, "errors": 50})
        if step.state == "off"
        else step
        for step in steps
    ]
    found = told(steps)
    assert found.throughput.ratio is None
    assert "nothing succeeded in one of the steps" in found.detail
    assert "100 % of operations failed in off" in found.detail


def test_busy_clients_are_told() -> None:
    busy = [step.model_copy(update={"client_busy": 0.95}) for step in ran(lambda _: 1_000)]
    assert "the clients were the limit in 8 of 8 steps" in told(busy).detail


def test_a_step_that_is_disputed_afterwards_costs_its_pair_alone() -> None:
    """The steps after it are no pairs with the ones before: each is with its own neighbor."""
    steps = ran(lambda asked: 1_200 if asked.state == "off" else 1_000)
    steps[2] = steps[2].model_copy(update={"host_others_percent": 90.0})
    found = told(steps)
    assert found.steps == ((2, 4), (5, 6), (8, 9))
    assert found.left_out == 2
    assert found.throughput.ratio == pytest.approx(1.2)
