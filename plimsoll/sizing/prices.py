"""What a target costs a month by list prices, item by item. Pure."""

from datetime import date

from plimsoll.model.base import Model
from plimsoll.model.prices import HOURS_PER_MONTH, PriceTable
from plimsoll.model.quote import CostLine
from plimsoll.model.request import Target
from plimsoll.quoting.charges import target_charges
from plimsoll.quoting.costs import total_usd
from plimsoll.quoting.quotes import oldest, priced

MONTH_S = HOURS_PER_MONTH * 3600


class Monthly(Model):
    """The list price of a target for a month of 730 hours, without I/Os that are charged."""

    usd: float | None  # None: a price is missing
    items: tuple[CostLine, ...]
    as_of: date | None  # of the oldest of its prices


def monthly(target: Target, prices: PriceTable) -> Monthly:
    """Price a target by the month."""
    charges = target_charges(target, MONTH_S)
    found = [prices.price(charge.item, charge.name) for charge in charges]
    items = tuple(
        CostLine(
            what=charge.what,
            quantity=charge.quantity,
            unit=price.unit,
            usd=priced(charge, price),
        )
        for charge, price in zip(charges, found, strict=True)
    )
    return Monthly(usd=total_usd(items), items=items, as_of=oldest(found))
