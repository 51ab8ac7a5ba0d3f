"""The ranking of four clouds: the smallest volumes that carry a load, and their price by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.model.aws.volumes import Volume, limits, require_valid_volume
from plimsoll.model.clouds.volume_rules import RULES, CloudVolumeType, Level
from plimsoll.quoting.cloud_prices import read_cloud_prices
from plimsoll.sizing.clouds import find_smallest, list_cloud_charges


def smallest(
    kind: CloudVolumeType, level: Level | None, carries: Callable[[Volume], bool], gib: int = 100
) -> Volume | None:
    rule = RULES[kind, level]
    plain = Volume(cloud=rule.cloud, type=kind, level=level, size_gib=max(gib, rule.min_gib))
    return find_smallest(plain, rule, carries)


def iops_of(volume: Volume) -> float:
    return limits(volume).baseline_iops or 0.0


@pytest.mark.parametrize(
    ("kind", "level", "fields"),
    [
        ("essd", "PL0", {"size_gib": 350}),  # 1,800 + 12 x 350 = 6,000
        ("essd", "PL1", {"size_gib": 100}),
        ("essd-autopl", None, {"size_gib": 100}),
        ("premium-ssd", None, {"size_gib": 2_048}),  # P30 has 5,000
        ("premium-ssd-v2", None, {"size_gib": 100, "iops": 6_000}),
        ("ultra", None, {"size_gib": 100, "iops": 6_000, "throughput_mb_s": 1}),
        ("pd-balanced", None, {"size_gib": 1_000}),
        ("pd-ssd", None, {"size_gib": 200}),
        ("hyperdisk-balanced", None, {"size_gib": 100, "iops": 6_000}),
        ("hyperdisk-extreme", None, {"size_gib": 100, "iops": 6_000}),
    ],
)
def test_the_smallest_volume_with_6000_iops(
    kind: CloudVolumeType, level: Level | None, fields: dict[str, Any]
) -> None:
    found = smallest(kind, level, lambda volume: iops_of(volume) >= 6_000)
    assert found is not None
    require_valid_volume(found)
    if kind == "hyperdisk-extreme":  # steps of 100 IOPS from 200 on
        assert found.iops == 6_000
    told = found.model_dump(exclude_none=True, exclude={"cloud", "type", "level"})
    assert {name: told.get(name) for name in fields} == fields


@pytest.mark.parametrize(("kind", "level"), list(RULES))
def test_what_no_volume_carries_has_none(kind: CloudVolumeType, level: Level | None) -> None:
    assert smallest(kind, level, lambda volume: iops_of(volume) > 2_000_000) is None


@pytest.mark.parametrize(
    ("kind", "mib_s", "field"),
    [("premium-ssd-v2", 286.2, "throughput_mb_s"), ("hyperdisk-balanced", 300, "throughput_mib_s")],
)
def test_throughput_is_provisioned_when_it_is_needed(
    kind: CloudVolumeType, mib_s: float, field: str
) -> None:
    found = smallest(kind, None, lambda volume: (limits(volume).throughput_mib_s or 0) >= mib_s)
    assert found is not None
    assert found.iops is None
    assert getattr(found, field) in {300, 301}


def priced(**fields: Any) -> list[tuple[str, float, float | None]]:
    charges = list_cloud_charges(read_cloud_prices(), Volume.model_validate(fields))
    return [
        (what, quantity, None if price.per_month is None else quantity * price.per_month)
        for what, quantity, price in charges
    ]


def test_a_volume_of_each_cloud_costs_what_the_evidence_says() -> None:
    """The arithmetic of docs/evidence/volumes.md."""
    essd = priced(cloud="alibaba", type="essd", level="PL1", size_gib=400)
    assert [what for what, _, _ in essd] == ["essd PL1 storage, 400 GiB"]
    assert essd[0][2] == pytest.approx(613.2)  # CNY
    premium = priced(cloud="azure", type="premium-ssd", size_gib=300)
    assert premium == [("premium-ssd of 512 GiB", 1, 73.22)]
    ultra = priced(cloud="azure", type="ultra", size_gib=400, iops=6_000, throughput_mb_s=100)
    assert sum(usd or 0 for _, _, usd in ultra) == pytest.approx(47.888 + 297.84 + 34.95)
    ssd = priced(cloud="google", type="pd-ssd", size_gib=400)
    assert [what for what, _, _ in ssd] == ["pd-ssd storage, 400 GiB"]
    assert ssd[0][2] == pytest.approx(68.0)


def test_a_price_without_source_is_none() -> None:
    v2 = priced(cloud="azure", type="premium-ssd-v2", size_gib=400, iops=6_000)
    assert v2 == [
        ("premium-ssd-v2 storage, 400 GiB", 400, None),
        ("3,000 IOPS above 3,000", 3_000, None),
    ]
