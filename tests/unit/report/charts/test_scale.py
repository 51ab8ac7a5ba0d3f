"""Where values lie on an axis, and where its ticks stand."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.report.charts import scale
from plimsoll.report.charts.scale import Scale


@pytest.mark.parametrize(
    ("axis", "value", "expected"),
    [
        (Scale(0, 200), 50, 0.25),
        (Scale(200, 0), 50, 0.75),
        (Scale(1, 10_000, log=True), 100, 0.5),
        (Scale(0, 200), 500, 1),
        (Scale(0, 200), -1, 0),
        (Scale(1, 10_000, log=True), 0, 0),
    ],
)
def test_a_value_has_its_place_and_never_one_beyond_the_ends(
    axis: Scale, value: float, expected: float
) -> None:
    assert axis.at(value) == pytest.approx(expected)


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=5), st.integers(2, 10))
def test_all_that_was_measured_fits_and_ticks_are_few(values: list[float], count: int) -> None:
    axis = scale.make_linear_scale(values, "ops/s", count=count)
    assert all(0 <= value < axis.high for value in values)
    assert 2 <= len(axis.ticks) <= count + 1
    assert all(0 <= value <= axis.high for value, _ in axis.ticks)


@example([125_000_001, 256_000_000])  # one tick at 1, 2 or 5 times a power of ten
@given(st.lists(st.floats(1, 3e8), min_size=1, max_size=5))
def test_an_axis_of_latency_holds_all_and_is_not_crowded(values_us: list[float]) -> None:
    axis = scale.make_latency_scale(values_us, "latency")
    assert axis.low < min(values_us) <= max(values_us) < axis.high
    assert 2 <= len(axis.ticks) <= 10


def test_ticks_are_in_the_unit_that_suits() -> None:
    assert [text for _, text in scale.make_latency_scale([400, 4000], "").ticks] == [
        *("500 µs", "1 ms", "2 ms", "5 ms"),
    ]
    assert [text for _, text in scale.make_linear_scale([5600], "", count=4).ticks] == [
        "0",
        "2,000",
        "4,000",
        "6,000",
    ]
    assert [text for _, text in scale.make_time_scale(200, "").ticks][:3] == [
        "0:00",
        "0:30",
        "1:00",
    ]
    assert [text for _, text in scale.make_time_scale(4 * 3600, "").ticks][:3] == [
        "0:00",
        "0:30",
        "1:00",
    ]


def test_nothing_measured_is_an_axis_all_the_same() -> None:
    assert scale.make_linear_scale([], "").high > 0
    assert scale.make_latency_scale([None], "").low < scale.make_latency_scale([None], "").high
