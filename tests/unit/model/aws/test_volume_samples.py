"""From counters to rates, and whose fault a latency is."""

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.model.aws.volume_rules import FaultPlan, Stall
from plimsoll.model.aws.volumes_seen import VolumeSample, host_bound, rates

EARLIER = VolumeSample(epoch_ms=10_000, read_operations=100, read_ios=100, read_time_us=50_000)


def test_rates_are_differences_over_the_interval() -> None:
    later = VolumeSample(
        epoch_ms=12_000,
        read_operations=2_100,
        read_ios=2_300,
        read_bytes=64 * 2**20,
        read_time_us=4_050_000,
        write_operations=10,
        write_ios=10,
        write_time_us=20_000,
    )
    got = rates(EARLIER, later)
    assert got.interval_s == 2
    assert (got.read_iops, got.write_iops) == (1_100, 5)
    assert got.read_mib_s == 32
    assert (got.read_latency_us, got.write_latency_us) == (2_000, 2_000)
    assert got.flush_latency_us is None
    assert got.queue == pytest.approx(2.01)  # Little: 1,005 operations/s of 2 ms each


def test_percentiles_come_from_the_interval_alone() -> None:
    before = EARLIER.model_copy(update={"read_histogram": {1_000: 1_000}})
    after = EARLIER.model_copy(
        update={"epoch_ms": 11_000, "read_histogram": {1_000: 1_098, 8_000: 2}}
    )
    assert rates(before, after).read_p99_us == 8_000
    assert rates(before, after).write_p99_us is None


@pytest.mark.parametrize(
    ("ios_per_s", "empty_in_s"),
    [(3_000, 2_000.0), (300, None), (100, None)],
)
def test_the_time_to_empty_is_shown_in_advance(ios_per_s: int, empty_in_s: float | None) -> None:
    after = VolumeSample(
        epoch_ms=11_000, read_ios=100 + ios_per_s, credits=5.4e6, credits_max=5.4e6
    )
    got = rates(EARLIER, after, baseline_iops=300)
    assert got.empty_in_s == empty_in_s
    assert got.burst_balance_percent == 100


def test_samples_out_of_order_are_an_error() -> None:
    with pytest.raises(ValueError, match="the later one must come second"):
        rates(EARLIER, EARLIER)


@pytest.mark.parametrize(
    ("late_us", "bound"),
    [(0, False), (99_000, False), (101_000, True), (900_000, True)],
)
def test_the_machine_is_to_blame_beyond_a_tenth_of_the_time(late_us: int, bound: bool) -> None:
    after = EARLIER.model_copy(
        update={
            "epoch_ms": 20_000,
            "read_operations": 1_100,
            "read_time_us": 1_050_000,
            "late_operations": 10 if late_us else 0,
            "late_time_us": late_us,
        }
    )
    got = host_bound(EARLIER, after)
    assert got.host_bound is bound
    assert got.late_time_share == late_us / 1_000_000
    assert got.sentence.startswith("host-bound: " if bound else "the machine kept up: ")


def test_without_io_there_is_no_verdict() -> None:
    got = host_bound(EARLIER, EARLIER)
    assert (got.host_bound, got.late_time_share) == (False, None)


def test_a_fault_plan_says_its_kind() -> None:
    adapter: TypeAdapter[FaultPlan] = TypeAdapter(FaultPlan)
    assert adapter.validate_python({"kind": "stall", "duration_s": 2}) == Stall(duration_s=2)
    with pytest.raises(ValidationError, match="EIO"):
        adapter.validate_python({"kind": "fail", "error": "EPERM"})
