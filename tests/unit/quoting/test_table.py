"""The built-in prices: complete, dated, sourced; and a deployment's own before them."""

from datetime import date

import pytest
from pydantic import ValidationError

from plimsoll.model.aws import instances
from plimsoll.model.aws.prices import Item, PriceOverrides
from plimsoll.quoting.prices import override_prices, read_builtin_prices

RDS = (
    Item.RDS_MYSQL,
    Item.RDS_MARIADB,
    Item.RDS_POSTGRES,
    Item.AURORA,
    Item.AURORA_IO_OPTIMIZED,
)
VCPUS = {"large": 2, "xlarge": 4} | {f"{n}xlarge": 4 * n for n in (2, 4, 8, 12, 16, 24, 32, 48)}


def test_every_price_has_a_unit_a_date_and_an_address() -> None:
    for price in read_builtin_prices().prices():
        assert price.unit
        assert price.source is not None
        assert price.source.url.startswith("https://")
        assert date(2020, 1, 1) < price.source.as_of <= date(2026, 11, 23)


def test_no_price_is_there_twice() -> None:
    names = [(price.item, price.name) for price in read_builtin_prices().prices()]
    assert sorted(set(names)) == sorted(names)


def test_every_instance_type_that_is_known_has_a_price_on_ec2() -> None:
    priced = {price.name for price in read_builtin_prices().prices((Item.EC2_INSTANCE,))}
    assert priced >= set(instances._TABLE)


@pytest.mark.parametrize(
    ("item", "name", "usd"),
    [
        (Item.RDS_MARIADB, "db.m5.large", 0.171),
        (Item.RDS_MYSQL, "db.r6g.large", 0.215),
        (Item.RDS_POSTGRES, "db.m6g.large", 0.159),
        (Item.RDS_POSTGRES, "db.m5.large", 0.178),  # not MySQL's 0.171
        (Item.AURORA, "db.r6g.large", 0.26),
        (Item.AURORA_IO_OPTIMIZED, "db.r6g.large", 0.338),
        (Item.AURORA_STORAGE, "io-optimized", 0.225),
        (Item.AURORA_IO, "standard", 0.2),
        (Item.RDS_STORAGE, "io1", 0.125),
        (Item.RDS_IOPS, "io1", 0.10),  # not EBS's 0.065
        (Item.RDS_IOPS, "gp3", 0.02),
        (Item.EBS_IOPS, "io2-over-32000", 0.0455),
        (Item.EC2_INSTANCE, "i3.large", 0.156),
        (Item.EC2_INSTANCE, "c6gd.medium", 0.0384),
        (Item.LAMBDA, "arm64-duration", 0.0000133334),
    ],
)
def test_prices_that_a_reader_can_look_up(item: Item, name: str, usd: float) -> None:
    assert read_builtin_prices().price(item, name).usd == usd


def test_sizes_that_were_not_read_follow_the_others_of_their_family() -> None:
    for item in RDS:
        found = {price.name: price.usd for price in read_builtin_prices().prices((item,))}
        for name, usd in found.items():
            _, family, size = name.split(".")
            if size in VCPUS:
                large = found[f"db.{family}.large"]
                assert large is not None
                assert usd == pytest.approx(large * VCPUS[size] / 2, rel=0.003), name


def test_io_optimized_costs_three_tenths_more_than_standard_by_the_hour() -> None:
    standard, optimized = (
        {price.name: price.usd for price in read_builtin_prices().prices((item,))}
        for item in (Item.AURORA, Item.AURORA_IO_OPTIMIZED)
    )
    assert set(standard) == set(optimized)
    for name, usd in standard.items():
        assert usd is not None
        assert optimized[name] == pytest.approx(1.3 * usd, rel=0.001), name


def test_a_price_without_a_source_is_null_and_so_is_one_that_is_not_listed() -> None:
    assert read_builtin_prices().price(Item.INFLUXDB, "db.influx.medium").usd is None
    assert read_builtin_prices().price(Item.RDS_MYSQL, "db.m8g.large").usd is None


def test_a_deployments_own_price_stands_before_the_built_in_one() -> None:
    own = PriceOverrides.model_validate(
        {"as_of": "2026-11-01", "source": "our contract", "usd": {"rds-iops": {"io1": 0.08}}}
    )
    table = override_prices(own)
    price = table.price(Item.RDS_IOPS, "io1")
    assert (price.usd, price.unit) == (0.08, "IOPS-month")
    assert price.source is not None
    assert (price.source.what, price.source.as_of) == ("our contract", date(2026, 11, 1))
    assert table.price(Item.RDS_IOPS, "gp3").usd == 0.02


def test_another_region_has_its_own_prices_only() -> None:
    own = PriceOverrides.model_validate(
        {"region": "eu-west-1", "as_of": "2026-11-01", "usd": {"rds-iops": {"io1": 0.11}}}
    )
    table = override_prices(own)
    assert table.region == "eu-west-1"
    assert table.price(Item.RDS_IOPS, "io1").usd == 0.11
    assert table.price(Item.RDS_STORAGE, "io1").usd is None
    nothing = override_prices(PriceOverrides(region="eu-west-1"))
    assert list(nothing.prices()) == []


def test_prices_without_a_date_are_refused() -> None:
    with pytest.raises(ValidationError, match="as_of"):
        PriceOverrides.model_validate({"usd": {"rds-iops": {"io1": 0.08}}})
