"""AWS's list of prices, read from canned answers of its API."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.model.aws.prices import Item
from plimsoll.quoting.price_list import keep_instances, read_prices

TODAY = date(2026, 11, 21)


def product(service: str, family: str, prices: list[tuple[str, str]], **attributes: str) -> Any:
    """One product as GetProducts gives it; `prices` are of its tiers: unit, US dollars."""
    dimensions = {
        f"D{index}": {"unit": unit, "pricePerUnit": {"USD": usd}}
        for index, (unit, usd) in enumerate(prices)
    }
    return {
        "service": service,
        "product": {
            "productFamily": family,
            "attributes": {"regionCode": "eu-central-1", **attributes},
        },
        "terms": {"OnDemand": {"T": {"priceDimensions": dimensions}}},
    }


MYSQL = {"databaseEngine": "MySQL", "instanceType": "db.m6i.large"}
LINUX = {
    "instanceType": "m6i.large",
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
    "usagetype": "EUC1-BoxUsage:m6i.large",
}
AURORA = {
    "databaseEngine": "Aurora PostgreSQL",
    "instanceType": "db.r6g.large",
    "deploymentOption": "Single-AZ",
}
LISTED = [
    *(
        product(
            "AmazonRDS",
            "Database Instance",
            [("Hrs", usd)],
            usagetype=f"EUC1-{usage}:db.r6g.large",
            **AURORA,
        )
        for usage, usd in (("InstanceUsage", "0.313"), ("InstanceUsageIOOptimized", "0.407"))
    ),
    product(
        "AmazonRDS",
        "System Operation",
        [("IOs", "0.00000022")],
        usagetype="EUC1-Aurora:StorageIOUsage",
    ),
    *(
        product("AmazonRDS", "Database Storage", [("GB-Mo", usd)], usagetype=f"EUC1-{usage}")
        for usage, usd in (
            ("Aurora:StorageUsage", "0.119"),
            ("Aurora:IO-OptimizedStorageUsage", "0.268"),
            ("Aurora:IO-OptimizedStorageUsage-LimitlessPreview", "9"),
        )
    ),
    product(
        "AmazonRDS",
        "Database Instance",
        [("Hrs", "0.204")],
        usagetype="EUC1-InstanceUsage:db.m6i.large",
        deploymentOption="Single-AZ",
        **MYSQL,
    ),
    product(
        "AmazonRDS",
        "Database Instance",
        [("Hrs", "0.408")],
        usagetype="EUC1-Multi-AZUsage:db.m6i.large",
        deploymentOption="Multi-AZ",
        **MYSQL,
    ),
    *[
        product(
            "AmazonRDS",
            family,
            [(unit, usd)],
            usagetype=f"EUC1-RDS:{usage}",
            deploymentOption="Single-AZ",
        )
        for family, usage, unit, usd in (
            ("Database Storage", "GP3-Storage", "GB-Mo", "0.137"),
            ("Database Storage", "PIOPS-Storage", "GB-Mo", "0.149"),
            ("Database Storage", "IO2-PIOPS-Storage", "GB-Mo", "0.148"),
            ("Provisioned IOPS", "PIOPS", "IOPS-Mo", "0.119"),
            ("Provisioned IOPS", "GP3-PIOPS", "IOPS-Mo", "0.024"),
        )
    ],
    *(
        product(
            "AmazonRDS",
            "",
            [("vCPU-hour", usd)],
            usagetype=usage,
            extendedSupportPricingYear=years,
        )
        for usage, years, usd in (
            ("EUC1-ExtendedSupport:Yr1-Yr2:MySQL8.0", "Year 1, Year 2", "0.122"),
            ("ExtendedSupport:Yr1-Yr2:AuroraPostgreSQL13", "Year 1, Year 2", "0.122"),
            ("EUC1-ExtendedSupport:Yr3:PostgreSQL11", "Year 3", "0.244"),
            ("EUC1-ExtendedSupport:Yr1-Yr2:ASv2:AuroraPostgreSQL13", "Year 1, Year 2", "9"),
        )
    ),
    product("AmazonEC2", "Compute Instance", [("Hrs", "0.115")], **LINUX),
    product(
        "AmazonEC2",
        "Compute Instance",
        [("Hrs", "0.0000000000")],
        **{**LINUX, "usagetype": "EUC1-Reservation:m6i.large"},
    ),
    product(
        "AmazonEC2",
        "Provisioned Throughput",
        [("GiBps-mo", "49.152")],
        usagetype="EUC1-EBS:VolumeP-Throughput.gp3",
    ),
    product(
        "AmazonStates",
        "AWS Step Functions",
        [("StateTransitions", "0"), ("StateTransitions", "0.000025")],  # the first 4,000 are free
        usagetype="EUC1-StateTransition",
    ),
]


class PriceListApi:
    """Answers GetProducts as AWS does: what matches every filter, in pages."""

    def get_paginator(self, operation: str) -> "PriceListApi":
        assert operation == "get_products"
        return self

    def paginate(self, **asked: Any) -> Iterator[dict[str, list[str]]]:
        wanted = {one["Field"]: one["Value"] for one in asked["Filters"]}
        for listed in LISTED:
            attributes = {
                "productFamily": listed["product"]["productFamily"],
                **listed["product"]["attributes"],
            }
            if listed["service"] == asked["ServiceCode"] and wanted.items() <= attributes.items():
                yield {"PriceList": [json.dumps(listed)]}


def test_prices_are_found_under_their_own_names() -> None:
    found = read_prices(PriceListApi(), "eu-central-1", today=TODAY)
    assert found.usd == {
        Item.RDS_MYSQL: {"db.m6i.large": 0.204},
        Item.AURORA: {"db.r6g.large": 0.313},
        Item.AURORA_IO_OPTIMIZED: {"db.r6g.large": 0.407},
        Item.AURORA_STORAGE: {"standard": 0.119, "io-optimized": 0.268},
        Item.AURORA_IO: {"standard": pytest.approx(0.22)},  # by the million, not by one
        Item.RDS_STORAGE: {"gp3": 0.137, "io1": 0.149, "io2": 0.148},
        Item.RDS_IOPS: {"io1": 0.119, "gp3": 0.024},
        Item.RDS_EXTENDED_SUPPORT: {"years-1-and-2": 0.122, "year-3": 0.244},
        Item.EC2_INSTANCE: {"m6i.large": 0.115},
        Item.EBS_THROUGHPUT: {"gp3": pytest.approx(0.048)},
        Item.STEP_FUNCTIONS: {"transition": 0.000025},
    }
    assert (found.region, found.as_of) == ("eu-central-1", TODAY)
    assert found.source == "AWS Price List API"


def test_only_the_instances_that_are_named_are_kept() -> None:
    found = read_prices(PriceListApi(), "eu-central-1", today=TODAY)
    kept = keep_instances(found, ("m6i.large",))
    assert Item.RDS_MYSQL not in kept.usd
    assert kept.usd[Item.EC2_INSTANCE] == {"m6i.large": 0.115}
    assert kept.usd[Item.RDS_IOPS] == {"io1": 0.119, "gp3": 0.024}


def test_a_region_that_the_list_does_not_know_is_an_error() -> None:
    with pytest.raises(PlimsollError, match="--region mars-north-1"):
        read_prices(PriceListApi(), "mars-north-1", today=TODAY)
