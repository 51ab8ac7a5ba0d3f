"""Prices of other clouds: each with source and date, read from a list, and aged in words."""

import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import ValidationError

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.quoting import azure_prices
from plimsoll.quoting.azure_prices import read_azure_prices
from plimsoll.quoting.cloud_prices import (
    CloudPrices,
    convert_to_usd,
    describe_age,
    list_old_sources,
    list_undated_sources,
    parse_rate,
    read_cloud_prices,
)
from plimsoll.quoting.prices import read_builtin_prices


def test_every_price_has_source_date_and_currency() -> None:
    table = read_cloud_prices()
    for group in table.prices:
        source = table.sources[group.source]
        assert source.url.startswith("https://")
        assert source.what
        assert group.region
        assert group.unit


def test_a_month_has_730_hours() -> None:
    table = read_cloud_prices()
    assert table.find("azure", "machine", "Standard_D2s_v5").per_month == pytest.approx(70.08)
    assert table.find("azure", "disk", "premium-ssd 128").per_month == 19.71
    essd = table.find("alibaba", "storage", "essd PL1")
    assert essd.per_month == pytest.approx(1.533)
    assert essd.currency == "CNY"
    assert table.find("azure", "storage", "premium-ssd-v2").per_month is None
    assert table.find("azure", "storage", "no such disk").per_month is None


@pytest.mark.parametrize(
    ("as_of", "words"),
    [
        (date(2026, 11, 20), "2026-11-20, 7 days old"),
        (date(2025, 3, 5), "2025-03-05, 21 months old"),
    ],
)
def test_a_price_says_its_age(as_of: date, words: str) -> None:
    assert describe_age(as_of, date(2026, 11, 27)) == words


def test_sources_older_than_a_year_are_named() -> None:
    newest = max(
        source.as_of
        for table in (read_cloud_prices(), read_builtin_prices())
        for source in table.sources.values()
        if source.as_of is not None
    )
    oldest = list_old_sources(newest)
    assert any(text.startswith("infracost ") for text in oldest)
    assert not list_old_sources(date(2015, 1, 1))


def test_sources_whose_text_has_no_date_are_named_as_that() -> None:
    assert list_undated_sources() == ["azure-machines", "azure-tiers", "sealos"]


def test_a_rate_converts_a_currency() -> None:
    assert parse_rate("CNY=7.1") == ("CNY", 7.1)
    assert convert_to_usd(71, "CNY", {"CNY": 7.1}) == pytest.approx(10)
    assert convert_to_usd(71, "CNY", {}) is None
    assert convert_to_usd(71, "USD", {}) == 71


@pytest.mark.parametrize(
    "text",
    [
        "7.1", "CNY", "CNY=0", "yuan=7", "CNY=much", "CNY=nan", "CNY=inf", "CNY=1e999", "CNY=1_0",
        "CNY=\N{ARABIC-INDIC DIGIT SEVEN}", "CNY=-1", "CNY=" + "9" * 400,
    ],
)  # fmt: skip
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a rate"):
        parse_rate(text)


def row(product: str, meter: str, usd: float, **more: Any) -> dict[str, Any]:
    return {
        "productName": product,
        "meterName": meter,
        "skuName": "Premium LRS",
        "armSkuName": "",
        "retailPrice": usd,
        "type": "Consumption",
        **more,
    }


V2 = "Azure Premium SSD v2"
MACHINE = {"skuName": "D2s v5", "armSkuName": "Standard_D2s_v5"}
DISKS = [
    row(V2, "Premium LRS Provisioned Capacity", 0.00011),
    row(V2, "Premium LRS Provisioned IOPS", 0.0),  # the first 3,000
    row(V2, "Premium LRS Provisioned IOPS", 0.000007),
    row(V2, "Premium ZRS Provisioned IOPS", 0.5),
    row(V2, "Premium LRS Provisioned Throughput (MBps)", 0.00006),
    row("Premium SSD Managed Disks", "P10 LRS Disk", 19.71),
    row("Premium SSD Managed Disks", "P10 LRS Disk Mount", 1.0),
]
MACHINES = [
    row("Virtual Machines Dsv5 Series", "D2s v5", 0.096, **MACHINE),
    row("Virtual Machines Dsv5 Series Windows", "D2s v5", 0.188, **MACHINE),
    row("Virtual Machines Dsv5 Series", "D2s v5 Spot", 0.02, **MACHINE),
    row("Virtual Machines Dsv5 Series", "D2s v5", 500, **{**MACHINE, "type": "Reservation"}),
]


