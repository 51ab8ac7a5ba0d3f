"""AWS's own price list, read through the Price List API (boto3's `pricing`).

The rules use the same usage types and attributes as other public readers of the list (infracost's
internal/resources/aws, 2026-08-21). Outside us-east-1, usage types begin with the region's code
(`EUC1-RDS:GP3-Storage`). If a price has tiers, the dearest one is taken, so that free tiers do not
count.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from plimsoll.errors import PlimsollError
from plimsoll.model.aws.prices import Item, PriceOverrides

API_REGION = "us-east-1"  # three regions have the API, and each knows every region's prices
SOURCE = "AWS Price List API"
# conversion of the list's units to ours: some give throughput per GiB/s, Aurora's I/Os per one
_OURS: Mapping[str, float] = {"gibps-mo": 1 / 1024, "gbps-mo": 1 / 1024, "ios": 1e6}


@dataclass(frozen=True)
class Rule:
    """How to find a price in the list.

    Attributes:
        item: What the price is for.
        service: The code that AWS has for the service.
        usage: A regular expression for the usage type, without the region's code.
        name: The name in our price table; None to use the product's instance type.
        family: The product family; None for products that have none.
        filters: Further attributes of the product.
    """

    item: Item
    service: str
    usage: str
    name: str | None
    family: str | None
    filters: Mapping[str, str] = field(default_factory=dict)


_SINGLE = {"deploymentOption": "Single-AZ"}
_AURORA = {"databaseEngine": "Aurora PostgreSQL"}  # Aurora MySQL's classes cost the same
_LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}


def _make_rds_rule(item: Item, usage: str, name: str, family: str) -> Rule:
    return Rule(item, "AmazonRDS", usage, name, family, _SINGLE)


def _make_ebs_rule(item: Item, usage: str, name: str, family: str) -> Rule:
    return Rule(item, "AmazonEC2", usage, name, family)


RULES = (
    *(
        Rule(
            item,
            "AmazonRDS",
            r"InstanceUsage:db\..*",
            None,
            "Database Instance",
            {**_SINGLE, "databaseEngine": engine},
        )
        for item, engine in (
            (Item.RDS_MYSQL, "MySQL"),
            (Item.RDS_MARIADB, "MariaDB"),
            (Item.RDS_POSTGRES, "PostgreSQL"),
        )
    ),
    *(
        Rule(item, "AmazonRDS", rf"{usage}:db\..*", None, "Database Instance", _AURORA)
        for item, usage in (
            (Item.AURORA, "InstanceUsage"),
            (Item.AURORA_IO_OPTIMIZED, "InstanceUsageIOOptimized"),
        )
    ),
    Rule(Item.AURORA_STORAGE, "AmazonRDS", "Aurora:StorageUsage", "standard", "Database Storage"),
    Rule(
        Item.AURORA_STORAGE,
        "AmazonRDS",
        "Aurora:IO-OptimizedStorageUsage",
        "io-optimized",
        "Database Storage",
    ),
    Rule(Item.AURORA_IO, "AmazonRDS", "Aurora:StorageIOUsage", "standard", "System Operation"),
    _make_rds_rule(Item.RDS_STORAGE, "RDS:GP2-Storage", "gp2", "Database Storage"),
    _make_rds_rule(Item.RDS_STORAGE, "RDS:GP3-Storage", "gp3", "Database Storage"),
    _make_rds_rule(Item.RDS_STORAGE, "RDS:PIOPS-Storage", "io1", "Database Storage"),
    _make_rds_rule(
        Item.RDS_STORAGE,
        "RDS:(IO2-PIOPS-Storage|PIOPS-Storage-IO2)",
        "io2",
        "Database Storage",
    ),
    _make_rds_rule(Item.RDS_IOPS, "RDS:GP3-PIOPS", "gp3", "Provisioned IOPS"),
    _make_rds_rule(Item.RDS_IOPS, "RDS:PIOPS", "io1", "Provisioned IOPS"),
    _make_rds_rule(Item.RDS_IOPS, "RDS:IO2-PIOPS", "io2", "Provisioned IOPS"),
    _make_rds_rule(Item.RDS_THROUGHPUT, "RDS:GP3-Throughput", "gp3", "Provisioned Throughput"),
    Rule(Item.RDS_SNAPSHOT, "AmazonRDS", "RDS:ChargedBackupUsage", "standard", "Storage Snapshot"),
    *(
        # MySQL8.0, PostgreSQL13, AuroraMySQL3; Serverless v2 has prices of its own by the ACU
        Rule(
            Item.RDS_EXTENDED_SUPPORT,
            "AmazonRDS",
            rf"ExtendedSupport:{usage}:(Aurora)?(MySQL|PostgreSQL)[\d.]+",
            name,
            None,
            {"extendedSupportPricingYear": years},
        )
        for name, usage, years in (
            ("years-1-and-2", "Yr1-Yr2", "Year 1, Year 2"),
            ("year-3", "Yr3", "Year 3"),
        )
    ),
    _make_ebs_rule(Item.EBS_SNAPSHOT, "EBS:SnapshotUsage", "standard", "Storage Snapshot"),
    Rule(Item.EC2_INSTANCE, "AmazonEC2", "BoxUsage:.*", None, "Compute Instance", _LINUX),
    *(
        _make_ebs_rule(Item.EBS_STORAGE, rf"EBS:VolumeUsage\.{listed}", name, "Storage")
        for name, listed in (("gp2", "gp2"), ("gp3", "gp3"), ("io1", "piops"), ("io2", "io2"))
    ),
    *(
        _make_ebs_rule(Item.EBS_IOPS, rf"EBS:VolumeP-IOPS\.{listed}", name, "System Operation")
        for name, listed in (
            ("gp3", "gp3"),
            ("io1", "piops"),
            ("io2", "io2"),
            ("io2-over-32000", r"io2\.tier2"),
            ("io2-over-64000", r"io2\.tier3"),
        )
    ),
    _make_ebs_rule(
        Item.EBS_THROUGHPUT, r"EBS:VolumeP-Throughput\.gp3", "gp3", "Provisioned Throughput"
    ),
    Rule(
        Item.LAMBDA,
        "AWSLambda",
        ".*GB-Second.*",
        "arm64-duration",
        "Serverless",
        {"group": "AWS-Lambda-Duration-ARM"},
    ),
    Rule(
        Item.LAMBDA,
        "AWSLambda",
        ".*Request.*",
        "request",
        "Serverless",
        {"group": "AWS-Lambda-Requests-ARM"},
    ),
    Rule(
        Item.STEP_FUNCTIONS, "AmazonStates", "StateTransition", "transition", "AWS Step Functions"
    ),
    *(
        Rule(
            Item.DYNAMODB,
            "AmazonDynamoDB",
            f".*{units}",
            name,
            "Amazon DynamoDB PayPerRequest Throughput",
            {"group": group},
        )
        for name, group, units in (
            ("write", "DDB-WriteUnits", "WriteRequestUnits"),
            ("read", "DDB-ReadUnits", "ReadRequestUnits"),
        )
    ),
    Rule(Item.S3, "AmazonS3", "Requests-Tier1", "put", "API Request"),
    Rule(Item.S3, "AmazonS3", "Requests-Tier2", "get", "API Request"),
    Rule(Item.CLOUDWATCH, "AmazonCloudWatch", "CW:GMD-Metrics", "metric", "Metric"),
    Rule(Item.SECRETS_MANAGER, "AWSSecretsManager", ".*Secrets", "secret", "Secret"),
    Rule(Item.VPC_ENDPOINT, "AmazonVPC", "VpcEndpoint-Hours", "interface", "VpcEndpoint"),
)


def read_prices(client: Any, region: str, *, today: date) -> PriceOverrides:
    """Read a region's prices, in the form that `quoting/prices.py` takes.

    Args:
        client: A client of the Price List API.
        region: The region, such as eu-west-1.
        today: The date that the prices get.

    Raises:
        PlimsollError: The list has no price for this region.
    """
    prices: dict[Item, dict[str, float]] = {}
    for rule in RULES:
        for name, usd in _find_prices(client, rule, region):
            by_name = prices.setdefault(rule.item, {})
            by_name[name] = max(usd, by_name.get(name, 0.0))
    if not prices:
        raise PlimsollError(f"--region {region}: the Price List has no prices for it")
    return PriceOverrides(region=region, as_of=today, source=SOURCE, usd=prices)


def keep_instances(prices: PriceOverrides, names: tuple[str, ...]) -> PriceOverrides:
    """Drop the prices of all instances except the named ones."""
    instances = {
        Item.RDS_MYSQL,
        Item.RDS_MARIADB,
        Item.RDS_POSTGRES,
        Item.AURORA,
        Item.AURORA_IO_OPTIMIZED,
        Item.EC2_INSTANCE,
    }
    kept = {
        item: {name: usd for name, usd in named.items() if item not in instances or name in names}
        for item, named in prices.usd.items()
    }
    return prices.model_copy(update={"usd": {item: named for item, named in kept.items() if named}})


def _find_prices(client: Any, rule: Rule, region: str) -> Iterator[tuple[str, float]]:
    """Yield the name and the price, in US dollars, of each product that a rule finds."""
    wanted = {"regionCode": region, **rule.filters}
    if rule.family is not None:
        wanted["productFamily"] = rule.family
    filters: list[Any] = [
        {"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in wanted.items()
    ]
    usage = re.compile(rf"(?:[A-Z0-9]+-)?(?:{rule.usage})")
    pages = client.get_paginator("get_products").paginate(
        ServiceCode=rule.service, Filters=filters, FormatVersion="aws_v1"
    )
    for page in pages:
        for text in page["PriceList"]:
            listed = json.loads(text)
            attributes = listed["product"]["attributes"]
            if usage.fullmatch(attributes.get("usagetype", "")):
                usd = _find_highest_price_usd(listed)
                name = rule.name or attributes.get("instanceType")
                if usd is not None and name:
                    yield name, usd


def _find_highest_price_usd(listed: Mapping[str, Any]) -> float | None:
    """Return the highest of a product's on-demand prices; None if none is above 0."""
    usd = [
        float(dimension["pricePerUnit"].get("USD", 0)) * _OURS.get(dimension["unit"].lower(), 1)
        for term in listed["terms"].get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
    ]
    return max(usd, default=0.0) or None
