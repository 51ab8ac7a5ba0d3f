"""Which changes of a history are found, where, and with what figures."""

import pytest

from plimsoll.checks.judging import find_changes
from plimsoll.checks.series import extract_series
from tests.unit.checks.histories import CAPACITY, check, day, history

STEADY = [1001, 998, 1003, 997, 1002, 999, 1004, 996, 1000, 1001, 998, 1002]
LATENCY = "latency of read at 500 ops/s"
COMPARE_LATENCY = [{"kind": "latency", "operation": "read", "rate_ops_per_second": 500}]


def scaled(values: list[int], factor: float) -> list[float | None]:
    return [value * factor for value in values]


def test_a_steady_history_has_no_change() -> None:
    assert find_changes(check(), history([*STEADY, *STEADY[::-1]])) == ()


def test_a_drop_is_found_at_its_first_run_with_both_means_and_their_counts() -> None:
    [change] = find_changes(check(), history([*STEADY, *scaled(STEADY[:4], 0.9)]))
    assert change.at == day(12)
    assert change.run_id == "run-12"
    assert change.regression
    assert (change.before.runs, change.after.runs) == (12, 4)
    assert change.before.mean == pytest.approx(1000.08, abs=0.01)
    assert change.after.mean == pytest.approx(899.78, abs=0.03)
    assert change.change_share == pytest.approx(-0.1, abs=0.001)
    assert change.p_value == pytest.approx(9.66e-5, rel=0.01)  # all 4 below all 12, with ties


@pytest.mark.parametrize(
    ("metric", "compare", "factor", "worse"),
    [
        (CAPACITY, [{"kind": "capacity"}], 0.8, True),
        (CAPACITY, [{"kind": "capacity"}], 1.25, False),
        (LATENCY, COMPARE_LATENCY, 1.25, True),
        (LATENCY, COMPARE_LATENCY, 0.8, False),
    ],
)
def test_less_throughput_and_more_latency_are_worse(
    metric: str, compare: list[object], factor: float, worse: bool
) -> None:
    points = history({metric: [*STEADY, *scaled(STEADY, factor)]})
    [change] = find_changes(check(compare=compare), points)
    assert change.metric == metric
    assert change.regression is worse


def test_a_change_below_the_least_effect_is_not_told_and_is_with_a_smaller_one() -> None:
    points = history([*STEADY, *scaled(STEADY, 0.97)])
    assert find_changes(check(), points) == ()
    [change] = find_changes(check(thresholds={"min_change": 0.02}), points)
    assert change.change_share == pytest.approx(-0.03, abs=0.001)


def test_a_drop_to_95_2_percent_is_less_than_5_percent_though_its_way_back_is_more() -> None:
    assert find_changes(check(), history([*STEADY, *scaled(STEADY, 0.952)])) == ()


def test_one_odd_run_is_no_change() -> None:
    assert find_changes(check(), history([*STEADY, 700])) == ()
    assert find_changes(check(), history([*STEADY, 700, *STEADY])) == ()


def test_a_second_run_makes_it_one_and_the_count_is_the_checks_to_set() -> None:
    points = history([*STEADY, 700, 702])
    assert [change.at for change in find_changes(check(), points)] == [day(12)]
    assert find_changes(check(thresholds={"runs_after_min": 3}), points) == ()


def test_nothing_is_said_of_fewer_than_eight_figures() -> None:
    assert find_changes(check(), history([1000, 1001, 999, 1000, 500, 501, 499])) == ()
    assert len(find_changes(check(), history([1000, 1001, 999, 1000, 500, 501, 499, 500]))) == 1


def test_a_gap_is_left_out_and_is_no_zero() -> None:
    points = history([*STEADY[:6], None, None, None, *STEADY[6:], None])
    assert find_changes(check(), points) == ()
    assert [one.value for one in extract_series(points, CAPACITY)] == STEADY


def test_a_change_across_a_gap_is_at_the_first_run_with_a_figure() -> None:
    points = history([*STEADY, None, None, *scaled(STEADY[:3], 0.8)])
    assert [change.run_id for change in find_changes(check(), points)] == ["run-14"]


def test_every_change_is_found_and_each_is_measured_against_its_neighbors() -> None:
    points = history([*STEADY, *scaled(STEADY, 0.8), *scaled(STEADY, 1.1)])
    first, second = find_changes(check(), points)
    assert (first.at, second.at) == (day(12), day(24))
    assert (first.regression, second.regression) == (True, False)
    assert first.after.mean == second.before.mean
    assert second.change_share == pytest.approx(1.1 / 0.8 - 1, abs=0.001)


def test_a_check_that_asks_for_another_run_begins_a_new_history() -> None:
    before = history(STEADY, comparable="old request")
    after = history([*[None] * 12, *scaled(STEADY, 0.5)])[12:]
    assert find_changes(check(), [*before, *after]) == ()
    assert len(extract_series([*before, *after], CAPACITY)) == 12