@contextmanager
def serve(answer: Callable[[str, str], bytes]) -> Iterator[tuple[str, list[str]]]:
    """Serve a list; yield its address, and the paths that were asked for.

    Args:
        answer: Returns a body for the server's own address and the path.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = answer(address, self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # a caller that reads no more closes
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield address, asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer_eastus(address: str, path: str) -> bytes:
    """Answer with the disks of one region on two pages, and its machines."""
    asked = parse_qs(urlsplit(path).query)
    condition = asked.get("$filter", [""])[0]
    page: dict[str, Any] = {"Items": [], "NextPageLink": None, "Count": 1}
    if "second" in asked:
        page["Items"] = DISKS[3:]
    elif "eastus" in condition and "Storage" in condition:
        page |= {"Items": DISKS[:3], "NextPageLink": f"{address}?second=1"}
    elif "eastus" in condition:
        page["Items"] = MACHINES
    return json.dumps(page).encode()


@pytest.fixture
def price_list() -> Iterator[str]:
    with serve(answer_eastus) as (address, _):
        yield address


def test_azures_list_is_read_without_an_account(price_list: str) -> None:
    today = date(2026, 11, 27)
    found = read_azure_prices("eastus", today=today, api=price_list)
    capacity = found.find("azure", "storage", "premium-ssd-v2")
    assert (capacity.amount, capacity.unit, capacity.as_of) == (0.00011, "GiB-hour", today)
    assert found.find("azure", "iops", "premium-ssd-v2").amount == 0.000007
    assert found.find("azure", "throughput", "premium-ssd-v2").amount == 0.00006
    assert found.find("azure", "disk", "premium-ssd 128").amount == 19.71
    assert found.find("azure", "machine", "Standard_D2s_v5").amount == 0.096
    both = read_cloud_prices().prepend(found)
    assert both.find("azure", "storage", "premium-ssd-v2").amount == 0.00011
    assert both.find("google", "storage", "pd-ssd").amount == 0.17


def test_a_region_without_prices_is_told(price_list: str) -> None:
    with pytest.raises(PlimsollError, match="has no prices"):
        read_azure_prices("nowhere", today=date(2026, 11, 27), api=price_list)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x1b[2J",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"Items": 1}',
        b'{"Items": [{}]}',
        b'{"Items": [], "NextPageLink": 7}',
        json.dumps({"Items": [row(V2, "LRS Provisioned IOPS", 1) | {"retailPrice": "1"}]}).encode(),
        json.dumps({"Items": [row(V2, "LRS Provisioned IOPS", 1) | {"retailPrice": -1}]}).encode(),
        json.dumps({"Items": [row(V2, "LRS Provisioned IOPS", math.inf)]}).encode(),
        b'{"Items": [], "NextPageLink": "file:///etc/hostname"}',
        b'{"Items": [], "NextPageLink": "http://127.0.0.2:1/"}',
        b'{"Items": [], "NextPageLink": "//[x"}',
        b" " * (azure_prices.PAGE_BYTES_MAX + 1),
    ],
)
def test_what_is_no_list_of_prices_ends_in_a_line(body: bytes) -> None:
    with serve(lambda *_: body) as (address, _), pytest.raises(PlimsollError) as error:
        read_azure_prices("eastus", today=date(2026, 11, 27), api=address)
    assert str(error.value).startswith("Azure's price list: ")
    assert "\n" not in str(error.value)


def test_a_list_that_does_not_end_is_left() -> None:
    page = json.dumps({"Items": DISKS, "NextPageLink": "HERE"})
    with (
        serve(lambda address, _: page.replace("HERE", address).encode()) as (address, asked),
        pytest.raises(PlimsollError, match="has more than"),
    ):
        read_azure_prices("eastus", today=date(2026, 11, 27), api=address)
    assert len(asked) == azure_prices.PAGES_MAX


def test_a_region_that_would_change_the_question_is_refused() -> None:
    with pytest.raises(UsageError, match='--region: "x\' or 1 eq 1" is not the name of a region'):
        read_azure_prices("x' or 1 eq 1", today=date(2026, 11, 27), api="http://127.0.0.1:1/")


def test_prices_of_a_source_that_is_not_named_are_refused() -> None:
    table = read_cloud_prices().model_dump(mode="json")
    table["sources"].pop(table["prices"][0]["source"])
    with pytest.raises(ValidationError, match="is not among the sources"):
        CloudPrices.model_validate(table)
