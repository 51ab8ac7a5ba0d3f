"""The cheapest volume of each type that carries a load, by the rules of RDS and EBS."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.aws.volumes import AwsVolumeType, Service, Volume, limits, require_valid_volume
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.sizing.offers import list_ladders, price_monthly


def carrying(iops: float, mib_s: float = 0, *, service: Service) -> Callable[[Volume], bool]:
    """Carries where the volume lets through so much for good."""

    def carries(volume: Volume) -> bool:
        promised = limits(volume, service=service)
        assert promised.baseline_iops is not None
        assert promised.throughput_mib_s is not None
        return promised.baseline_iops >= iops and promised.throughput_mib_s >= mib_s

    return carries


def found(
    kind: AwsVolumeType, iops: float, mib_s: float = 0, *, least: int = 100, service: Service
) -> list[Volume | None]:
    carries = carrying(iops, mib_s, service=service)
    return [ladder.find_smallest(carries) for ladder in list_ladders(service, kind, least)]


@pytest.mark.parametrize(
    ("kind", "iops", "least_gib", "volumes"),
    [
        # 50 IOPS for each GiB: 5,600 need 112; from 400 GiB on there is a row of its own
        ("io1", 5_560, 100, [(112, 5_600), (400, 5_600)]),
        ("io1", 900, 100, [(100, 1_000), (400, 1_000)]),
        ("io1", 60_000, 100, [None, (1_200, 60_000)]),
        ("io1", 300_000, 100, [None, None]),
        ("io2", 5_560, 100, [(100, 5_600)]),
        ("io2", 5_560, 200, [(200, 5_600)]),
        # below 400 GiB 3,000 and no more; above it 12,000 at least
        ("gp3", 2_000, 100, [(100, None), (400, None)]),
        ("gp3", 5_560, 100, [None, (400, None)]),
        ("gp3", 12_050, 100, [None, (400, 12_100)]),
        ("gp2", 2_000, 100, [(667, None)]),  # 3 for each GiB
    ],
)
def test_the_least_volume_that_carries_it(
    kind: AwsVolumeType,
    iops: float,
    least_gib: int,
    volumes: list[tuple[int, int | None] | None],
) -> None:
    volumes_found = found(kind, iops, least=least_gib, service="rds-mariadb")
    assert [None if v is None else (v.size_gib, v.iops) for v in volumes_found] == volumes


def test_throughput_is_bought_where_it_binds() -> None:
    small, large = found("gp3", 5_000, 700, service="rds-mariadb")
    assert small is None
    assert large is not None
    assert (large.size_gib, large.throughput_mib_s) == (400, 700)


def test_on_ebs_gp3_is_provisioned_at_every_size() -> None:
    (volume,) = found("gp3", 5_560, service="ebs")
    assert volume is not None
    assert (volume.size_gib, volume.iops) == (100, 5_600)


@given(
    st.sampled_from(["gp2", "gp3", "io1", "io2"]),
    st.integers(100, 60_000),
    st.integers(100, 60_000),
    st.integers(100, 2_000),
)
def test_what_is_proposed_can_be_had_and_more_never_costs_less(
    kind: AwsVolumeType, one: int, other: int, least_gib: int
) -> None:
    def cheapest(iops: int) -> float:
        usd = []
        for volume in found(kind, iops, least=least_gib, service="rds-mariadb"):
            if volume is not None:
                require_valid_volume(volume, service="rds-mariadb")
                target = RdsTarget(
                    engine="mariadb",
                    engine_version="11.4",
                    instance_class="db.m5.large",
                    volume=volume,
                )
                usd.append(price_monthly(target, read_builtin_prices()).usd or 0.0)
        return min(usd, default=float("inf"))

    assert cheapest(min(one, other)) <= cheapest(max(one, other))
