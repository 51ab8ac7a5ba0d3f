"""A volume's limits followed through minutes: credits, bursts, and what a queue tells."""

import numpy as np
import pytest

from plimsoll.sizing.lateness import LATE_SHARE, Bucket, History, find_bursts, judge

PAGE = 16_384
MINUTES = 240


def history(iops: list[float], queue: list[float] | None = None) -> History:
    rates = np.array(iops, float)
    begins_s = 60.0 * np.arange(len(rates))
    waiting = None if queue is None else np.array(queue, float)
    return History(60.0, begins_s, np.column_stack((rates, PAGE * rates)), waiting)


def peak(iops: float) -> dict[str, Bucket]:
    return {"peak_iops": Bucket(iops)}


def with_one_minute(base: float, busy: float, queued_s: float = 0.0) -> History:
    """A flat history with one minute that stands out; each I/O takes a millisecond alone."""
    iops = [base] * MINUTES
    iops[100] = busy
    queue = [each / 1_000 for each in iops]
    queue[100] += queued_s / 60
    return history(iops, queue)


def test_a_flat_load_below_the_limit_is_never_late() -> None:
    seen = history([500.0] * MINUTES)
    found = judge(seen, find_bursts(seen, None), peak(600))
    assert found.late == (0, 0, 0)
    assert found.over == 0


def test_a_flat_load_above_the_limit_is_late() -> None:
    seen = history([500.0] * MINUTES)
    assert judge(seen, find_bursts(seen, None), peak(400)).late == (1, 1, 1)


def test_a_minute_that_stands_out_may_have_held_a_burst_of_any_length() -> None:
    seen = history([100.0] * 100 + [200.0] + [100.0] * 139)
    found = find_bursts(seen, None)
    # 6,000 I/Os beyond the base: in one second 6,100/s, in 20 s 400/s, over the minute 200/s
    assert found.excess[100, 0] == pytest.approx([6_000] * len(found.lengths_s))
    assert judge(seen, found, peak(6_200)).late[2] == 0
    assert judge(seen, found, peak(5_000)).late[2] > LATE_SHARE
    assert judge(seen, found, peak(5_000)).late[0] < LATE_SHARE / 100


def test_without_a_queue_no_burst_was_above_the_limit_of_today() -> None:
    seen = with_one_minute(100, 200)
    bound = find_bursts(seen, peak(1_300))  # 6,000 I/Os take 5 s at least
    assert judge(seen, bound, peak(1_300)).late[2] == 0
    free = find_bursts(seen, None)
    assert judge(seen, free, peak(1_300)).late[2] > LATE_SHARE


def test_a_queue_tells_how_short_a_burst_was() -> None:
    # 6,000 I/Os in 2 s on 1,300 IOPS: the backlog grows to 6,000 - 2 x 1,200, a triangle
    queued_s = 0.5 * 3_600 * 6_000 / 1_200
    seen = with_one_minute(100, 200, queued_s)
    found = find_bursts(seen, peak(1_300))
    length = (found.weight @ found.chance[:, 0]).argmax()
    assert found.lengths_s[length] == pytest.approx(2, rel=0.1)
    assert found.excess[100, 0, length] == pytest.approx(6_000, rel=0.05)
    assert judge(seen, found, peak(2_000)).late[1] > LATE_SHARE
    assert judge(seen, found, peak(4_000)).late[1] <= LATE_SHARE


def make_bursts(lengths_s: list[int], starts_s: list[int], rate: float = 2_000) -> History:
    """A flat history of a day of 100 IOPS with bursts of one rate, whose ends minutes may cut."""
    seconds = np.full(86_400, 100.0)
    for start, length in zip(starts_s, lengths_s, strict=True):
        seconds[start : start + length] += rate
    return history(list(seconds.reshape(-1, 60).mean(axis=1)))


def _share_of(seen: History, cap: float) -> float:
    return judge(seen, find_bursts(seen, None), peak(cap)).late[1]


def test_bursts_of_one_rate_tell_it_by_how_their_ios_differ() -> None:
    """The largest takes at most 20 s and the smallest at least 1: 2,100 IOPS, not 21,000."""
    draw = np.random.default_rng(1)
    starts = list(60 * draw.permutation(1_440)[:200] + 10)
    varied = make_bursts(list(draw.integers(1, 21, 200)), starts)
    alike = make_bursts([10] * 200, starts)
    assert _share_of(varied, 8_000) <= LATE_SHARE
    assert _share_of(alike, 8_000) > 100 * LATE_SHARE


