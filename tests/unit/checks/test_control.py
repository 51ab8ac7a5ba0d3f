"""Whose change it is: the database's or the cloud's."""

import pytest

from plimsoll.checks.judging import find_regressions
from plimsoll.model.run.check_history import Cause
from tests.unit.checks.histories import REQUEST, check, history

BEFORE = [1001, 998, 1003, 997, 1002, 999, 1004, 996]
SAME = [1000, 1002, 997, 1001]
LESS_20 = [801, 799, 798, 802]
LESS_10 = [901, 899, 898, 902]
MORE_20 = [1200, 1202, 1197, 1203]
WILD = [1400, 700, 1200, 650, 1300, 900, 1500, 600, 1100, 600, 1400, 500]
CONTROLLED = check(control=REQUEST["target"])


def found(control: list[int] | None) -> Cause:
    points = history([*BEFORE, *LESS_20], control)
    [regression] = find_regressions(CONTROLLED if control else check(), points, ())
    return regression.cause


@pytest.mark.parametrize(
    ("control", "kind", "words"),
    [
        ([*BEFORE, *SAME], "database", "the database changed, not the cloud"),
        ([*BEFORE, *MORE_20], "database", "(it rose by 20 %): the database changed"),
        ([*BEFORE, *LESS_20], "cloud", "(it fell by 20 %): the cloud changed, not the database"),
        ([*BEFORE, *LESS_10], "partly cloud", "(it fell by 10 %), but not as far: both changed"),
        (WILD, "unknown", "varies too much"),
        (None, "unknown", "names no control"),
    ],
)
def test_the_control_tells_the_cloud_from_the_database(
    control: list[int] | None, kind: str, words: str
) -> None:
    cause = found(control)
    assert cause.kind == kind
    assert words in cause.words


def test_the_controls_own_figures_are_told() -> None:
    cause = found([*BEFORE, *LESS_20])
    assert cause.before is not None
    assert cause.after is not None
    assert (cause.before.runs, cause.after.runs) == (8, 4)
    assert cause.before.mean == pytest.approx(1000)
    assert cause.after.mean == pytest.approx(800)
    assert cause.change_share == pytest.approx(-0.2)


def test_a_control_without_enough_figures_says_nothing() -> None:
    points = history([*BEFORE, *LESS_20], [*BEFORE, None, None, 1000, 1001])
    [regression] = find_regressions(CONTROLLED, points, ())
    assert regression.cause.kind == "unknown"
    assert "8 figures before the change and 2 after" in regression.cause.words
