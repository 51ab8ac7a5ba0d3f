"""Prices of AWS as data: each with its unit, its date and its source.

The built-in table (`plimsoll.prices`) holds the prices of us-east-1. A price without a source is
null. Any amount computed from it is null too, never 0, and says which price is missing.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from plimsoll.model.base import Model

HOURS_PER_MONTH = 730.0  # AWS's own figure in its calculators
HOME_REGION = "us-east-1"

Usd = Annotated[float, Field(ge=0)]
RegionName = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]


class Item(StrEnum):
    """What AWS charges for. An item names its prices by class, volume type or kind of use."""

    RDS_MYSQL = "rds-mysql"  # single-AZ; USD per hour, one price per class
    RDS_MARIADB = "rds-mariadb"
    RDS_POSTGRES = "rds-postgres"
    RDS_STORAGE = "rds-storage"  # USD per GiB-month, one price per volume type
    RDS_IOPS = "rds-iops"  # USD per IOPS-month, one price per volume type
    RDS_THROUGHPUT = "rds-throughput"  # USD per MiB/s-month, one price per volume type
    RDS_SNAPSHOT = "rds-snapshot"  # USD per GiB-month
    RDS_EXTENDED_SUPPORT = "rds-extended-support"  # USD per vCPU-hour, Aurora's too
    AURORA = "aurora"  # on Standard storage; USD per hour, one price per class
    AURORA_IO_OPTIMIZED = "aurora-io-optimized"
    AURORA_STORAGE = "aurora-storage"  # USD per GiB-month, one price per kind of storage
    AURORA_IO = "aurora-io"  # I/Os on Standard storage; USD per million
    EC2_INSTANCE = "ec2-instance"  # Linux, on demand; USD per hour, one price per instance type
    EBS_STORAGE = "ebs-storage"
    EBS_IOPS = "ebs-iops"
    EBS_THROUGHPUT = "ebs-throughput"
    EBS_SNAPSHOT = "ebs-snapshot"  # USD per GiB-month
    OTHER_CLOUD = "other-cloud"  # volumes of other clouds: never in a table of AWS's prices
    LAMBDA = "lambda"
    STEP_FUNCTIONS = "step-functions"
    DYNAMODB = "dynamodb"  # on demand
    S3 = "s3"
    CLOUDWATCH = "cloudwatch"  # USD per metric that GetMetricData returns
    SECRETS_MANAGER = "secrets-manager"
    API_GATEWAY = "api-gateway"
    VPC_ENDPOINT = "vpc-endpoint"
    LIVE_ANALYTICS = "timestream-liveanalytics"
    INFLUXDB = "timestream-influxdb"


class Source(Model):
    """Where prices were read."""

    what: str
    url: str
    as_of: date
    primary: bool = True  # whether AWS itself published it


class Price(Model):
    """The price of one unit of an item."""

    item: Item
    name: str
    usd: Usd | None  # per unit; None if unknown
    unit: str
    source: Source | None

    @property
    def full_name(self) -> str:
        """The item and the name, for people."""
        return f"{self.item} {self.name}"


class Group(Model):
    """Prices that share a unit and a source."""

    items: tuple[Item, ...]
    unit: str
    source: str
    usd: dict[str, Usd | None]


class PriceOverrides(Model):
    """A deployment's own prices, which replace the built-in ones; `plimsoll prices` writes them."""

    region: RegionName = HOME_REGION
    as_of: date | None = None
    source: Annotated[str, Field(max_length=200)] = "cdk.json"
    usd: dict[Item, dict[str, Usd]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _require_date(self) -> Self:
        if self.usd and self.as_of is None:
            raise ValueError("`as_of` is missing: on which day were these prices read?")
        return self

    @property
    def as_json(self) -> str:
        """The overrides as compact JSON, as the settings of the functions hold them."""
        return json.dumps(
            self.model_dump(mode="json", exclude_defaults=True), separators=(",", ":")
        )


class PriceTable(Model):
    """The prices of one region."""

    region: RegionName
    sources: dict[str, Source]
    groups: tuple[Group, ...]

    def price(self, item: Item, name: str) -> Price:
        """Return a price; its `usd` is None if the table does not have it."""
        return next(
            (price for price in self.prices((item,)) if price.name == name),
            Price(item=item, name=name, usd=None, unit="", source=None),
        )

    def prices(self, items: Sequence[Item] = tuple(Item)) -> Iterator[Price]:
        """List the prices of some items."""
        for group in self.groups:
            for item in group.items:
                if item in items:
                    source = self.sources[group.source]
                    for name, usd in group.usd.items():
                        yield Price(item=item, name=name, usd=usd, unit=group.unit, source=source)

    def units(self, item: Item, name: str) -> str:
        """Return the unit of a price, or of another price of the same item; "" if there is none."""
        prices = [price for price in self.prices((item,)) if price.name == name]
        prices = prices or list(self.prices((item,)))
        return prices[0].unit if prices else ""

    def override(self, overrides: PriceOverrides) -> "PriceTable":
        """Return this table with the deployment's prices ahead of its own.

        If the deployment's prices are of another region, they replace the whole table.
        """
        same = overrides.region == self.region
        if not overrides.usd:
            if same:
                return self
            return PriceTable(region=overrides.region, sources={}, groups=())
        assert overrides.as_of is not None  # noqa: S101 - the model demands it with prices
        source = Source(what=overrides.source, url=overrides.source, as_of=overrides.as_of)
        groups = tuple(
            Group(items=(item,), unit=self.units(item, name), source=_OWN, usd={name: usd})
            for item, named in overrides.usd.items()
            for name, usd in named.items()
        )
        return PriceTable(
            region=overrides.region,
            sources={_OWN: source, **(self.sources if same else {})},
            groups=(*groups, *(self.groups if same else ())),
        )


_OWN = "deployment"
