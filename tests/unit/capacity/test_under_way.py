"""Little's law disputes only what no shares could explain, and percentiles are never averaged."""

import pytest

from plimsoll.capacity import judge
from plimsoll.capacity.littles_law import littles_law
from plimsoll.capacity.under_way import under_way
from plimsoll.model.capacity import Rules
from plimsoll.model.steps import Statistic, Step

RULES = Rules(confirmation=None)


def mixed(throughput: float, connections: int, shares: dict[str, float] | None = None) -> Step:
    """Reads of 300 and updates of 4,000 microseconds."""
    return Step(
        connections=connections,
        throughput_ops_per_second=throughput,
        latency_us={"read": {"mean": 300}, "update": {"mean": 4000}},
        shares=shares or {},
    )


@pytest.mark.parametrize(
    ("throughput", "shares", "passed", "detail"),
    [
        (20_000, None, None, "needs the operations' shares: 6.00 to 80.0 operations under way, 10"),
        (20_000, {"read": 0.95, "update": 0.05}, True, "= 9.70 operations under way"),
        (20_000, {"read": 0.5, "update": 0.5}, False, "= 43.0 operations under way"),
        (40_000, None, False, "= at least 12.0 operations under way"),
        (2_000, None, True, "= at most 8.00 operations under way"),
    ],
)
def test_littles_law_without_shares_disputes_only_what_no_shares_explain(
    throughput: float, shares: dict[str, float] | None, passed: bool | None, detail: str
) -> None:
    found = littles_law(mixed(throughput, 10, shares), 1.10)
    assert found.passed is passed
    assert detail in found.detail


@pytest.mark.parametrize(
    ("window_s", "max_us", "passed"),
    [
        (2.0, 300_000, True),  # each of 8 connections: 2 s, and 300 ms that began before
        (2.0, 30_000, False),
        (30.0, 300_000, False),
        (None, 300_000, False),
        (2.0, None, False),
    ],
)
def test_an_operation_that_began_before_the_window_counts_in_it_with_its_whole_latency(
    window_s: float | None, max_us: float | None, passed: bool
) -> None:
    """As seen where eight connections waited for one lock of a table, again and again."""
    latency_us: dict[Statistic, float] = {"mean": 52_300}
    if max_us is not None:
        latency_us["max"] = max_us
    step = Step(
        connections=8,
        throughput_ops_per_second=174,
        window_s=window_s,
        latency_us={"update": latency_us},
    )
    found = littles_law(step, 1.10)
    assert found.passed is passed
    assert "= 9.10 operations under way, 8 connections" in found.detail
    assert ("; up to 15 % more, begun before the window" in found.detail) is passed


def test_a_table_of_95_to_5_without_shares_is_judged() -> None:
    steps = [mixed(20_000, 10), mixed(38_000, 20), mixed(45_000, 40)]
    capacity = judge(steps, RULES.model_copy(update={"statistic": "mean"}))
    assert (capacity.verdict, capacity.at) == ("LOWER_BOUND", 40)


def test_how_many_are_under_way_is_not_known_without_every_mean() -> None:
    step = mixed(1000, 1)
    assert under_way(step.model_copy(update={"throughput_ops_per_second": None})) is None
    latency_us: dict[str, dict[Statistic, float]] = {"read": {"mean": 300}, "update": {"p99": 1}}
    assert under_way(step.model_copy(update={"latency_us": latency_us})) is None


def repeated(connections: int, *p99s: float) -> list[Step]:
    return [
        Step(
            connections=connections,
            throughput_ops_per_second=900 * connections,
            latency_us={"update": {"p99": p99}},
        )
        for p99 in p99s
    ]


def test_two_percentiles_are_never_averaged() -> None:
    capacity = judge([*repeated(1, 1000), *repeated(2, 2600, 26_000)], RULES)
    heavier = capacity.steps[-1]
    assert heavier.latency_us == {"update": 26_000}
    assert (heavier.passed, heavier.repetitions_passed, heavier.repetitions) == (False, 1, 2)


def test_two_baselines_are_never_averaged() -> None:
    capacity = judge([*repeated(1, 2600, 26_000), *repeated(2, 8000)], RULES)
    assert capacity.steps[0].limit_us == {"update": 7800}


def test_the_power_point_has_no_mean_of_percentiles() -> None:
    step = Step(
        connections=1,
        throughput_ops_per_second=900,
        latency_us={
            "read": {"p99": 2600, "mean": 300},
            "update": {"p99": 26_000, "mean": 500},
        },
    )
    assert judge([step], RULES).power_point is None
    known = step.model_copy(update={"shares": {"read": 0.5, "update": 0.5}})
    point = judge([known], RULES).power_point
    assert point is not None
    assert point.latency_us == 400
