"""Volumes of other clouds: which exist, and what each promises."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.aws.volumes import Volume, limits, require_valid_volume
from plimsoll.model.clouds.volume_rules import MB, RULES
from plimsoll.model.request.descriptions import describe_volume
from plimsoll.model.validation import validate


def vol(**fields: Any) -> Volume:
    return validate(Volume, fields)


@pytest.mark.parametrize(
    ("fields", "iops", "mb_s"),
    [  # by hand, from the documents that plimsoll/model/clouds/volume_rules.py names
        ({"type": "essd", "level": "PL0", "size_gib": 100}, 3_000, 125),
        ({"type": "essd", "level": "PL0", "size_gib": 1_000}, 10_000, 180),
        ({"type": "essd", "level": "PL1", "size_gib": 400}, 21_800, 320),
        ({"type": "essd", "level": "PL1", "size_gib": 964}, 50_000, 350),
        ({"type": "essd", "level": "PL2", "size_gib": 461}, 24_850, 350.5),
        ({"type": "essd", "level": "PL3", "size_gib": 1_261}, 64_850, 750.5),
        ({"type": "essd-autopl", "size_gib": 10}, 3_000, 125),
        ({"type": "essd-autopl", "size_gib": 40, "iops": 5_000}, 8_800, 140 + 78.125),
        ({"type": "essd-autopl", "size_gib": 40, "burst": True}, 40_000, 625),
        ({"type": "premium-essd", "size_gib": 400}, 21_800, 320),
        ({"type": "premium-essd", "size_gib": 400, "burst": True}, 1_000_000, 4_000),
    ],
)
def test_alibabas_disks_follow_their_formulas(
    fields: dict[str, Any], iops: float, mb_s: float
) -> None:
    asked = vol(cloud="alibaba", **fields)
    require_valid_volume(asked)
    got = limits(asked)
    assert (got.baseline_iops, got.burst_iops, got.burst_credits) == (iops, iops, None)
    assert got.throughput_mib_s == pytest.approx(mb_s * MB)


@pytest.mark.parametrize(
    ("fields", "iops", "mb_s"),
    [
        ({"type": "premium-ssd", "size_gib": 1_024}, 5_000, 200),
        ({"type": "premium-ssd", "size_gib": 513}, 5_000, 200),  # a P30, whatever its size
        ({"type": "premium-ssd-v2", "size_gib": 4}, 3_000, 125),
        ({"type": "premium-ssd-v2", "size_gib": 8, "iops": 4_000}, 4_000, 125),
        (
            {"type": "premium-ssd-v2", "size_gib": 160, "iops": 80_000, "throughput_mb_s": 2_000},
            80_000,
            2_000,
        ),
        ({"type": "ultra", "size_gib": 8, "iops": 8_000, "throughput_mb_s": 2_000}, 8_000, 2_000),
    ],
)
def test_azures_disks_follow_their_tables(fields: dict[str, Any], iops: float, mb_s: float) -> None:
    asked = vol(cloud="azure", **fields)
    require_valid_volume(asked)
    got = limits(asked)
    assert (got.baseline_iops, got.burst_iops, got.burst_credits) == (iops, iops, None)
    assert got.throughput_mib_s == pytest.approx(mb_s * MB)


def test_a_small_premium_ssd_bursts_for_half_an_hour() -> None:
    got = limits(vol(cloud="azure", type="premium-ssd", size_gib=128))
    assert (got.baseline_iops, got.burst_iops) == (500, 3_500)
    assert got.burst_credits == 3_000 * 1_800
    assert (got.throughput_mib_s, got.burst_throughput_mib_s) == pytest.approx((100 * MB, 170 * MB))


@pytest.mark.parametrize(
    ("fields", "iops", "mib_s"),
    [
        ({"type": "pd-balanced", "size_gib": 1_000}, 6_000, 280),
        ({"type": "pd-ssd", "size_gib": 500}, 15_000, 240),
        ({"type": "pd-ssd", "size_gib": 5_000}, 100_000, 1_200),
        ({"type": "hyperdisk-balanced", "size_gib": 100}, 3_000, 140),
        (
            {
                "type": "hyperdisk-balanced",
                "size_gib": 100,
                "iops": 16_000,
                "throughput_mib_s": 500,
            },
            16_000,
            500,
        ),
        ({"type": "hyperdisk-extreme", "size_gib": 64, "iops": 10_000}, 10_000, 2_500),
        ({"type": "hyperdisk-extreme", "size_gib": 300, "iops": 350_000}, 350_000, 5_000),
    ],
)
def test_googles_disks_follow_their_tables(
    fields: dict[str, Any], iops: float, mib_s: float
) -> None:
    asked = vol(cloud="google", **fields)
    require_valid_volume(asked)
    got = limits(asked)
    assert (got.baseline_iops, got.throughput_mib_s) == (iops, mib_s)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"cloud": "alibaba", "type": "essd"}, "level: essd needs a level"),
        ({"cloud": "alibaba", "type": "essd-autopl", "level": "PL1"}, "has no levels"),
        ({"type": "essd", "level": "PL1"}, "write `cloud: alibaba`"),
        ({"cloud": "azure", "type": "gp3"}, "type: Azure has no gp3"),
        ({"type": "gp3", "burst": True}, "burst: AWS has no such option"),
        ({"cloud": "alibaba", "type": "essd", "level": "PL3"}, "nearest allowed value is 1,261"),
        ({"cloud": "azure", "type": "ultra"}, "iops: ultra of 100 GiB needs a value"),
        ({"cloud": "azure", "type": "premium-ssd-v2", "throughput_mib_s": 200}, "counts MB/s"),
        ({"cloud": "google", "type": "pd-ssd", "iops": 9_000}, "(this size has 3,000)"),
        ({"cloud": "azure", "type": "premium-ssd", "burst": True}, "burst by credits"),
        (
            {"cloud": "azure", "type": "premium-ssd-v2", "throughput_mb_s": 800},
            "at 3,000 IOPS; the nearest allowed value is 750",
        ),
        (
            {"cloud": "alibaba", "type": "essd-autopl", "iops": 99_000},
            "the nearest allowed value is 50,000",
        ),
    ],
)
def test_what_a_cloud_would_refuse_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        require_valid_volume(vol(size_gib=100, **fields))
    assert sentence in str(refused.value)


def test_every_rule_has_source_and_date() -> None:
    for rule in RULES.values():
        assert rule.source.startswith("https://")
        assert rule.as_of.year >= 2023
        low, assumed, high = rule.latency_us
        assert low < assumed < high


def test_a_volume_of_aws_is_written_as_ever() -> None:
    assert set(Volume(type="gp3", size_gib=100).model_dump()) == {
        "type",
        "size_gib",
        "iops",
        "throughput_mib_s",
        "credits_start",
    }


def test_a_volume_of_another_cloud_is_described() -> None:
    asked = vol(cloud="alibaba", type="essd", level="PL1", size_gib=400)
    assert describe_volume(asked) == "essd PL1 400 GiB"
