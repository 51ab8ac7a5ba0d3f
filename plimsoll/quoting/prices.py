"""The price table that comes with Plimsoll, and AWS's own list of prices."""

from functools import cache
from importlib import resources

from plimsoll.model.aws.prices import PriceOverrides, PriceTable


@cache
def builtin() -> PriceTable:
    """Read the table of us-east-1."""
    text = resources.files("plimsoll.quoting").joinpath("us-east-1.json").read_text()
    return PriceTable.model_validate_json(text)


def prices_for(overrides: PriceOverrides) -> PriceTable:
    """Give the prices that a deployment computes with."""
    return builtin().overridden(overrides)
