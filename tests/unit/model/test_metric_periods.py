"""A window holds whole periods of the metrics: the load waits for that, and never longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.metric_periods import (
    compute_longest_wait_s,
    compute_mean_wait_s,
    list_whole_periods,
    wait_ms,
)

MINUTE = 60_000


@pytest.mark.parametrize(
    ("could_start_s", "warmup_s", "duration_s", "waits_s", "held_s"),
    [
        # could start at, warm-up, window: waits, and holds the minutes from ... on
        (0, 0, 60, 0, [0]),
        (1, 0, 60, 59, [60]),
        (59, 0, 60, 1, [60]),
        (0, 30, 60, 30, [60]),
        (30, 30, 60, 0, [60]),
        (31, 30, 60, 59, [120]),
        (0, 30, 120, 30, [60, 120]),
        (10, 0, 90, 20, [60]),  # 30 s to spare: from :30 on the next minute is whole
        (30, 0, 90, 0, [60]),
        (59, 0, 90, 0, [60]),
        (60, 0, 90, 0, [60]),
        (0, 0, 119, 0, [0]),
        (10, 30, 45, 35, [60]),  # a window under a minute: the load holds one, warm-up included
        (50, 30, 45, 0, [60]),
        (7, 10, 20, 0, []),  # nothing can hold a minute: no wait
    ],
)
def test_a_load_waits_until_its_window_holds_whole_minutes(
    could_start_s: float, warmup_s: float, duration_s: float, waits_s: float, held_s: list[int]
) -> None:
    wait = wait_ms(1000 * int(could_start_s), warmup_s=warmup_s, duration_s=duration_s, period_s=60)
    assert wait == 1000 * waits_s
    start = 1000 * int(could_start_s) + wait
    end = start + round(1000 * (warmup_s + duration_s))
    if duration_s >= 60:
        start += round(1000 * warmup_s)
    assert [ms // 1000 for ms in list_whole_periods(start, end, period_s=60)] == held_s


@given(
    start_ms=st.integers(1_700_000_000_000, 1_900_000_000_000),
    warmup_s=st.integers(0, 600),
    duration_s=st.integers(1, 600),
    period_s=st.sampled_from([1, 6, 60]),
)
def test_it_then_holds_as_many_as_fit_and_waits_no_longer_than_said(
    start_ms: int, warmup_s: int, duration_s: int, period_s: int
) -> None:
    lengths = {"warmup_s": warmup_s, "duration_s": duration_s}
    wait = wait_ms(start_ms, **lengths, period_s=period_s)
    assert 0 <= wait <= 1000 * compute_longest_wait_s(**lengths, period_s=period_s)
    begin = start_ms + wait + (1000 * warmup_s if duration_s >= period_s else 0)
    end = start_ms + wait + 1000 * (warmup_s + duration_s)
    assert len(list_whole_periods(begin, end, period_s=period_s)) >= (end - begin) // (
        1000 * period_s
    )


@pytest.mark.parametrize(
    ("duration_s", "longest_s", "mean_s"), [(60, 60, 30), (90, 30, 7.5), (120, 60, 30), (20, 0, 0)]
)
def test_what_is_to_be_expected(duration_s: float, longest_s: float, mean_s: float) -> None:
    assert compute_longest_wait_s(30, duration_s, 60) == longest_s
    assert compute_mean_wait_s(30, duration_s, 60) == mean_s


@pytest.mark.parametrize(
    ("start_ms", "end_ms", "begins"),
    [
        (0, MINUTE, [0]),
        (600, MINUTE - 600, [0]),  # clients a little late, a clock a little off
        (601, MINUTE, []),
        (0, MINUTE - 601, []),
        (1, 2 * MINUTE, [0, MINUTE]),
    ],
)
def test_a_hundredth_of_a_period_may_lack(start_ms: int, end_ms: int, begins: list[int]) -> None:
    assert list(list_whole_periods(start_ms, end_ms, period_s=60)) == begins
