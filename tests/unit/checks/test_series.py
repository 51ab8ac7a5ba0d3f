"""What of a history takes part in the comparison, what a bound counts for, and what is missing."""

import pytest

from plimsoll.checks.judging import find_changes, find_regressions
from plimsoll.checks.series import extract_series, silences
from plimsoll.model.run.check_history import Figure
from tests.unit.checks.histories import (
    CAPACITY,
    FigureGiven,
    at_least,
    below,
    check,
    day,
    history,
)

STEADY: list[FigureGiven] = [1001, 998, 1003, 997, 1002, 999, 1004, 996]
LATENCY = "latency of read at 500 ops/s"
BOTH = [{"kind": CAPACITY}, {"kind": "latency", "operation": "read", "rate_ops_per_second": 500}]


@pytest.mark.parametrize(
    ("bound", "counted"),
    [
        (below(400), (400, "<")),
        (below(1500), None),  # the search began above what the database ever did
        (at_least(1500), (1500, ">=")),
        (at_least(400), None),  # the search ended below it
    ],
)
def test_a_bound_takes_part_where_it_alone_tells_a_change(
    bound: Figure, counted: tuple[float, str] | None
) -> None:
    taken = extract_series(history([*STEADY, bound]), CAPACITY)[len(STEADY) :]
    assert [(one.value, one.bound) for one in taken] == ([counted] if counted else [])


def test_a_bound_is_compared_with_the_latest_figures_before_it() -> None:
    points = history([*STEADY, *[300] * 8, at_least(600), below(500), *STEADY, below(500)])
    taken = [one.value for one in extract_series(points, CAPACITY) if one.bound != "="]
    assert taken == [600, 500]


def test_a_bound_with_no_figure_before_it_says_nothing() -> None:
    assert extract_series(history([below(500), at_least(200)]), CAPACITY) == ()


def test_a_fall_below_the_first_load_is_a_regression_of_at_least_so_much() -> None:
    [regression] = find_regressions(check(), history([*STEADY, below(400), below(400)]), ())
    change = regression.change
    assert change.at == day(8)
    assert (change.before.bound, change.after.bound) == ("=", "<")
    assert change.change_share == pytest.approx(-0.6)
    assert change.at_least


def test_a_rise_beyond_the_last_load_is_an_improvement_of_at_least_so_much() -> None:
    [change] = find_changes(check(), history([*STEADY, at_least(1500), at_least(1500)]))
    assert not change.regression
    assert change.at_least


@pytest.mark.parametrize(
    ("bound", "then", "at_least_so_much"),
    [
        (at_least(1500), 1000, True),
        (below(400), 1000, True),
        (below(400), 200, False),  # it may have been 200 before
    ],
)
def test_a_change_from_a_bound_is_one_of_at_least_so_much_where_the_bound_lies_that_way(
    bound: Figure, then: float, at_least_so_much: bool
) -> None:
    points = history([*STEADY, *[bound] * 8, *[then] * 8])
    assert find_changes(check(), points)[-1].at_least is at_least_so_much


@pytest.mark.parametrize(
    ("figures", "runs"),
    [
        ([*STEADY], None),
        ([*STEADY, None], None),
        ([*STEADY, None, None], 2),
        ([*STEADY, None, None, None], 3),
        ([*STEADY, None, None, 1000], None),
        ([*STEADY, None, 1000, None], None),
        ([*STEADY, below(400), below(400)], None),  # an answer
        ([*STEADY, at_least(400), at_least(400)], 2),  # none: it may be anything
        ([None, None], 2),
    ],
)
def test_two_runs_in_a_row_without_an_answer_are_a_silence(
    figures: list[FigureGiven], runs: int | None
) -> None:
    found = silences(check(), history(figures))
    assert [silence.runs for silence in found] == ([] if runs is None else [runs])
    if runs is not None:
        assert found[0].since == day(len(figures) - runs)


def test_each_metric_has_its_silence_and_says_why() -> None:
    points = history({CAPACITY: [None] * 3, LATENCY: [100, 101, 102]})
    [silence] = silences(check(compare=BOTH), points)
    assert (silence.metric, silence.why) == (CAPACITY, "NOISY: it varied")


def test_runs_of_another_request_are_no_part_of_a_silence() -> None:
    before = history([None, None], comparable="old request")
    now = history([None, None, None])[2:]
    assert silences(check(), [*before, *now]) == ()