def test_the_ends_of_minutes_divide_long_bursts() -> None:
    draw = np.random.default_rng(2)
    starts = [int(each) for each in draw.integers(0, 86_300, 80)]
    long = make_bursts([15] * 80, starts, 1_000)
    short = make_bursts([3] * 80, starts, 5_000)
    assert _share_of(long, 3_500) <= LATE_SHARE
    assert _share_of(short, 3_500) > LATE_SHARE


def test_bursts_at_regular_intervals_are_not_told_by_the_ends_of_minutes() -> None:
    """A job's bursts lie within their minutes, however long they are."""
    starts = list(range(10, 86_400, 600))
    long, short = (make_bursts([n] * 144, starts, 15_000 / n) for n in (15, 3))
    assert _share_of(long, 3_500) == pytest.approx(_share_of(short, 3_500))
    assert _share_of(long, 3_500) > LATE_SHARE


def test_burst_credits_are_followed_minute_by_minute() -> None:
    """As gp2 of 100 GiB: 3,000 IOPS for 2,000 s, then 300."""
    gp2 = peak(3_000) | {"lasting_iops": Bucket(300, 5_400_000)}
    seen = history([3_000.0] * 30 + [0.0] * 210)
    found = judge(seen, find_bursts(seen, None), gp2)
    assert found.late == (0, 0, 0)
    assert found.credits_left == pytest.approx(1 - 30 * 60 * 2_700 / 5_400_000)
    longer = history([3_000.0] * 40 + [0.0] * 200)
    assert judge(longer, find_bursts(longer, None), gp2).late[0] > LATE_SHARE
    rested = history([3_000.0] * 30 + [0.0] * 300 + [3_000.0] * 30)
    assert judge(rested, find_bursts(rested, None), gp2).late[1] == 0


def test_a_gap_earns_credits() -> None:
    gp2 = peak(3_000) | {"lasting_iops": Bucket(300, 5_400_000)}
    rates = np.full(60, 3_000.0)
    begins_s = 60.0 * np.arange(60)
    begins_s[30:] += 5 * 3_600
    seen = History(60.0, begins_s, np.column_stack((rates, PAGE * rates)))
    assert judge(seen, find_bursts(seen, None), gp2).late[1] == 0


def test_large_ios_are_held_against_the_throughput() -> None:
    seen = history([100.0] * MINUTES)
    buckets = peak(1_000) | {"peak_bytes": Bucket(50.0 * PAGE)}
    found = judge(seen, find_bursts(seen, None), buckets)
    assert found.binds == "peak_bytes"
    assert found.late[0] == 1


def test_growth_multiplies_the_load_and_its_bursts() -> None:
    seen = with_one_minute(100, 200)
    bursts = find_bursts(seen, peak(1_300))
    assert judge(seen.grow(2), bursts.grow(2), peak(2_600)).late[2] == 0
    assert judge(seen.grow(2), bursts.grow(2), peak(1_300)).late[2] > LATE_SHARE


def test_seconds_hide_no_bursts() -> None:
    rates = np.array([100.0] * 100 + [5_000.0] + [100.0] * 139)
    seen = History(1.0, np.arange(240.0), np.column_stack((rates, PAGE * rates)))
    bursts = find_bursts(seen, None)
    assert list(bursts.lengths_s) == [1.0]
    found = judge(seen, bursts, peak(3_000))
    assert found.late[0] == found.late[2] > LATE_SHARE
    assert judge(seen, bursts, peak(5_100)).late[2] == 0


@pytest.mark.parametrize("minutes", [1, 2, 3, 30, 31, 32])
def test_a_short_history_is_judged(minutes: int) -> None:
    seen = history([100.0] * minutes, [0.1] * minutes)
    assert judge(seen, find_bursts(seen, peak(200)), peak(200)).late == (0, 0, 0)
    idle = history([0.0] * minutes, [0.0] * minutes)
    assert judge(idle, find_bursts(idle, peak(200)), peak(200)).late == (0, 0, 0)
