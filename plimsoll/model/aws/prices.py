"""Prices as data: what AWS charges for the parts of a run, each with its unit, date and source.

The built-in table (`plimsoll.prices`) is that of us-east-1. A price that nobody could source is
null: whatever is computed with it is null too, never 0, and says what it lacks.
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
    """What is charged. The names within an item are classes, volume types, or the kind of use."""

    RDS_MYSQL = "rds-mysql"  # single-AZ; by class, hour
    RDS_MARIADB = "rds-mariadb"
    RDS_POSTGRES = "rds-postgres"
    RDS_STORAGE = "rds-storage"  # by type, GiB-month
    RDS_IOPS = "rds-iops"  # by type, IOPS-month
    RDS_THROUGHPUT = "rds-throughput"  # by type, MiB/s-month
    RDS_SNAPSHOT = "rds-snapshot"  # GiB-month
    AURORA = "aurora"  # on Standard storage; by class, hour
    AURORA_IO_OPTIMIZED = "aurora-io-optimized"
    AURORA_STORAGE = "aurora-storage"  # by kind of storage, GiB-month
    AURORA_IO = "aurora-io"  # of Standard storage, by the million
    EC2_INSTANCE = "ec2-instance"  # Linux, on demand; by type, hour
    EBS_STORAGE = "ebs-storage"
    EBS_IOPS = "ebs-iops"
    EBS_THROUGHPUT = "ebs-throughput"
    EBS_SNAPSHOT = "ebs-snapshot"  # GiB-month
    LAMBDA = "lambda"
    STEP_FUNCTIONS = "step-functions"
    DYNAMODB = "dynamodb"  # on demand
    S3 = "s3"
    CLOUDWATCH = "cloudwatch"  # by metric that GetMetricData is asked for
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
    primary: bool = True  # AWS itself


class Price(Model):
    """One price."""

    item: Item
    name: str
    usd: Usd | None  # for one unit; None: not known
    unit: str
    source: Source | None


class Group(Model):
    """Prices of one unit and source."""

    items: tuple[Item, ...]
    unit: str
    source: str
    usd: dict[str, Usd | None]


class PriceOverrides(Model):
    """A deployment's own prices: `plimsoll.prices`; `plimsoll prices` writes it."""

    region: RegionName = HOME_REGION
    as_of: date | None = None
    source: Annotated[str, Field(max_length=200)] = "cdk.json"
    usd: dict[Item, dict[str, Usd]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _dated(self) -> Self:
        if self.usd and self.as_of is None:
            raise ValueError("`as_of` is missing: on which day were these prices read?")
        return self

    @property
    def as_json(self) -> str:
        """What functions are told."""
        return json.dumps(
            self.model_dump(mode="json", exclude_defaults=True), separators=(",", ":")
        )


class PriceTable(Model):
    """The prices of one region."""

    region: RegionName
    sources: dict[str, Source]
    groups: tuple[Group, ...]

    def price(self, item: Item, name: str) -> Price:
        """Find a price; one that is not in the table has `usd` None."""
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
        """Give the unit of a price, or of its item's others."""
        prices = [price for price in self.prices((item,)) if price.name == name]
        prices = prices or list(self.prices((item,)))
        return prices[0].unit if prices else ""

    def overridden(self, overrides: PriceOverrides) -> "PriceTable":
        """Put a deployment's own prices before these; those of another region stand alone."""
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
