"""The quote of a dataset that an experiment prepares once: its run, and its snapshot. Pure."""

from collections.abc import Iterator, Sequence

from plimsoll import words
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.prices import HOURS_PER_MONTH, Item, PriceTable
from plimsoll.model.quote import Amounts, DatasetQuote, QuoteLine
from plimsoll.quoting.given import READ_MIB_S, dataset_gib
from plimsoll.quoting.quotes import quote
from plimsoll.requests.prepared_datasets import SharedDataset

STANDARD = "standard"


def quote_dataset(
    shared: SharedDataset, prices: PriceTable, runs_s: Amounts, database_version: str | None
) -> DatasetQuote:
    """Say what preparing a dataset takes, and its snapshot until the last run has ended.

    Args:
        shared: The dataset.
        prices: Of the region.
        runs_s: How long all runs take.
        database_version: As RDS resolved the version asked for; None: it was not asked.
    """
    gib = dataset_gib(shared.request)
    on_ebs = isinstance(shared.request.target, CassandraTarget)
    price = prices.price(Item.EBS_SNAPSHOT if on_ebs else Item.RDS_SNAPSHOT, STANDARD)
    quantity = _times(runs_s, gib / 3600 / HOURS_PER_MONTH)
    return DatasetQuote(
        name=shared.name,
        runs=len(shared.cells),
        quote=quote(shared.request, prices, database_version=database_version, given="prepared"),
        snapshot=QuoteLine(
            what=f"snapshot of {gib:,.0f} GiB",
            price=price,
            quantity=quantity,
            usd=None if price.usd is None else _times(quantity, price.usd),
        ),
    )


def _times(amounts: Amounts, factor: float) -> Amounts:
    return Amounts(
        least=amounts.least * factor,
        expected=amounts.expected * factor,
        most=amounts.most * factor,
    )


def dataset_notes(runs: int, datasets: Sequence[DatasetQuote]) -> Iterator[str]:
    """Say how many datasets are prepared, and what a restored volume needs."""
    if not datasets:
        return
    yield (
        f"{words.plural(len(datasets), 'dataset')} prepared once for {words.plural(runs, 'run')};"
        " on RDS each volume has one of its own: a restored volume that is changed is worked on for"
        " hours."
    )
    yield (
        "A restored volume fetches each block from S3 when it is first read: every run reads its"
        f" tables through once before its warm-up, assumed at {READ_MIB_S[0]:g} MiB/s. Kept beyond"
        " its size in databases that exist, a snapshot costs what stands here; within it, nothing."
    )
