"""What a run's steps say of its target."""

from dataclasses import replace

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.run.results import ServerWaits
from plimsoll.sizing.measured import Demand, Observed, Profile, build_profile, observe_steps
from plimsoll.sizing.predict import compute_bounds
from tests.support.synthetic_run import synthetic_run
from tests.unit.sizing.known import CAPS, caps

LIGHT = Observed(
    load=1.0,
    response_s=0.004,
    demand=Demand(
        ops_per_second=250,
        ios=2.0,
        read_ios=0.5,
        write_ios=1.5,
        mib=1 / 16,
        cpu_s=0.001,
        log_flushes=0.4,
    ),
    latency_us={"read": 8000.0},
    page_reads_s=0.001,
    log_s=0.0005,
)


def profile(*seen: Observed) -> Profile:
    return build_profile(seen, CAPS, local=False, dataset_pages=None)


def test_an_operation_that_is_alone_is_the_lightest_step() -> None:
    found = profile(LIGHT)
    assert found.alone_s == pytest.approx(0.004)
    assert (found.pages_s.mid, found.log_s.mid) == pytest.approx((0.001, 0.0005))
    assert found.pages_s.low == pytest.approx(0.001 / 1.3)
    assert (found.read_share, found.log_share) == pytest.approx((0.25, 0.4 / 1.5))
    assert found.tails["read"].at(1) == pytest.approx(2)  # 8 ms are twice 4 ms


def test_only_where_something_is_written_latencies_go_by_what_is_under_way() -> None:
    assert profile(LIGHT).tails_under_way["read"].at(2) == pytest.approx(16_000)
    unknown = replace(LIGHT, demand=LIGHT.demand.model_copy(update={"log_flushes": None}))
    assert profile(unknown).tails_under_way
    few = replace(LIGHT, demand=LIGHT.demand.model_copy(update={"log_flushes": 0.009}))
    assert profile(few).tails_under_way == {}


def test_queues_are_taken_out_of_a_lightest_step_that_is_not_light() -> None:
    """By hand: 1.5 ms elsewhere, 2 ms at the volume, 0.5 ms at two processors; 5.0625 ms at two."""
    heavier = replace(LIGHT, load=2.0, response_s=0.0050625)
    assert profile(heavier).alone_s == pytest.approx(0.004, rel=1e-3)


def test_waits_beyond_the_time_of_an_operation_are_cut_to_it() -> None:
    found = profile(replace(LIGHT, page_reads_s=0.006, log_s=0.002))
    assert (found.pages_s.mid, found.log_s.mid) == pytest.approx((0.003, 0.001))


def test_what_the_server_does_not_count_may_be_nothing_or_all() -> None:
    found = profile(replace(LIGHT, page_reads_s=None)).log_s
    assert (found.low, found.high) == pytest.approx((0, 0.004))


def test_the_limit_is_the_machines_where_others_have_most_of_its_processors() -> None:
    seen = replace(LIGHT, machine_cpu_s=0.0025)
    found = build_profile([seen], CAPS, local=True, dataset_pages=None)
    bounds = {b.resource: b.ops_per_second for b in compute_bounds(found, CAPS, "mid", 1.0)}
    assert bounds["machine"] == pytest.approx(2 / 0.0025)
    assert "cpu" not in bounds


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ((), "no step has figures of both its target's volume and its latencies"),
        ((replace(LIGHT, demand=Demand(ops_per_second=1)),), "the CPU time of an operation"),
    ],
)
def test_a_run_that_says_too_little_is_refused(seen: tuple[Observed, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        profile(*seen)


def test_demands_are_rates_over_the_throughput() -> None:
    result, _ = synthetic_run()
    waits = ServerWaits(page_reads=1500, log_flushes=3000, row_locks_s=1.5, table_locks_s=0.0)
    seen = observe_steps(result, [waits] * len(result.steps), statistic="p99", processors=2)
    step = result.steps[0]
    rate, target = step.step.throughput_ops_per_second, step.target
    assert rate is not None
    assert target is not None
    assert target.read_iops is not None
    assert target.write_iops is not None
    assert target.cpu_percent is not None
    demand = seen[0].demand
    assert demand.ops_per_second == rate
    assert demand.ios == pytest.approx((target.read_iops + target.write_iops) / rate)
    assert demand.cpu_s == pytest.approx(target.cpu_percent / 100 * 2 / rate)
    assert demand.log_flushes == pytest.approx(3000 / 15 / rate)  # over 15 s, warm-up included
    assert demand.lock_wait_s == pytest.approx(1.5 / 15 / rate)
    assert demand.mib is None  # not measured: never 0
    assert [one.load for one in seen] == sorted(one.load for one in seen)


def test_a_disputed_step_says_nothing() -> None:
    result, _ = synthetic_run()
    waits = [ServerWaits()] * len(result.steps)
    all_steps = observe_steps(result, waits, statistic="p99", processors=2)
    fewer = observe_steps(result, waits, statistic="p99", processors=2, without={1})
    assert len(fewer) == len(all_steps) - 1


def test_a_pool_that_missed_no_page_says_nothing_of_a_smaller_one() -> None:
    """It ended in a stack trace: with less memory no page was read, and pages were written."""
    seen = replace(LIGHT, miss_share=0.0, pool_pages=1000.0)
    found = build_profile([seen], CAPS, local=False, dataset_pages=900)
    assert found.pool is None
    iops, *_ = compute_bounds(found, caps(memory_gib=4.0), "mid", 1.0)
    assert iops.ops_per_second == pytest.approx(500)
    half = replace(seen, miss_share=0.5)
    assert build_profile([half], CAPS, local=False, dataset_pages=900).pool is not None


def test_a_wait_that_fills_the_whole_time_is_rounded_into_its_range() -> None:
    """One of 50 was rounded to just above it, which ended an experiment without its result."""
    for number in range(1, 400):
        waits = replace(LIGHT, page_reads_s=0.0, log_s=0.01 + number / 98_317)
        found = profile(replace(waits, response_s=0.001 + number / 131_071))
        assert found.log_s.low < found.log_s.mid <= found.log_s.high
