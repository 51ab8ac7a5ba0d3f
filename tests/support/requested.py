"""A small run, as a caller asks for it."""

from typing import Any

from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import Quote
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.quoting.quotes import estimate_quote
from plimsoll.requests.checked_request import check_request

REQUESTED: dict[str, Any] = {
    "name": "small",
    "target": {
        "kind": "rds",
        "engine": "mariadb",
        "engine_version": "11.4",
        "instance_class": "db.m5.large",
        "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
    },
    "workload": {"name": "ycsb-a", "records": 1000},
    "search": {"strategy": "steps", "clients": [1, 2]},
}


def quote_request(request: Request, prices: PriceTable | None = None) -> Quote:
    """Estimate what a request takes; without prices, at those that come with Plimsoll."""
    return estimate_quote(check_request(request), prices or read_builtin_prices())
