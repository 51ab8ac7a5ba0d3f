"""Write debt: whether a window measured what lasts, or what the log lends while it fills."""

import pytest

from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import plan_next_step
from plimsoll.capacity.steps.debt import (
    FILL_LEAST_S,
    TimedDebt,
    compute_growth,
    count_waves,
    count_windows_for_wave,
    describe_debt,
    describe_outgrown,
    describe_purge,
    is_filled,
    is_lent,
    is_only_filling,
    is_repaying,
    measure_growth,
    plan_fill_s,
)
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.debt import DebtGrowth, WriteDebt
from plimsoll.model.judging.steps import Purpose, Step
from plimsoll.model.request.search_request import NextStep, StepsSearch

LIMIT = 100_000
ONCE = Rules(limits_us={"update": 10_000}, confirmation=None)


def reading(
    at_s: float, owed: int, *, written: int | None = None, paying: bool | None = None
) -> TimedDebt:
    """A reading of a server that writes 1,000 bytes a second."""
    position = round(1_000 * at_s) if written is None else written
    debt = WriteDebt(owed_bytes=owed, limit_bytes=LIMIT, written_bytes=position, paying=paying)
    return TimedDebt(at_s, debt)


def grown(start: int, end: int, *, waves: int = 0, judged: bool = True) -> DebtGrowth:
    """A window of a minute in which 60,000 bytes were written."""
    return DebtGrowth(
        limit_bytes=LIMIT, start_bytes=start, end_bytes=end, peak_bytes=max(start, end),
        written_bytes=60_000, lent_bytes=end - start, interval_s=60, waves=waves, judged=judged,
    )  # fmt: skip


def step(
    connections: int, debt: DebtGrowth | None, *, us: float = 5_000, purpose: Purpose = "climb"
) -> Step:
    return Step(
        clients=1, connections=connections, purpose=purpose, window_s=60, debt=debt,
        throughput_ops_per_second=100.0 * connections, operations=6_000 * connections, errors=0,
        latency_us={"update": {"p99": us}},
    )  # fmt: skip


def test_growth_is_the_share_of_what_was_written_that_is_owed_at_the_end() -> None:
    found = measure_growth(
        [reading(0, 40_000), reading(30, 41_000), reading(60, 43_000)], judged=True
    )
    assert found is not None
    assert (found.start_bytes, found.end_bytes, found.peak_bytes) == (40_000, 43_000, 43_000)
    assert compute_growth(found) == pytest.approx(0.05)
    assert is_lent(found)


def test_one_reading_shows_no_growth_and_nor_do_two_servers() -> None:
    assert measure_growth([reading(0, 1)], judged=True) is None
    assert measure_growth([reading(0, 1), reading(9, 1, written=0)], judged=True) is not None
    other = [reading(5, 1), reading(9, 1, written=0)]
    assert measure_growth(other, judged=True) is None


def test_where_checkpoints_pay_the_log_is_lent_only_what_is_written_without_one() -> None:
    during = [reading(s, 40_000 + 1_000 * s, paying=s > 0) for s in range(61)]
    found = measure_growth(during, judged=True)
    assert found is not None
    assert found.lent_bytes == 0
    without = [reading(s, 40_000 + 1_000 * s, paying=False) for s in range(61)]
    found = measure_growth(without, judged=True)
    assert found is not None
    assert compute_growth(found) == 1


@pytest.mark.parametrize(
    ("levels", "waves"),
    [
        ([0.5], 0),
        ([0.1, 0.5, 0.9], 0),  # it fills
        ([0.6, 0.88, 0.75, 0.8], 0),  # a part of a wave
        ([0.2, 0.8, 0.3, 0.8, 0.4], 1),  # from peak to peak
        ([0.8, 0.2, 0.7, 0.2, 0.7, 0.2, 0.8], 2),  # from trough to trough, twice
        ([0.80, 0.83, 0.80, 0.84, 0.79, 0.82], 0),  # scatter
    ],
)
def test_a_whole_wave_lasts_from_one_peak_or_trough_to_the_next(
    levels: list[float], waves: int
) -> None:
    assert count_waves(levels) == waves


def test_growth_lends_nothing_within_a_whole_wave_or_if_the_log_lasts_for_days() -> None:
    assert is_lent(grown(80_000, 83_000))
    assert not is_lent(grown(80_000, 81_500))
    assert not is_lent(grown(80_000, 60_000))
    assert not is_lent(grown(20_000, 80_000, waves=1))
    slow = grown(20_000, 20_050).model_copy(update={"written_bytes": 100})
    assert not is_lent(slow)  # half of it is owed, and the log lasts for 33 hours


def test_a_load_that_outgrows_a_full_log_fails() -> None:
    full = grown(80_000, 83_000)
    assert describe_outgrown(full) == (
        "the log only filled: 5 % of what was written to it is not written back, 3 % allowed"
    )
    capacity = judge([step(1, grown(80_000, 80_000)), step(2, full)], ONCE)
    assert (capacity.verdict, capacity.at, capacity.cause) == ("KNEE", 1, "log")


