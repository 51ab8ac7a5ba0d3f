"""Prices of other clouds: the built-in table, files with further ones, and their age."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import HOURS_PER_MONTH
from plimsoll.model.base import Model
from plimsoll.model.clouds.volume_rules import Cloud
from plimsoll.quoting.prices import read_builtin_prices

Amount = Annotated[float, Field(ge=0)]
CloudItem = Literal[
    "machine",
    "disk",  # a disk of a fixed size, named "premium-ssd 128"
    "storage",
    "iops",
    "throughput",
    "managed-vcpu",
    "managed-memory",
    "managed-storage",
]
YEAR_DAYS = 365
_RATE = re.compile(r"([A-Z]{3})=(\d{1,9}(?:\.\d{1,9})?)", re.ASCII)


class CloudSource(Model):
    """Where prices of another cloud were read."""

    what: str
    url: str
    as_of: date | None  # None if the text has no date
    primary: bool  # whether the cloud itself published it


class CloudPriceGroup(Model):
    """Prices that share cloud, region, item, unit, currency and source."""

    cloud: Cloud
    region: str
    item: CloudItem
    unit: str
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    source: str
    amounts: dict[str, Amount | None]  # None if no source was found


@dataclass(frozen=True)
class CloudPrice:
    """One price as published.

    Attributes:
        amount: The amount per unit; None if not known.
        unit: The unit.
        currency: The currency.
        region: The region.
        as_of: The day of its source; None if that has no date, or if there is no price.
    """

    amount: float | None
    unit: str = ""
    currency: str = "USD"
    region: str = ""
    as_of: date | None = None

    @property
    def per_month(self) -> float | None:
        """The amount for a month of 730 hours."""
        if self.amount is None:
            return None
        return self.amount * (HOURS_PER_MONTH if self.unit.endswith("hour") else 1.0)


class CloudPrices(Model):
    """A table of prices; the first that has a name counts."""

    sources: dict[str, CloudSource]
    prices: tuple[CloudPriceGroup, ...]

    @model_validator(mode="after")
    def _names_sources(self) -> Self:
        for group in self.prices:
            if group.source not in self.sources:
                raise ValueError(f"{group.source!r} is not among the sources")
        return self

    def find(self, cloud: Cloud, item: CloudItem, name: str) -> CloudPrice:
        """Return a price; its amount is None if the table does not have it."""
        for group in self.prices:
            if (group.cloud, group.item) == (cloud, item) and name in group.amounts:
                as_of = self.sources[group.source].as_of
                amount = group.amounts[name]
                return CloudPrice(amount, group.unit, group.currency, group.region, as_of)
        return CloudPrice(None)

    def names(self, cloud: Cloud, item: CloudItem) -> Iterator[str]:
        """Yield the names of the prices of an item that are known."""
        for group in self.prices:
            if (group.cloud, group.item) == (cloud, item):
                yield from (name for name, amount in group.amounts.items() if amount is not None)

    def prepend(self, other: "CloudPrices") -> "CloudPrices":
        """Return this table with another one's prices ahead of its own."""
        return CloudPrices(
            sources={**self.sources, **other.sources}, prices=(*other.prices, *self.prices)
        )


@cache
def read_cloud_prices() -> CloudPrices:
    """Read the built-in table."""
    text = resources.files("plimsoll.quoting").joinpath("clouds.json").read_text()
    return CloudPrices.model_validate_json(text)


def convert_to_usd(amount: float, currency: str, rates: Mapping[str, float]) -> float | None:
    """Return an amount in US dollars; None if no rate was given for its currency.

    Args:
        amount: The amount.
        currency: Three letters, such as CNY.
        rates: How many units of a currency a dollar costs.
    """
    if currency == "USD":
        return amount
    return amount / rates[currency] if currency in rates else None


def parse_rate(text: str) -> tuple[str, float]:
    """Parse `--rate CNY=7.1`: how many units of a currency a dollar costs.

    Raises:
        UsageError: It is not such a rate.
    """
    found = _RATE.fullmatch(text)
    rate = float(found[2]) if found else 0.0
    if found is None or not rate:
        raise UsageError(f"--rate: {text!r} is not a rate: write CNY=7.1, the price of a dollar")
    return found[1], rate


def describe_age(as_of: date, today: date) -> str:
    """Say how old a price is: `2025-03-05, 20 months old`."""
    days = (today - as_of).days
    months = round(days / (YEAR_DAYS / 12))
    age = f"{days} days" if months < 2 else f"{months} months"
    return f"{as_of}, {age} old"


def list_old_sources(today: date) -> list[str]:
    """List the sources of the built-in prices that are older than a year, oldest first."""
    old = sorted(
        (as_of, name)
        for name, as_of in _date_sources()
        if as_of is not None and (today - as_of).days > YEAR_DAYS
    )
    return [f"{name} ({as_of})" for as_of, name in old]


def list_undated_sources() -> list[str]:
    """List the sources of the built-in prices whose text has no date."""
    return sorted(name for name, as_of in _date_sources() if as_of is None)


def _date_sources() -> Iterator[tuple[str, date | None]]:
    for name, aws in read_builtin_prices().sources.items():
        yield name, aws.as_of
    for name, other in read_cloud_prices().sources.items():
        yield name, other.as_of
