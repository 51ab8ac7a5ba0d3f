"""The load line of a target that was not measured, by hand and by its laws."""

from dataclasses import replace
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.sizing.caps import Caps, Pool
from plimsoll.sizing.predict import (
    Calibrated,
    Prediction,
    _choose_compared_latencies_us,
    _climb_to_limits,
    build_network,
    calibrate_profile,
    predict,
    predict_latencies,
)
from plimsoll.sizing.queueing import End, Guess, Tail, Trend
from tests.unit.sizing.known import CAPS, KNOWN, PROFILE, always, caps, known

LONG = {"read": 1e6}  # a second: only resources bind
iops = st.floats(100, 60_000)
limits_us = st.floats(100, 1e6)


def line(asked: Caps, limit_us: float = 1e6, ground: Calibrated = KNOWN) -> Prediction:
    return predict(ground, asked, {"read": limit_us})


@pytest.mark.parametrize(
    ("changes", "resource", "bound", "following"),
    [
        # 1,000 IOPS / 2; 2 processors / 1 ms; 500 MiB/s x 32
        ({}, "storage_iops", 500, ("cpu", 2000)),
        ({"iops": 3000.0}, "storage_iops", 1500, ("cpu", 2000)),
        ({"iops": 9000.0}, "cpu", 2000, ("storage_iops", 4500)),
        ({"mib_s": 10.0}, "storage_throughput", 320, ("storage_iops", 500)),
        ({"processors": 0.25}, "cpu", 250, ("storage_iops", 500)),
        ({"iops": None, "mib_s": None}, "cpu", 2000, None),
    ],
)
def test_what_lets_through_the_fewest_operations_binds(
    changes: dict[str, Any], resource: str, bound: float, following: tuple[str, float] | None
) -> None:
    found = line(caps(**changes))
    assert found.binds.resource == resource
    assert found.binds.ops_per_second == pytest.approx(bound)
    assert found.ops_per_second == pytest.approx(bound, rel=0.1)  # tails may be a tenth longer
    assert found.ops_per_second <= bound
    assert (found.next is None) == (following is None)
    if found.next is not None and following is not None:
        assert found.next.resource == following[0]
        assert found.next.ops_per_second == pytest.approx(following[1])


def test_a_latency_limits_before_any_resource_does() -> None:
    """By hand: 1.5 ms elsewhere, 2 ms at the volume, 0.5 ms at the processors. One under way: 4 ms,
    250 a second; two: 1.5 + 2 x 1.5 + 0.5 x 1.125 = 5.06 ms, 395 a second.
    """
    assert predict(KNOWN, CAPS, {"read": 5000.0}).high == pytest.approx(395.06, rel=1e-3)
    found = predict(KNOWN, CAPS, {"read": 4500.0})
    assert found.low == pytest.approx(250)
    assert found.load == 1
    assert found.binds.resource == "storage_latency"
    assert found.next is not None
    assert found.next.resource == "storage_iops"


def test_what_one_operation_alone_takes_too_long_for_is_nothing() -> None:
    found = predict(KNOWN, CAPS, {"read": 3000.0})
    assert (found.ops_per_second, found.high, found.load) == (0, 0, None)


def test_a_volume_that_answers_sooner_shortens_the_wait_for_storage_alone() -> None:
    """io2 answers in half the time: 3 of 4 ms become 1.5, and 2.5 ms remain."""
    ground = known(whole_machine=True, machine_cpu_s=always(0.001))
    faster = caps(volume="io2", base_latency_us=350.0, iops=1e6)
    assert predict(ground, faster, {"read": 2550.0}).load == 1
    assert predict(ground, faster, {"read": 2450.0}).load is None
    assert predict(ground, CAPS, {"read": 2550.0}).load is None


def test_what_is_not_known_is_in_the_interval() -> None:
    """20 % of the I/Os of an operation are as much of what the volume lets through."""
    found = line(CAPS, ground=known(ios=always(2, spread=0.2)))
    assert found.low == pytest.approx(500 / 1.2, rel=0.01)
    assert found.high == pytest.approx(500 * 1.2, rel=0.01)
    assert found.ops_per_second == pytest.approx((found.low * 500) ** 0.5, rel=0.01)


def test_at_worst_a_volume_leaves_writes_as_long_as_they_were_under_as_many() -> None:
    """In the run two took 5 ms and three 6: with a hundred times the I/Os, two are within 5.5 ms.

    By hand: 3.48 ms elsewhere, 0.02 at the volume, 0.5 x 1.125 at the processors.
    """
    tails = {"read": Tail(((1.0, 4000.0), (3.0, 6000.0)))}
    fast, limit_us = caps(iops=1e5), {"read": 5500.0}
    plain = predict(KNOWN, fast, limit_us)
    found = predict(known(tails_under_way=tails), fast, limit_us)
    assert found.low == pytest.approx(2 / 0.0040634, rel=1e-3)
    assert (found.high, found.load) == (plain.high, plain.load)
    assert plain.low > 1500