def test_a_log_that_was_not_full_says_nothing_of_what_lasts() -> None:
    empty = grown(5_000, 40_000)
    assert describe_outgrown(empty) is None
    assert is_only_filling(step(2, empty))
    assert not is_only_filling(step(2, grown(5_000, 40_000, judged=False)))


def test_what_only_the_log_lent_is_a_burst_and_says_how_long_it_lasts() -> None:
    steps = [step(1, grown(0, 30_000)), step(2, grown(0, 40_000)), step(3, None, us=50_000)]
    capacity = judge_sustained(steps, ONCE)
    assert capacity.verdict == "BURST", capacity.summary
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert capacity.burst is not None
    assert (capacity.burst.at, capacity.burst.bucket) == (2, "log")
    assert capacity.burst.lasts_s == pytest.approx(150)
    assert "the log lent it" in capacity.summary
    assert "for 2 min 30 s from an empty log" in capacity.summary


def test_steps_without_readings_are_judged_as_before() -> None:
    steps = [step(1, None), step(2, None, us=50_000)]
    assert judge_sustained(steps, ONCE) == judge(steps, ONCE)


NOW = WriteDebt(owed_bytes=0, limit_bytes=LIMIT, written_bytes=0)


@pytest.mark.parametrize("purpose", ["baseline", "sentinel"])
def test_no_log_is_filled_before_steps_that_others_are_compared_with(purpose: Purpose) -> None:
    assert plan_fill_s(purpose, [step(1, grown(0, 9_000))], NOW, 90) == 0


def test_a_log_is_filled_as_long_as_the_fastest_window_needs_twice_over_and_no_longer() -> None:
    writes = [step(32, grown(0, 9_000)), step(16, grown(0, 100))]
    assert plan_fill_s("climb", writes[:1], NOW, 90) == pytest.approx(160)
    assert plan_fill_s("climb", writes, NOW, 10) == FILL_LEAST_S
    assert plan_fill_s("climb", writes, NOW, 10, least_s=0) == 20
    assert plan_fill_s("climb", writes, None, 90) == 0
    assert plan_fill_s("climb", [], NOW, 90) == 0
    assert plan_fill_s("climb", writes[1:], NOW, 90) == 0  # its pages are written at once


def test_a_load_that_only_reads_takes_no_extra_time() -> None:
    reads = grown(0, 20).model_copy(update={"written_bytes": 30})
    assert plan_fill_s("climb", [step(32, reads)], NOW, 90) == 0


def test_a_log_is_filled_once_it_is_or_a_checkpoint_runs_or_no_more_can_be_owed() -> None:
    assert is_filled([reading(0, 80_000)])
    assert is_filled([reading(0, 10_000, paying=True)])
    assert not is_filled([reading(0, 10_000)])
    balance = [reading(s, 50_000) for s in range(12)]
    assert not is_filled(balance[:10])
    assert is_filled(balance)
    assert not is_filled([reading(s, 1_000 * s) for s in range(12)])


def test_an_answer_says_how_its_write_debt_is_known() -> None:
    known = [step(2, grown(80_000, 81_200)), step(2, grown(70_000, 60_000))]
    assert describe_debt(known) == (
        "write debt was read: in the windows of the answer it grew by at most 2 % of what was"
        " written, and the log was at least 70 % full when they began"
    )
    waves = [step(2, None).model_copy(update={"wave_s": 20.0})] * 2
    assert describe_debt(waves) == (
        "write debt cannot be read, but throughput comes in waves of about 20 s: a window has to"
        " hold several of them"
    )
    assert describe_debt([*waves, *[step(2, None)] * 2]) is None
    reads = grown(0, 20).model_copy(update={"written_bytes": 30})
    assert describe_debt([step(2, reads)]) is None


def test_a_longer_window_is_asked_for_where_the_waves_of_the_log_are_short() -> None:
    fills_in_90_s = grown(10_000, 76_667)
    assert count_windows_for_wave(step(2, fills_in_90_s)) == 3  # of a minute: 1.5 times 90 s
    longer = step(2, fills_in_90_s).model_copy(update={"window_factor": 3, "window_s": 180.0})
    assert count_windows_for_wave(longer) is None  # it was asked for once
    assert count_windows_for_wave(step(2, grown(10_000, 20_000))) is None  # 15 min are too long
    assert count_windows_for_wave(step(2, grown(10_000, 76_667, waves=1))) is None
    assert count_windows_for_wave(step(2, grown(10_000, 76_667, judged=False))) is None
    assert count_windows_for_wave(step(2, None)) is None


