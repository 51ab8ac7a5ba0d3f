"""What Aurora's I/Os cost, and from which rate on I/O-Optimized storage is cheaper. Pure.

Standard storage is charged by the I/O; I/O-Optimized is not, and costs more by the hour and by the
GiB. How many I/Os an operation takes is known only once CloudWatch has counted them.
"""

from collections.abc import Iterator

from plimsoll import words
from plimsoll.model.aurora_target import LEAST_GIB, AuroraTarget
from plimsoll.model.billed_io import BilledIo
from plimsoll.model.capacity import Capacity
from plimsoll.model.prices import HOURS_PER_MONTH, Item, PriceTable
from plimsoll.model.quote import IoCost, IoPrices
from plimsoll.model.request import Target

MILLION = 1e6
METERED: str = "standard"  # the name of the price, and the storage whose I/Os are charged


def io_prices(target: Target, prices: PriceTable) -> IoPrices | None:
    """Say what a target's I/Os cost; None for one whose I/Os are never charged by number.

    The rate from which I/O-Optimized is cheaper is what it costs more by the hour, for the class
    and for the storage that is reckoned with, divided by the price of an I/O.
    """
    if not isinstance(target, AuroraTarget):
        return None
    usd_per_million = prices.price(Item.AURORA_IO, METERED).usd
    hourly = [
        _usd_per_hour(prices, item, target.instance_class, storage)
        for item, storage in ((Item.AURORA, "standard"), (Item.AURORA_IO_OPTIMIZED, "io-optimized"))
    ]
    standard, optimized = hourly
    even = None
    if standard is not None and optimized is not None and usd_per_million:
        even = (optimized - standard) / 3600 / (usd_per_million / MILLION)
    return IoPrices(
        charged=target.storage == METERED,
        usd_per_million=usd_per_million,
        io_optimized_from_iops=even,
    )


def _usd_per_hour(prices: PriceTable, item: Item, name: str, storage: str) -> float | None:
    writer, gib = prices.price(item, name).usd, prices.price(Item.AURORA_STORAGE, storage).usd
    return None if writer is None or gib is None else writer + LEAST_GIB * gib / HOURS_PER_MONTH


def io_notes(io: IoPrices | None) -> Iterator[str]:
    """Say before a run what its quote lacks of I/Os."""
    if io is None:
        return
    if io.charged:
        price = (
            "at a price that is not known"
            if io.usd_per_million is None
            else f"at {words.usd(io.usd_per_million)} a million (1,000 a second are"
            f" {words.usd(io.usd_per_million * 3.6)} an hour)"
        )
        yield (
            f"Aurora Standard charges I/Os {price}; how many a run makes is known only afterwards,"
            " so no sum here has them."
        )
    if io.io_optimized_from_iops is not None:
        yield _cheaper(io.io_optimized_from_iops) + "."
    yield f"Aurora's storage is reckoned with {LEAST_GIB} GiB: its size is known when it is there."


def _cheaper(iops: float) -> str:
    return (
        f"I/O-Optimized is cheaper from a mean of {words.rate(iops)} I/Os a second on, Standard"
        " below it"
    )


def io_cost(io: IoPrices | None, billed: BilledIo | None, capacity: Capacity | None) -> IoCost:
    """Say after a run what its I/Os cost, or would have cost.

    Args:
        io: Of the run's quote.
        billed: As CloudWatch counted them; None: it had no point.
        capacity: For the rate of I/Os at the answer's load.
    """
    each = None if billed is None else billed.per_operation
    usd_per_million = None if io is None else io.usd_per_million
    usd = usd_of(io, billed)
    return IoCost(
        ios=None if billed is None else billed.ios,
        ios_per_operation=each,
        usd=usd,
        usd_per_million_operations=None
        if each is None or usd_per_million is None
        else each * usd_per_million,
        sentence="; ".join(_said(io, billed, each, capacity)),
    )


def usd_of(io: IoPrices | None, billed: BilledIo | None) -> float | None:
    """Price a run's I/Os; 0 where they are not charged, None where their number is not known."""
    if io is not None and not io.charged:
        return 0.0
    if io is None or billed is None or io.usd_per_million is None:
        return None
    return billed.ios / MILLION * io.usd_per_million


def _said(
    io: IoPrices | None, billed: BilledIo | None, each: float | None, capacity: Capacity | None
) -> Iterator[str]:
    if billed is None:
        yield "CloudWatch has no point of its I/Os yet: it counts them every five minutes"
    elif each is None:
        yield f"{words.number(round(billed.ios))} I/Os in all, none beside an operation"
    else:
        yield f"{each:.3g} I/Os an operation"
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    if each is not None and figure:
        yield f"{words.rate(each * figure)} a second at {words.throughput(figure)}"
    even = None if io is None else io.io_optimized_from_iops
    if even is not None:
        at = f" ({words.throughput(even / each)})" if each else ""
        yield _cheaper(even) + at
