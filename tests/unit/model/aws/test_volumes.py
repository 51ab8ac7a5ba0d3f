"""What may be asked for, what it promises, and how far AWS's own definitions agree."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import botocore
import pytest

from plimsoll.errors import UsageError
from plimsoll.model.aws.volume_rules import size_bands
from plimsoll.model.aws.volumes import Service, Volume, VolumeType, limits, require_valid_volume


def vol(
    volume_type: VolumeType,
    size_gib: int,
    iops: int | None = None,
    throughput_mib_s: int | None = None,
) -> Volume:
    return Volume(type=volume_type, size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


@pytest.mark.parametrize(
    ("size_gib", "baseline", "burst", "balance", "mib_s"),
    [
        (1, 100, 3_000, 5.4e6, 128),
        (33, 100, 3_000, 5.4e6, 128),
        (34, 102, 3_000, 5.4e6, 128),
        (170, 510, 3_000, 5.4e6, 128),
        (171, 513, 3_000, 5.4e6, 250),
        (999, 2_997, 3_000, 5.4e6, 250),
        (1_000, 3_000, 3_000, None, 250),
        (5_334, 16_000, 16_000, None, 250),
        (16_384, 16_000, 16_000, None, 250),
    ],
)
def test_gp2_follows_its_size(
    size_gib: int, baseline: float, burst: float, balance: float | None, mib_s: float
) -> None:
    got = limits(vol("gp2", size_gib))
    assert (got.baseline_iops, got.burst_iops) == (baseline, burst)
    assert (got.burst_credits, got.throughput_mib_s) == (balance, mib_s)


@pytest.mark.parametrize(
    ("size_gib", "baseline", "burst", "mib_s", "stripes"),
    [  # the table of gp2 under RDS for MariaDB, MySQL and PostgreSQL
        (20, 100, 3_000, 128, 1),
        (399, 1_197, 3_000, 250, 1),
        (400, 1_200, 12_000, 512, 4),
        (1_335, 4_005, 12_000, 1_000, 4),
        (1_336, 4_008, 12_000, 1_000, 4),
        (3_999, 11_997, 12_000, 1_000, 4),
        (4_000, 12_000, 12_000, 1_000, 4),
        (65_536, 64_000, 64_000, 1_000, 4),
    ],
)
def test_rds_stripes_gp2(
    size_gib: int, baseline: float, burst: float, mib_s: float, stripes: int
) -> None:
    got = limits(vol("gp2", size_gib), service="rds-postgres")
    assert (got.baseline_iops, got.burst_iops) == (baseline, burst)
    assert (got.throughput_mib_s, got.stripes) == (mib_s, stripes)
    assert got.burst_credits == (5.4e6 * stripes if burst > baseline else None)


@pytest.mark.parametrize(
    ("volume", "service", "iops", "mib_s"),
    [
        (vol("gp3", 100), "ebs", 3_000, 125),
        (vol("gp3", 100, 10_000, 700), "ebs", 10_000, 700),
        (vol("gp3", 100), "rds-mysql", 3_000, 125),
        (vol("gp3", 400), "rds-mysql", 12_000, 500),
        (vol("gp3", 400, 40_000), "rds-mysql", 40_000, 625),
        (vol("gp3", 400, 40_000), "rds-postgres", 40_000, 500),
        (vol("io1", 100, 1_000), "ebs", 1_000, 250),
        (vol("io1", 100, 2_000), "ebs", 2_000, 500),
        (vol("io1", 2_000, 32_000), "ebs", 32_000, 500),
        (vol("io1", 2_000, 48_000), "ebs", 48_000, 750),
        (vol("io1", 2_000, 64_000), "ebs", 64_000, 1_000),
        (vol("io1", 399, 4_000), "rds-mariadb", 4_000, 500),
        (vol("io1", 400, 16_000), "rds-mariadb", 16_000, 2_000),
        (vol("io2", 100, 1_000), "ebs", 1_000, 256),
        (vol("io2", 100, 100_000), "ebs", 100_000, 4_000),
        (vol("io2", 256, 256_000), "rds-mysql", 256_000, 16_000),
        (vol("nvme", 475), "ebs", None, None),
    ],
)
def test_provisioned_volumes_promise_what_was_asked(
    volume: Volume, service: Service, iops: float | None, mib_s: float | None
) -> None:
    got = limits(volume, service=service)
    assert (got.baseline_iops, got.burst_iops) == (iops, iops)
    assert got.throughput_mib_s == mib_s
    assert got.burst_credits is None
    require_valid_volume(volume, service=service)


@pytest.mark.parametrize(
    ("volume", "service", "words"),
    [
        (
            vol("gp2", 16_385),
            "ebs",
            ["volume.size_gib", "16,385", "nearest allowed value is 16,384"],
        ),
        (vol("gp2", 100, 3_000), "ebs", ["volume.iops", "this size has 300", "leave it out"]),
        (vol("gp3", 100, 2_000), "ebs", ["volume.iops", "nearest allowed value is 3,000"]),
        (vol("gp3", 10, 6_000), "ebs", ["volume.iops", "nearest allowed value is 5,000"]),
        (vol("gp3", 1_000, 90_000), "ebs", ["nearest allowed value is 80,000"]),
        (vol("gp3", 100, None, 100), "ebs", ["volume.throughput_mib_s", "is 125"]),
        (vol("gp3", 100, None, 1_000), "ebs", ["volume.throughput_mib_s", "is 750"]),
        (vol("gp3", 1_000, 20_000, 3_000), "ebs", ["at 20,000 IOPS", "is 2,000"]),
        (vol("io1", 100), "ebs", ["volume.iops", "needs a value from 100 to 5,000"]),
        (vol("io1", 100, 6_000), "ebs", ["nearest allowed value is 5,000"]),
        (vol("io1", 100, 5_000, 500), "ebs", ["volume.throughput_mib_s", "leave it out"]),
        (vol("io2", 4, 5_000), "ebs", ["nearest allowed value is 4,000"]),
        (vol("nvme", 100, 5_000), "ebs", ["volume.iops", "leave it out"]),
        (vol("gp3", 19), "rds-mysql", ["volume.size_gib", "is 20"]),
        (vol("gp3", 399, 12_000), "rds-mysql", ["this size has 3,000", "leave it out"]),
        (vol("gp3", 399, None, 500), "rds-mysql", ["volume.throughput_mib_s", "leave it out"]),
        (vol("gp3", 400, 3_000), "rds-mysql", ["nearest allowed value is 12,000"]),
        (vol("gp3", 400, 40_000, 600), "rds-mariadb", ["at 40,000 IOPS", "is 625"]),
        (vol("io1", 20, 1_000), "rds-mysql", ["volume.size_gib", "is 100"]),
        (vol("io1", 65_536, 30_000), "rds-mysql", ["nearest allowed value is 32,768"]),
        (vol("nvme", 100), "rds-mysql", ["volume.type", "gp2, gp3, io1, io2"]),
    ],
)
def test_what_aws_would_refuse_is_refused_with_the_nearest_allowed_value(
    volume: Volume, service: Service, words: list[str]
) -> None:
    with pytest.raises(UsageError) as refusal:
        require_valid_volume(volume, service=service)
    for word in words:
        assert word in str(refusal.value)


def _ec2_documentation(shape: str, member: str) -> str:
    data = Path(botocore.__file__).parent / "data/ec2/2016-11-15/service-2.json.gz"
    model: dict[str, Any] = json.loads(gzip.decompress(data.read_bytes()))
    text = model["shapes"][shape]["members"][member]["documentation"]
    return re.sub(r"<[^>]+>", "", text)


@pytest.mark.parametrize("volume_type", ["gp2", "gp3", "io1", "io2"])
def test_sizes_agree_with_the_ec2_api(volume_type: str) -> None:
    text = _ec2_documentation("CreateVolumeRequest", "Size")
    found = re.search(rf"{volume_type}:\s*([\d,]+)\s*-\s*([\d,]+)", text)
    assert found
    rows = size_bands("ebs", volume_type)
    documented = tuple(int(number.replace(",", "")) for number in found.groups())
    assert (rows[0].min_gib, rows[-1].max_gib) == documented


@pytest.mark.parametrize("volume_type", ["gp3", "io1", "io2"])
def test_iops_agree_with_the_ec2_api(volume_type: str) -> None:
    text = _ec2_documentation("EbsBlockDevice", "Iops")
    found = re.search(rf"{volume_type}:\s*([\d,]+)\s*-\s*([\d,]+)", text)
    assert found
    (row,) = size_bands("ebs", volume_type)
    documented = tuple(int(number.replace(",", "")) for number in found.groups())
    assert (row.min_iops, row.max_iops) == documented


def test_throughput_agrees_with_the_ec2_api() -> None:
    found = re.search(
        r"([\d,]+)\s*-\s*([\d,]+)", _ec2_documentation("CreateVolumeRequest", "Throughput")
    )
    assert found
    (row,) = size_bands("ebs", "gp3")
    documented = tuple(int(number.replace(",", "")) for number in found.groups())
    assert (row.min_throughput_mib_s, row.max_throughput_mib_s) == documented