def test_changes_of_the_same_few_pages_lend_nothing() -> None:
    def over(pages: int) -> DebtGrowth | None:
        debts = [(0.0, 0, 25), (60.0, 30_000, pages)]
        readings = [
            TimedDebt(s, reading(s, owed).debt.model_copy(update={"owed_pages": known}))
            for s, owed, known in debts
        ]
        return measure_growth(readings, judged=True, operations_per_s=100)

    few, many = over(25), over(3_000)
    assert few is not None
    assert few.pages_per_operation == pytest.approx(25 / 200 / 100)  # a full log lasts for 200 s
    assert not is_lent(few)
    assert many is not None
    assert many.pages_per_operation == pytest.approx((3_000 - 25) / 60 / 100)
    assert is_lent(many)


def measure_pages(pages: list[int], ios_each_s: int | None) -> DebtGrowth:
    """A window with a reading a second, whose log grows by all that is written to it."""
    readings = []
    for second, owed in enumerate(pages):
        ios = None if ios_each_s is None else ios_each_s * second
        debt = reading(second, 1_000 * second).debt
        readings.append(TimedDebt(second, debt.model_copy(update={"owed_pages": owed, "ios": ios})))
    found = measure_growth(readings, judged=True, operations_per_s=1_000)
    assert found is not None
    return found


def test_page_writes_put_off_are_held_against_the_ios_of_the_window() -> None:
    """A full log lasts 100 s: 60 pages a second are owed for it, for 1,000 operations."""
    owed = [6_000] * 5
    assert measure_pages(owed, 2_500).pages_per_operation == pytest.approx(0.06)
    assert measure_pages(owed, 2_500).ios_per_operation == pytest.approx(2.5)
    assert not is_lent(measure_pages(owed, 2_500))  # 2.4 % of its I/Os
    assert is_lent(measure_pages(owed, 1_500))  # 4 %
    assert is_lent(measure_pages(owed, None))  # not known to be few


def test_what_a_page_cleaner_takes_at_once_is_no_growth_of_dirty_pages() -> None:
    """It takes 300 of 400 pages each two seconds; the window begins after it and ends before."""
    waves = [100 + 150 * (second % 2) for second in range(10)]
    assert waves[-1] - waves[0] == 150
    assert not is_lent(measure_pages(waves, 400))
    rising = [100 + 40 * second for second in range(10)]
    assert is_lent(measure_pages(rising, 400))


def test_ripples_of_a_page_cleaner_are_no_growth() -> None:
    """It wakes each second; the window begins after it, and ends before."""
    ripples = [reading(s / 5, 100 + 200 * (s % 5), written=200 * s) for s in range(20)]
    found = measure_growth(ripples, judged=True)
    assert found is not None
    assert (found.start_bytes, found.end_bytes, found.lent_bytes) == (100, 900, 0)
    rising = [reading(s / 5, 100 + 200 * (s % 5) + 100 * s, written=200 * s) for s in range(20)]
    found = measure_growth(rising, judged=True)
    assert found is not None
    assert compute_growth(found) == pytest.approx(0.5)


def test_a_load_that_fails_while_debt_is_paid_is_tried_again_with_a_longer_window() -> None:
    paid = grown(80_000, 50_000)
    assert is_repaying(paid)
    assert not is_repaying(grown(80_000, 70_000))
    assert not is_repaying(grown(80_000, 50_000, judged=False))
    purged = {"ios_per_operation": 2.0, "unpurged_per_operation": -0.3}
    assert is_repaying(grown(80_000, 80_000).model_copy(update=purged))  # 30 % of the I/Os
    search = StepsSearch(clients=(1, 2, 4))
    light = step(1, None, purpose="baseline")
    slow = step(2, paid, us=50_000).model_copy(update={"clients": 2})
    wish = plan_next_step(search, [light, slow], ONCE)
    assert isinstance(wish, NextStep)
    assert (wish.clients, wish.window_factor) == (2, 2)
    settled = step(2, grown(80_000, 79_000)).model_copy(update={"clients": 2, "window_factor": 2})
    judged = judge([light, slow, settled], ONCE, "clients")
    assert judged.steps[1].passed


def test_an_answer_says_if_page_writes_were_put_off_and_if_the_purge_fell_behind() -> None:
    grew = grown(0, 30_000).model_copy(
        update={
            "pages_per_operation": 0.01, "ios_per_operation": 2.0, "unpurged_per_operation": 0.05,
        }
    )  # fmt: skip
    answer = [step(2, grew)] * 3
    assert describe_debt(answer) == (
        "write debt was read: in the windows of the answer it grew by at most 50 % of what was"
        " written (page writes put off: 0.5 % of the I/Os), and the log was at least 0 % full when"
        " they began"
    )
    untold = grew.model_copy(update={"ios_per_operation": None, "pages_per_operation": 0.00674})
    assert "(page writes put off: 0.0067 per operation)" in (describe_debt([step(2, untold)]) or "")
    assert describe_purge(answer) == (
        "the purge of old row versions fell behind in the windows of the answer, which puts off up"
        " to 5 % of the I/Os: limits.soak_s shows what lasts"
    )
    kept_up = grew.model_copy(update={"unpurged_per_operation": 0.025})
    assert describe_purge([*answer, *[step(2, kept_up)] * 4]) is None
    assert describe_purge([step(2, grown(0, 30_000))]) is None