def test_a_volume_that_takes_longer_leaves_writes_as_they_were_under_as_many_at_worst() -> None:
    """By the stretch one takes 1 + 3 x 10 / 7 = 5.3 ms alone, by what was seen three take 4.5."""
    tails = {"read": Tail(((1.0, 4500.0), (3.0, 4500.0), (4.0, 6000.0)))}
    slow, limit_us = caps(volume="gp2", base_latency_us=1000.0, iops=1e5), {"read": 5000.0}
    assert predict(KNOWN, slow, limit_us).ops_per_second == 0
    found = predict(known(tails_under_way=tails), slow, limit_us)
    assert (found.load, found.least_load) == (3, 3)
    assert found.low <= found.ops_per_second < 3 / 0.0053 < found.high


def test_another_class_is_as_fast_as_assumed() -> None:
    found = line(caps(iops=1e6, speed=Guess.within(1.0, 1.5)))
    assert (found.low, found.high) == pytest.approx((2000 / 1.5, 3000), rel=0.01)


def test_more_memory_reads_less() -> None:
    """Half of the I/Os read; with twice the memory 0 to 0.78 of them, and the writes between."""
    pool = Pool(pages=1000, dataset_pages=5000, miss_share=0.2)
    found = line(caps(memory_gib=16.0), ground=known(pool=pool, read_share=0.5))
    most = 0.5 * 3500 / 4500 + 0.5
    assert found.low == pytest.approx(500 / most, rel=0.01)
    assert found.high > 900


ALL_PAGES = known(
    pool=Pool(pages=1000, dataset_pages=1500, miss_share=0.2), read_share=0.5, log_share=0.8
)


def test_a_pool_that_holds_every_page_reads_nothing_and_still_writes() -> None:
    """Half of the I/Os write: at worst as many, likely 0.9 of them, the log's four fifths among."""
    found = line(caps(memory_gib=16.0), ground=ALL_PAGES)
    assert found.low == pytest.approx(500 / 0.5, rel=0.01)
    assert found.binds.ops_per_second == pytest.approx(500 / (0.5 * 0.9))


def test_at_best_one_flush_of_the_log_serves_many_and_fewer_ios_spare_the_processor() -> None:
    """No I/O is left: of 1 ms the 2 I/Os of an operation took 240 us at most."""
    found = line(caps(memory_gib=16.0), ground=ALL_PAGES)
    assert found.high == pytest.approx(2 / 0.00076, rel=0.01)
    assert line(caps(memory_gib=16.0, iops=1e6), ground=ALL_PAGES).low == pytest.approx(
        2000, rel=0.01
    )


def test_less_memory_takes_more_of_the_processor() -> None:
    """A pool of half the size: 1 to 5 times the reads, and the writes as many to as many more."""
    pool = Pool(pages=1000, dataset_pages=5000, miss_share=0.2)
    found = line(caps(memory_gib=4.0, iops=1e6), ground=known(pool=pool, read_share=1.0))
    most = pool.reads_at(500).high
    assert most > 2
    assert found.low == pytest.approx(2 / (0.001 + 2 * (most - 1) * 120e-6), rel=0.01)
    assert found.high < 2000


def test_at_best_an_operation_takes_ever_less_under_heavier_loads() -> None:
    """At 64 under way 2 I/Os; at 256, with a slope of -1/2, one."""
    trend = Trend(-0.5, (log(64), log(2)), 0.0, 1, 64)
    found = line(CAPS, ground=known(ios=trend))
    assert found.high == pytest.approx(1000, rel=0.01)
    assert found.low == pytest.approx(500, rel=0.01)


def test_where_the_pool_is_set_by_a_parameter_a_larger_class_reads_as_much() -> None:
    pool = Pool(pages=1000, dataset_pages=5000, miss_share=0.2)
    own = CAPS.model_copy(update={"pool_bytes": 2**24})
    ground = known(own=own, pool=pool, read_share=0.5)
    assert line(own.model_copy(update={"memory_gib": 64.0}), ground=ground) == line(
        own, ground=ground
    )


def test_memory_of_which_nothing_is_known_is_not_counted_on() -> None:
    found, as_measured = line(caps(memory_gib=16.0), ground=known(read_share=0.5)), line(CAPS)
    assert found.ops_per_second == pytest.approx(as_measured.ops_per_second)
    assert found.high > as_measured.high


def test_a_lock_that_bound_is_moved_by_no_volume() -> None:
    ground = Calibrated(PROFILE, held=("row_locks", 300.0))
    found = line(caps(iops=9000.0), ground=ground)
    assert (found.binds.resource, found.binds.ops_per_second) == ("row_locks", 300)
    assert found.ops_per_second == 300
    assert found.high > 1500
    assert found.next is not None
    assert found.next.resource == "cpu"


