"""Azure's list prices, from its Retail Prices API, which needs no account.

https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices. The names of
products and meters are those that public readers of the API use (read 2026-11-27): Premium SSD v2
and Ultra Disk by the hour, whose free part has a price of 0; Premium SSD by disk and month.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from plimsoll.errors import PlimsollError
from plimsoll.model.clouds.instances import INSTANCES
from plimsoll.model.clouds.volume_rules import RULES
from plimsoll.quoting.cloud_prices import CloudItem, CloudPriceGroup, CloudPrices, CloudSource

API = "https://prices.azure.com/api/retail/prices"
_PRODUCTS = {"Azure Premium SSD v2": "premium-ssd-v2", "Ultra Disks": "ultra"}
_PARTS: Mapping[str, CloudItem] = {
    "Provisioned Capacity": "storage",
    "Provisioned IOPS": "iops",
    "Provisioned Throughput (MBps)": "throughput",
}
_UNITS: Mapping[CloudItem, str] = {
    "storage": "GiB-hour",
    "iops": "IOPS-hour",
    "throughput": "MB/s-hour",
    "disk": "month",
    "machine": "hour",
}
_TIER = re.compile(r"(P\d+) LRS Disk")
_TIERS = tuple(f"P{number}" for number in (1, 2, 3, 4, 6, 10, 15, 20, 30, 40, 50, 60, 70, 80))
_FILTERS = (
    (
        "serviceName eq 'Storage' and (productName eq 'Azure Premium SSD v2' or productName eq"
        " 'Ultra Disks' or productName eq 'Premium SSD Managed Disks')"
    ),
    "serviceName eq 'Virtual Machines' and ("
    + " or ".join(f"armSkuName eq '{name}'" for name in INSTANCES["azure"])
    + ")",
)


def read_azure_prices(region: str, *, today: date, api: str = API) -> CloudPrices:
    """Read a region's prices of disks, and of the machines that Plimsoll knows.

    Args:
        region: The region, such as eastus.
        today: The date that the prices get.
        api: The address of the API.

    Raises:
        PlimsollError: The list is out of reach, or has no price for the region.
    """
    amounts: dict[CloudItem, dict[str, float | None]] = {}
    for condition in _FILTERS:
        for listed in _list_items(api, f"armRegionName eq '{region}' and {condition}"):
            found = _recognize(listed)
            if found is not None:
                item, name = found
                amounts.setdefault(item, {})[name] = float(listed["retailPrice"])
    if not amounts:
        raise PlimsollError(f"--region {region}: Azure's list has no prices for it")
    source = CloudSource(what="Azure Retail Prices API", url=api, as_of=today, primary=True)
    groups = tuple(
        CloudPriceGroup(
            cloud="azure",
            region=region,
            item=item,
            unit=_UNITS[item],
            currency="USD",
            source="azure-list",
            amounts=named,
        )
        for item, named in amounts.items()
    )
    return CloudPrices(sources={"azure-list": source}, prices=groups)


def _list_items(api: str, condition: str) -> Iterator[dict[str, Any]]:
    address: str | None = f"{api}?{urlencode({'$filter': condition})}"
    while address:
        try:
            with urlopen(address, timeout=60) as answer:  # noqa: S310 - https, or a test's own
                page = json.load(answer)
        except (URLError, ValueError) as error:
            raise PlimsollError(f"Azure's price list: {error}") from error
        yield from page["Items"]
        address = page.get("NextPageLink")


def _recognize(listed: Mapping[str, Any]) -> tuple[CloudItem, str] | None:
    """Return what a row of the list is the price of; None if it is of nothing here."""
    product, meter = listed["productName"], listed["meterName"]
    if listed["type"] != "Consumption" or not listed["retailPrice"]:
        return None
    if product in _PRODUCTS:
        part = next((item for text, item in _PARTS.items() if meter.endswith(text)), None)
        return None if part is None or "LRS" not in meter else (part, _PRODUCTS[product])
    if product == "Premium SSD Managed Disks":
        tier = _TIER.fullmatch(meter)
        if tier is None or tier[1] not in _TIERS:
            return None
        size_gib = RULES["premium-ssd", None].tiers[_TIERS.index(tier[1])][0]
        return "disk", f"premium-ssd {size_gib}"
    words = ("Windows", "Spot", "Low Priority")
    if any(word in f"{product} {meter} {listed['skuName']}" for word in words):
        return None
    return "machine", listed["armSkuName"]
