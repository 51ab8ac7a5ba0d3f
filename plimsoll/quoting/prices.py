"""The price table that comes with Plimsoll, with a deployment's own prices over it."""

from functools import cache
from importlib import resources

from plimsoll.model.aws.prices import PriceOverrides, PriceTable


@cache
def read_builtin_prices() -> PriceTable:
    """Read the built-in price table, which is that of us-east-1."""
    text = resources.files("plimsoll.quoting").joinpath("us-east-1.json").read_text()
    return PriceTable.model_validate_json(text)


def override_prices(overrides: PriceOverrides) -> PriceTable:
    """Return the prices that a deployment computes with."""
    return read_builtin_prices().override(overrides)
