"""Azure's list prices, from its Retail Prices API, which needs no account.

https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices. The names of
products and meters are those that public readers of the API use (read 2026-11-27): Premium SSD v2
and Ultra Disk by the hour, whose free part has a price of 0; Premium SSD by disk and month.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from http.client import HTTPException
from typing import Annotated
from urllib.parse import urlencode
from urllib.request import urlopen

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel, to_pascal

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.clouds.instances import INSTANCES
from plimsoll.model.clouds.volume_rules import RULES
from plimsoll.quoting.cloud_prices import CloudItem, CloudPriceGroup, CloudPrices, CloudSource

API = "https://prices.azure.com/api/retail/prices"
PAGES_MAX = 200  # pages of at most 100 prices; a region has about ten
PAGE_BYTES_MAX = 8 * 2**20
_REGION = re.compile(r"[a-z0-9]{1,40}")
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


class _ListedPrice(BaseModel):
    """A row of the list."""

    model_config = ConfigDict(alias_generator=to_camel)

    product_name: str
    meter_name: str
    sku_name: str
    arm_sku_name: str
    type: str
    retail_price: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


class _Page(BaseModel):
    """A page of the list, with the address of the next one."""

    model_config = ConfigDict(alias_generator=to_pascal)

    items: tuple[_ListedPrice, ...]
    next_page_link: str | None = None


def read_azure_prices(region: str, *, today: date, api: str = API) -> CloudPrices:
    """Read a region's prices of disks, and of the machines that Plimsoll knows.

    Args:
        region: The region, such as eastus.
        today: The date that the prices get.
        api: The address of the API.

    Raises:
        UsageError: The region's name is none.
        PlimsollError: The list is out of reach, is not in the API's form, or has no price for the
            region.
    """
    if not _REGION.fullmatch(region):
        raise UsageError(f"--region: {region!r} is not the name of a region of Azure, as eastus")
    amounts: dict[CloudItem, dict[str, float | None]] = {}
    for condition in _FILTERS:
        for listed in _list_items(api, f"armRegionName eq '{region}' and {condition}"):
            found = _recognize(listed)
            if found is not None:
                item, name = found
                amounts.setdefault(item, {})[name] = listed.retail_price
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


def _list_items(api: str, condition: str) -> Iterator[_ListedPrice]:
    address = f"{api}?{urlencode({'$filter': condition})}"
    for _ in range(PAGES_MAX):
        page = _read_page(address)
        yield from page.items
        if page.next_page_link is None:
            return
        address = page.next_page_link
        if not address.startswith(api):
            raise PlimsollError(f"Azure's price list: goes on at {address}, which is not {api}")
    raise PlimsollError(f"Azure's price list: has more than {PAGES_MAX} pages")


def _read_page(address: str) -> _Page:
    try:
        with urlopen(address, timeout=60) as answer:  # noqa: S310 - https, or a test's own
            raw = answer.read(PAGE_BYTES_MAX + 1)
        if len(raw) <= PAGE_BYTES_MAX:
            return _Page.model_validate_json(raw)
    except (OSError, HTTPException) as error:
        raise PlimsollError(f"Azure's price list: {error}") from error
    except ValidationError:
        raise PlimsollError("Azure's price list: the answer is no page of prices") from None
    raise PlimsollError(f"Azure's price list: a page is longer than {PAGE_BYTES_MAX // 2**20} MiB")


def _recognize(listed: _ListedPrice) -> tuple[CloudItem, str] | None:
    """Return what a row of the list is the price of; None if it is of nothing here."""
    product, meter = listed.product_name, listed.meter_name
    if listed.type != "Consumption" or not listed.retail_price:
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
    if any(word in f"{product} {meter} {listed.sku_name}" for word in words):
        return None
    return "machine", listed.arm_sku_name
