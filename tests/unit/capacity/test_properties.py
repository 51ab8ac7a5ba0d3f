"""Laws that hold for every table of steps."""

from collections.abc import Callable
from importlib import import_module
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, Confirmation, Rules
from plimsoll.model.judging.steps import Step

RULES = Rules(confirmation=None)
CONFIRMED = Rules(confirmation=Confirmation(least=3, most=3))

throughputs = st.floats(1, 1e6)
latencies = st.floats(1, 1e7)


@st.composite
def tables(draw: st.DrawFn, repetitions: int = 3) -> list[Step]:
    """Up to eight loads of one to three repetitions each."""
    loads = draw(st.lists(st.integers(1, 500), min_size=1, max_size=8, unique=True))
    return [
        Step(
            clients=load,
            throughput_ops_per_second=draw(throughputs),
            latency_us={"read": {"p99": draw(latencies)}, "update": {"p99": draw(latencies)}},
            errors=draw(st.sampled_from([0, 0, 0, 50])),
            operations=10_000,
            client_busy=draw(st.sampled_from([None, 0.1, 0.1, 0.9])),
        )
        for load in loads
        for _ in range(draw(st.integers(1, repetitions)))
    ]


@st.composite
def knees(draw: st.DrawFn) -> list[Step]:
    """Loads that pass, each bringing its part; one that fails; anything beyond. Three of each."""
    gains = draw(st.lists(st.floats(0.3, 1.5), min_size=1, max_size=6))
    beyond = draw(st.lists(st.tuples(throughputs, latencies), max_size=3))
    baseline = draw(st.floats(10, 1e5))
    rows: list[tuple[float, float]] = []
    throughput = 0.0
    for gain in gains:
        throughput += gain * 1000 * (1 if rows else 1 / gain)
        rows.append((throughput, baseline * (draw(st.floats(1, 2.9)) if rows else 1)))
    rows.append((throughput * draw(st.floats(0.1, 1.5)), baseline * draw(st.floats(3.1, 50))))
    return [
        Step(clients=load, throughput_ops_per_second=x, latency_us={"update": {"p99": latency}})
        for load, (x, latency) in enumerate([*rows, *beyond], 1)
        for _ in range(3)
    ]


def judge_without_edge(steps: list[Step], rules: Rules) -> Capacity:
    """Judge all but where the edge lies, which takes nine tenths of the time."""
    with patch.object(import_module("plimsoll.capacity.judge"), "estimate_edge", return_value=None):
        return judge(steps, rules)


both_rules = pytest.mark.parametrize("rules", [RULES, CONFIRMED], ids=["table", "search"])


@both_rules
@given(steps=tables(), factor=st.floats(0.01, 100))
def test_scaling_every_throughput_scales_the_answer(
    rules: Rules, steps: list[Step], factor: float
) -> None:
    scaled = [
        step.model_copy(
            update={"throughput_ops_per_second": (step.throughput_ops_per_second or 0) * factor}
        )
        for step in steps
    ]
    before, after = judge(steps, rules), judge(scaled, rules)
    assert (after.verdict, after.bracket, after.cause) == (
        before.verdict,
        before.bracket,
        before.cause,
    )
    figure = before.max_sustainable_throughput_ops_per_second
    if figure is None:
        assert after.max_sustainable_throughput_ops_per_second is None
    else:
        assert after.max_sustainable_throughput_ops_per_second == pytest.approx(figure * factor)


@both_rules
@given(steps=tables(), seed=st.integers(0, 1000))
def test_permuting_the_rows_changes_nothing(rules: Rules, steps: list[Step], seed: int) -> None:
    shuffled = list(steps)
    Random(seed).shuffle(shuffled)
    before, after = judge(steps, rules), judge(shuffled, rules)
    kept = ("verdict", "max_sustainable_throughput_ops_per_second", "at", "bracket", "causes")
    for name in (*kept, "interval", "bound"):
        assert getattr(after, name) == getattr(before, name), name


@both_rules
@given(steps=knees(), beyond=st.integers(1, 100), share=st.floats(0.01, 0.5))
def test_a_worse_step_beyond_the_knee_changes_nothing(
    rules: Rules, steps: list[Step], beyond: int, share: float
) -> None:
    before = judge_without_edge(steps, rules)
    assert before.verdict == "KNEE"
    worst = max(step.clients or 0 for step in steps) + beyond
    low = min(step.throughput_ops_per_second or 0 for step in steps)
    worse = Step(
        clients=worst,
        throughput_ops_per_second=low * share,
        latency_us={name: {"p99": 3e7 * limit} for name, limit in before.steps[0].limit_us.items()},
    )
    after = judge_without_edge([*steps, worse], rules)
    for name in ("verdict", "max_sustainable_throughput_ops_per_second", "at", "bracket", "causes"):
        assert getattr(after, name) == getattr(before, name), name


@both_rules
@given(steps=st.one_of(knees(), tables()))
def test_a_knee_lies_inside_its_bracket(rules: Rules, steps: list[Step]) -> None:
    found = judge_without_edge(steps, rules)
    if found.verdict != "KNEE":
        return
    assert found.at is not None
    assert found.bracket is not None
    low, high = found.bracket
    assert low is not None
    assert high is not None
    assert found.at <= low < high  # of loads that gave as much, the lightest is the answer
    assert found.at == low or rules.confirmation is None
    loads = {step.load: step for step in found.steps}
    assert loads[low].passed
    assert not loads[high].passed


@given(steps=tables())
def test_a_figure_never_comes_without_its_bound_nor_a_bound_without_its_figure(
    steps: list[Step],
) -> None:
    found = judge(steps, RULES)
    figure = found.max_sustainable_throughput_ops_per_second
    assert (figure is None) == (found.bound is None)
    with_figure = {"KNEE": "=", "PLATEAU": "=", "LOWER_BOUND": ">=", "BELOW_FIRST_STEP": "<"}
    assert found.bound == with_figure.get(found.verdict)


@given(steps=tables())
def test_a_capacity_survives_its_own_json(steps: list[Step]) -> None:
    found = judge(steps, RULES)
    again: Callable[[str], object] = type(found).model_validate_json
    assert again(found.model_dump_json()) == found
