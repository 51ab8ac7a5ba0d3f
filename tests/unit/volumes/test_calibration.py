"""Whether a machine's disk can stand for a volume, from figures alone."""

import pytest

from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.volumes.calibration import DiskMeasurement, Measured, compare_with_limits

GP3 = limits(Volume(type="gp3", size_gib=100))  # 3,000 IOPS, 125 MiB/s, 800 us


def seen(name: str, *, rate: float = 50_000, mib_s: float = 900, mean_us: float = 100) -> Measured:
    return Measured(
        name=name,
        operations=1_000,
        operations_per_second=rate,
        mib_s=mib_s,
        mean_us=mean_us,
        p50_us=mean_us,
        p99_us=mean_us,
    )


def disk(**slow: Measured) -> DiskMeasurement:
    quick = {name: seen(name) for name in DiskMeasurement.model_fields if name != "directory"}
    return DiskMeasurement(directory="/somewhere", **{**quick, **slow})


def test_a_disk_quicker_in_all_stands_for_the_volume() -> None:
    got = compare_with_limits(disk(), GP3)
    assert (got.host_bound, got.reasons) == (False, [])
    assert "a flush takes 100 µs on this machine" in got.notes[0]


@pytest.mark.parametrize(
    ("slow", "reason"),
    [
        ({"read": seen("read", mean_us=900)}, "read: 900 µs on this machine, 800 µs on the volume"),
        ({"flush": seen("flush", mean_us=3_400)}, "flush: 3.40 ms on this machine, 800 µs"),
        (
            {"parallel_write": seen("writes", rate=2_999)},
            "writes: 2,999 IOPS on this machine, 3,000 on the volume",
        ),
        (
            {"large_read": seen("large", mib_s=80)},
            "large: 80.0 MiB/s on this machine, 125 on the volume",
        ),
    ],
)
def test_what_it_cannot_keep_is_named_with_both_figures(
    slow: dict[str, Measured], reason: str
) -> None:
    got = compare_with_limits(disk(**slow), GP3)
    assert got.host_bound
    assert len(got.reasons) == 1
    assert got.reasons[0].startswith(reason)


def test_a_volume_without_caps_asks_for_latency_alone() -> None:
    nvme = limits(Volume(type="nvme", size_gib=100))
    assert not compare_with_limits(disk(large_read=seen("large", mib_s=1)), nvme).host_bound
    assert compare_with_limits(disk(read=seen("read", mean_us=101)), nvme).host_bound
