"""Steps are judged without shares, and percentiles are never averaged."""

from plimsoll.capacity.judge import judge
from plimsoll.capacity.steps.littles_law import compute_concurrent_operations
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Statistic, Step
from tests.unit.capacity.samples import mixed

RULES = Rules(confirmation=None)


def test_a_table_of_95_to_5_without_shares_is_judged() -> None:
    steps = [mixed(20_000, 10), mixed(38_000, 20), mixed(45_000, 40)]
    capacity = judge(steps, RULES.model_copy(update={"statistic": "mean"}))
    assert (capacity.verdict, capacity.at) == ("LOWER_BOUND", 40)


def test_how_many_are_under_way_is_not_known_without_every_mean() -> None:
    step = mixed(1000, 1)
    assert (
        compute_concurrent_operations(step.model_copy(update={"throughput_ops_per_second": None}))
        is None
    )
    latency_us: dict[str, dict[Statistic, float]] = {"read": {"mean": 300}, "update": {"p99": 1}}
    assert compute_concurrent_operations(step.model_copy(update={"latency_us": latency_us})) is None


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
