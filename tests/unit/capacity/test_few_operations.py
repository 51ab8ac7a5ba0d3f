"""Targets so slow that a window holds too few operations for its percentile."""

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import plan_next_step
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import NextStep, StepsSearch

RULES = Rules(limits_us={"read": 1_000_000})
SEARCH = StepsSearch(clients=(1, 2), open_loop_probe=False)
WINDOW_S = 60.0


def window(asked: NextStep, ops_per_second: float, p99_us: float = 300_000) -> Step:
    throughput = ops_per_second * asked.clients
    count = round(throughput * WINDOW_S * asked.window_factor)
    return Step(
        index=asked.index,
        purpose=asked.purpose,
        clients=asked.clients,
        connections=asked.connections,
        throughput_ops_per_second=throughput,
        window_s=WINDOW_S * asked.window_factor,
        window_factor=asked.window_factor,
        operation_counts={"read": count},
        latency_us={"read": {"p50": p99_us / 3, "p99": p99_us}},
    )


def searched(ops_per_second: float) -> tuple[Capacity, list[NextStep]]:
    steps: list[Step] = []
    asked: list[NextStep] = []
    while isinstance(wish := plan_next_step(SEARCH, steps, RULES), NextStep):
        asked.append(wish)
        steps.append(window(wish, ops_per_second))
    return judge(steps, RULES), asked


def test_three_operations_a_second_get_windows_that_are_long_enough_and_an_answer() -> None:
    """It was INCONSISTENT after five probes: the figures cannot all be true."""
    capacity, asked = searched(1.5)
    assert [wish.window_factor for wish in asked[:3]] == [1, 4, 4]
    assert "too few operations for p99; repeated with 4 times" in asked[1].why
    assert (capacity.verdict, capacity.at) == ("LOWER_BOUND", 2)
    (lightest, _) = capacity.steps
    assert lightest.repetitions > lightest.repetitions_passed == len(lightest.steps) - 1


def test_windows_that_cannot_be_long_enough_are_too_noisy_and_not_inconsistent() -> None:
    capacity, asked = searched(0.1)
    assert asked[1].window_factor == 16
    assert (capacity.verdict, capacity.cause) == ("NOISY", "audit:enough_operations")
    assert capacity.summary.endswith("needs at least 299 operations: give the load longer windows")


def test_a_window_of_few_operations_fails_only_if_chance_does_not_explain_it() -> None:
    first = plan_next_step(SEARCH, [], RULES)
    assert isinstance(first, NextStep)
    once = RULES.model_copy(update={"confirmation": None})
    slow = judge([window(first, 1.5, p99_us=1_200_000)], once)
    assert (slow.verdict, slow.cause) == ("NOISY", "audit:enough_operations")
    far_slower = judge([window(first, 1.5, p99_us=4_000_000)], once)
    assert (far_slower.verdict, far_slower.cause) == ("BELOW_FIRST_STEP", "latency:read")
