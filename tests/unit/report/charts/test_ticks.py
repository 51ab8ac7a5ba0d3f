"""Axes have round ticks, whole numbers where loads are counted, and few enough names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.report.charts import scale


@pytest.mark.parametrize(
    ("length_s", "expected"),
    [
        (0.5, [0]),
        (9.9, list(range(10))),
        (100, list(range(0, 101, 10))),
        (8100, list(range(0, 8101, 900))),
        (200_000, list(range(0, 200_000, 21_600))),
    ],
)
def test_a_time_axis_is_cut_at_round_times(length_s: float, expected: list[int]) -> None:
    assert scale.choose_time_ticks(length_s) == expected


@given(st.floats(1, 1e7))
def test_no_time_axis_is_crowded(length_s: float) -> None:
    found = scale.choose_time_ticks(length_s)
    assert 1 <= len(found) <= scale.TICKS_MOST + 1
    assert found[-1] <= length_s


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (1, [0, 1]),
        (12, [0, 2, 4, 6, 8, 10, 12]),
        (45, list(range(0, 46, 5))),
        (512, list(range(0, 513, 100))),
    ],
)
def test_clients_are_whole(most: float, expected: list[int]) -> None:
    assert scale.choose_whole_ticks(most) == expected


@pytest.mark.parametrize(
    ("t", "length_s", "expected"),
    [(0, 60, "0:00"), (3725, 7200, "62:05"), (3725, 7201, "1:02:05")],
)
def test_a_long_run_is_told_in_hours(t: float, length_s: float, expected: str) -> None:
    assert scale.format_clock(t, length_s) == expected


def test_of_many_marks_every_nth_is_named_and_those_that_matter() -> None:
    assert scale.choose_labels(0) == set()
    assert scale.choose_labels(20) == set(range(20))
    assert scale.choose_labels(41, [7]) == {*range(0, 41, 3), 7}
