"""One message for each change, not one for every run after it."""

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.checks.judging import find_changes, find_regressions
from plimsoll.model.request.check import Check
from plimsoll.model.run.check_history import Announced, HistoryPoint
from tests.unit.checks.histories import check, day, history

STEADY = [1001, 998, 1003, 997, 1002, 999, 1004, 996, 1000, 1001, 998, 1002]


def messages(watched: Check, points: Sequence[HistoryPoint]) -> list[tuple[int, int]]:
    """Run by run: the change that a message tells of, and the run after which it is sent."""
    announced: list[Announced] = []
    sent = []
    for known in range(1, len(points) + 1):
        so_far = points[:known]
        for one in find_regressions(watched, so_far, announced):
            last = so_far[-1].scheduled_at
            announced.append(Announced(metric=one.change.metric, at=one.change.at, through=last))
            sent.append(((one.change.at - day(0)).days, known - 1))
    return sent


def times(values: Sequence[int], factor: float) -> list[float | None]:
    return [value * factor for value in values]


def test_a_regression_is_told_once_after_its_second_run() -> None:
    points = history([*STEADY, *times(STEADY, 0.85), *times(STEADY, 0.85)])
    assert messages(check(), points) == [(12, 13)]


def test_a_slow_drop_whose_place_moves_with_more_runs_is_told_once() -> None:
    sliding = [960, 925, 904, 898, *times(STEADY, 0.9), *times(STEADY, 0.9)]
    places = {
        one.at
        for known in range(14, 40)
        for one in find_changes(check(), history([*STEADY, *sliding][:known]))
    }
    assert len(places) > 1  # found at different places ...
    assert len(messages(check(), history([*STEADY, *sliding]))) == 1  # ... and announced once


def test_a_recovery_is_no_regression_and_the_next_drop_is_told_again() -> None:
    low = times(STEADY, 0.85)
    points = history([*STEADY, *low, *STEADY, *low])
    assert messages(check(), points) == [(12, 13), (36, 37)]


def test_a_further_drop_is_told_too() -> None:
    points = history([*STEADY, *times(STEADY, 0.85), *times(STEADY, 0.7)])
    assert messages(check(), points) == [(12, 13), (24, 25)]


def test_what_was_told_of_one_metric_hides_nothing_of_another() -> None:
    latency = "latency of read at 500 ops/s"
    watched = check(
        compare=[
            {"kind": "capacity"},
            {"kind": "latency", "operation": "read", "rate_ops_per_second": 500},
        ]
    )
    drop = [*STEADY, *times(STEADY[:4], 0.8)]
    rise = [*STEADY, *times(STEADY[:4], 1.3)]
    points = history({"capacity": drop, latency: rise})
    announced = [Announced(metric="capacity", at=day(12), through=day(15))]
    assert [one.change.metric for one in find_regressions(watched, points, announced)] == [latency]


@pytest.mark.parametrize(("runs_before", "told_already"), [(3, True), (8, True), (9, False)])
def test_a_place_that_moves_past_the_runs_of_its_message_is_told_already(
    runs_before: int, told_already: bool
) -> None:
    points = history([*STEADY, *times(STEADY, 0.85)])
    first = 12 - runs_before
    announced = [Announced(metric="capacity", at=day(first), through=day(first + 1))]
    assert (find_regressions(check(), points, announced) == ()) is told_already


def test_a_further_drop_a_few_runs_later_is_told_for_the_first_has_not_moved() -> None:
    points = history([*STEADY, *times(STEADY[:5], 0.85), *times(STEADY, 0.5)])
    assert messages(check(), points) == [(12, 13), (17, 20)]


def test_what_was_told_before_a_new_history_began_hides_nothing_of_it() -> None:
    old = history([*STEADY, *times(STEADY, 0.85)], comparable="old request")
    points = [*old, *history([*[None] * 24, *STEADY[:6], *times(STEADY, 0.85)])[24:]]
    announced = [Announced(metric="capacity", at=day(22), through=day(23))]
    assert len(find_regressions(check(), points, announced)) == 1


@pytest.mark.parametrize("shift", [-2, -1, 0, 1, 2])
def test_the_same_change_found_a_run_or_two_aside_is_told_already(shift: int) -> None:
    points = history([*STEADY, *times(STEADY, 0.85)])
    announced = [Announced(metric="capacity", at=day(12 + shift), through=day(15))]
    assert find_regressions(check(), points, announced) == ()


def test_later_runs_never_raise_the_alarm_of_a_drop_again() -> None:
    for seed in range(4):
        figures = 1000 * (1 + 0.04 * np.random.default_rng([2, seed]).standard_normal(56))
        figures[30:] *= 0.88
        assert len(messages(check(), history(figures.tolist()))) == 1
