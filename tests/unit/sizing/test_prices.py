"""What a target costs a month, item by item, to the cent of the list."""

from typing import Any

import pytest

from plimsoll.model.aws.prices import HOME_REGION, PriceTable
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.sizing.offers import price_monthly

PASSWORD = 0.40  # a secret, a month


def rds(instance_class: str, engine: str = "mariadb", **volume: Any) -> RdsTarget:
    version = {"mariadb": "11.4", "postgres": "18"}[engine]
    return RdsTarget.model_validate(
        {
            "engine": engine,
            "engine_version": version,
            "instance_class": f"db.{instance_class}",
            "volume": volume,
        }
    )


@pytest.mark.parametrize(
    ("target", "items"),
    [
        # 730 hours at $0.171; 100 GiB at $0.115
        (rds("m5.large", type="gp3", size_gib=100), [124.83, 11.50]),
        # $0.342 an hour; 112 GiB at $0.125; 5,600 IOPS at $0.10
        (rds("m5.xlarge", type="io1", size_gib=112, iops=5600), [249.66, 14.00, 560.00]),
        (rds("m5.xlarge", type="io2", size_gib=100, iops=5600), [249.66, 12.50, 560.00]),
        # 12,000 IOPS and 500 MiB/s are in the price; 500 at $0.02, 100 at $0.08 beyond
        (
            rds("m5.xlarge", type="gp3", size_gib=400, iops=12_500, throughput_mib_s=600),
            [249.66, 46.00, 10.00, 8.00],
        ),
        (rds("m5.large", type="gp2", size_gib=667), [124.83, 76.705]),
        (rds("m5.large", "postgres", type="gp3", size_gib=100), [129.94, 11.50]),
    ],
    ids=lambda value: value.instance_class if isinstance(value, RdsTarget) else "",
)
def test_of_rds(target: RdsTarget, items: list[float]) -> None:
    price = price_monthly(target, read_builtin_prices())
    assert [line.usd for line in price.items] == pytest.approx([*items, PASSWORD])
    assert price.usd == pytest.approx(sum(items) + PASSWORD)


def test_of_cassandra_with_the_tiers_of_io2() -> None:
    """$0.096 an hour; 16 GiB of the system at $0.08; 32,000 IOPS at $0.065, 8,000 at $0.0455."""
    target = CassandraTarget.model_validate(
        {
            "kind": "cassandra",
            "instance_type": "m5.large",
            "volume": {"type": "io2", "size_gib": 100, "iops": 40_000},
        }
    )
    price = price_monthly(target, read_builtin_prices())
    assert [line.usd for line in price.items] == pytest.approx(
        [70.08, 1.28, 12.50, 2080.00, 364.00]
    )


def test_where_a_price_is_missing_there_is_no_sum() -> None:
    nothing = PriceTable(region=HOME_REGION, sources={}, groups=())
    assert price_monthly(rds("m5.large", type="gp3", size_gib=100), nothing).usd is None