def test_a_prediction_is_corrected_by_what_was_measured() -> None:
    ground = calibrate_profile(PROFILE, LONG, 400.0, spread=0.1)
    assert ground.factor.mid == pytest.approx(0.8, rel=0.01)
    found = line(CAPS, ground=ground)
    assert found.low < found.ops_per_second < 400 < found.high


def test_a_lower_bound_corrects_upwards_alone() -> None:
    assert calibrate_profile(PROFILE, LONG, 400.0, least=True).factor.mid == 1
    assert calibrate_profile(PROFILE, LONG, 600.0, least=True).factor.mid == pytest.approx(
        1.2, rel=0.01
    )


def test_the_latency_under_the_wanted_load_is_told_where_it_is_carried() -> None:
    """Up to 250 a second one operation is under way and takes 4 ms, a tenth more or less."""
    carried = predict_latencies(KNOWN, CAPS, 249.0)
    assert carried is not None
    assert (carried["read"].mid, carried["read"].high) == pytest.approx((4000, 4400))
    assert predict_latencies(KNOWN, CAPS, 600.0) is None


@pytest.mark.parametrize(
    ("under_one_us", "mid", "high"), [(3000.0, 3000, 4400), (5000, 4000, 5000)]
)
def test_of_writes_the_shorter_is_likeliest_and_the_longer_possible(
    under_one_us: float, mid: float, high: float
) -> None:
    """One takes 4 ms by the stretch, a tenth more or less, or as long as one was seen to take."""
    ground = known(tails_under_way={"read": Tail(((1.0, under_one_us),))})
    carried = predict_latencies(ground, CAPS, 249.0)
    assert carried is not None
    told = carried["read"]
    assert (told.low, told.mid, told.high) == pytest.approx((mid / 1.1, mid, high))


@given(iops, iops, limits_us, st.sampled_from([0.0, -0.2, -0.5]))
def test_more_iops_never_carry_less(
    one: float, other: float, limit_us: float, slope: float
) -> None:
    trend = replace(always(2, spread=0.1), slope=slope)
    ground = known(ios=trend, server_cpu_s=replace(always(0.001), slope=slope))
    less, more = (line(caps(iops=i), limit_us, ground) for i in sorted((one, other)))
    for name in ("low", "ops_per_second", "high"):
        assert getattr(less, name) <= getattr(more, name) * (1 + 1e-9)


@given(
    asked=iops,
    limit_us=limits_us,
    end=st.sampled_from(["low", "mid", "high"]),
    writes=st.booleans(),
)
def test_latencies_never_fall_with_the_load(
    asked: float, limit_us: float, end: End, *, writes: bool
) -> None:
    """So the heaviest load within the limits is found by bisection: it is the linear climb's."""
    under_way = Tail(((1.0, 3000.0), (8.0, 9000.0))) if writes else None
    ground = known(tails_under_way={"read": under_way} if under_way else {})
    found = _climb_to_limits(ground.profile, caps(iops=asked), {"read": limit_us}, end, 1.0)
    network, _ = build_network(ground.profile, caps(iops=asked), end, found.bounds)
    within = []
    for point in network.climb():
        latency_us = _choose_compared_latencies_us(ground.profile, network, point, end)["read"]
        if latency_us > limit_us:
            break
        within.append(point.load)
    assert (found.point.load if found.point else None) == (within[-1] if within else None)


@given(iops, limits_us, limits_us)
def test_a_longer_limit_never_carries_less(asked: float, one: float, other: float) -> None:
    short, long = (line(caps(iops=asked), limit) for limit in sorted((one, other)))
    assert short.ops_per_second <= long.ops_per_second * (1 + 1e-9)


@given(
    iops,
    limits_us,
    st.floats(0, 0.5),
    st.floats(0.5, 2),
    st.sampled_from([1.0, 2.0, 0.5]),
)
def test_the_interval_contains_the_figure(
    asked: float, limit_us: float, spread: float, factor: float, memory: float
) -> None:
    pool = Pool(pages=1000, dataset_pages=5000, miss_share=0.2)
    profile = known(ios=always(2, spread=spread), read_share=0.5, pool=pool).profile
    ground = Calibrated(profile, factor=Guess(low=min(1, factor), mid=factor, high=max(1, factor)))
    found = line(caps(iops=asked, memory_gib=8 * memory), limit_us, ground)
    assert found.low <= found.ops_per_second * (1 + 1e-9)
    assert found.ops_per_second <= found.high * (1 + 1e-9)


def test_a_use_that_falls_to_nothing_under_heavier_loads_binds_nothing_at_best() -> None:
    """The slope between two loads that are nearly equal may be any, and is extrapolated."""
    steep = Trend(-1e4, (0.0, log(0.001)), 0.05, 1.0, 1.0001)
    found = line(CAPS, ground=known(ios=None, mib=None, server_cpu_s=steep))
    assert found.high >= found.ops_per_second >= found.low > 0
