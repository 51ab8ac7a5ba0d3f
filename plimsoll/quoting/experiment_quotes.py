"""The quote of an experiment: the sum over its runs and the datasets that they share. Pure."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from math import fsum

from plimsoll import words
from plimsoll.model.aws.prices import HOURS_PER_MONTH, Item, PriceTable
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.experiment import Experiment, draw_order, plan_batches
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import (
    Amounts,
    CellQuote,
    DatasetQuote,
    ExperimentQuote,
    QuoteLine,
    add_amounts,
)
from plimsoll.quoting.extents import READ_MIB_S, Given, estimate_dataset_gib
from plimsoll.quoting.quotes import NOTES, estimate_quote, note_extended_support
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.prepared_datasets import SharedDataset, plan_shared_datasets

# A dataset that an experiment prepares once: the preparing run, and its snapshot.


STANDARD = "standard"


def quote_dataset(
    shared: SharedDataset, prices: PriceTable, runs_s: Amounts, database_version: str | None
) -> DatasetQuote:
    """Estimate what it takes to prepare a dataset and keep its snapshot until the last run ends.

    Args:
        shared: The dataset.
        prices: The price table of the region.
        runs_s: How long all runs take, in seconds.
        database_version: The version that RDS resolved the requested one to; None if RDS was not
            asked.
    """
    gib = estimate_dataset_gib(shared.checked)
    on_ebs = isinstance(shared.request.target, CassandraTarget)
    price = prices.price(Item.EBS_SNAPSHOT if on_ebs else Item.RDS_SNAPSHOT, STANDARD)
    quantity = _multiply_amounts(runs_s, gib / 3600 / HOURS_PER_MONTH)
    return DatasetQuote(
        name=shared.name,
        runs=len(shared.cells),
        quote=estimate_quote(
            shared.checked, prices, database_version=database_version, given="prepared"
        ),
        snapshot=QuoteLine(
            what=f"snapshot of {gib:,.0f} GiB",
            price=price,
            quantity=quantity,
            usd=None if price.usd is None else _multiply_amounts(quantity, price.usd),
        ),
    )


def _multiply_amounts(amounts: Amounts, factor: float) -> Amounts:
    return Amounts(
        least=amounts.least * factor,
        expected=amounts.expected * factor,
        most=amounts.most * factor,
    )


def write_dataset_notes(runs: int, datasets: Sequence[DatasetQuote]) -> Iterator[str]:
    """Yield notes on how many datasets are prepared, and on what restored volumes need."""
    if not datasets:
        return
    yield (
        f"{words.format_count(len(datasets), 'dataset')} prepared once for"
        f" {words.format_count(runs, 'run')};"
        " on RDS each volume needs its own, because AWS works for hours on a restored volume that"
        " is changed."
    )
    yield (
        "A restored volume fetches each block from S3 when it is first read: every run reads its"
        f" tables through once before its warm-up, assumed at {READ_MIB_S[0]:g} MiB/s. Snapshots"
        " cost nothing up to the size of the databases that exist, and beyond it what stands here."
    )


_ORDER = "The runs' order is drawn when the experiment starts; the time is that of the axes' order."
_TURNS = (
    "Runs that take turns wait for each other: for the slower dataset, and for every step of the"
    " other. Neither the time nor the cost of these waits is included."
)
_BOUNDARY = (
    "This is the quote of all cells. A search for the boundary runs only those near it, about three"
    " of twelve, and predicts the others."
)
_WORKFLOW = (
    "Not included: the experiment's own workflow, about five state transitions and a function call"
    " for each run."
)


def quote_experiment(
    checked: CheckedExperiment,
    prices: PriceTable,
    *,
    runs_most: int | None = None,
    version_of: Callable[[Request], str | None] = lambda _: None,
) -> ExperimentQuote:
    """Estimate the time and cost of all runs of an experiment.

    Args:
        checked: What is asked for.
        prices: The price table of the region.
        runs_most: The highest number of runs that the team may have at once; None if unlimited.
        version_of: A function that has RDS resolve a request's engine version; it returns None
            if RDS is not asked.

    Raises:
        UsageError: One of the runs is not possible.
    """
    experiment = checked.experiment
    shared = plan_shared_datasets(checked, local=False)
    given: Given | None = "restored" if shared else None
    quotes = checked.apply(
        lambda one: estimate_quote(
            one, prices, database_version=version_of(one.request), given=given
        )
    )
    cells = tuple(
        CellQuote(name=cell.name, variants=cell.variants, quote=of_cell)
        for cell, of_cell in zip(checked.cells, quotes, strict=True)
    )
    at_once = min(experiment.runs_at_once, runs_most or experiment.runs_at_once)
    drawn = (
        range(len(cells)) if experiment.seed is None else draw_order(experiment, experiment.seed)
    )
    planned = plan_batches(experiment, drawn)
    runs_s = _add_batches_s([of_cell.time_s for of_cell in quotes], planned, at_once)
    datasets = tuple(quote_dataset(one, prices, runs_s, version_of(one.request)) for one in shared)
    every = [*quotes, *(one.quote for one in datasets)]
    costs = [one.usd for one in every] + [one.snapshot.usd for one in datasets]
    known = [usd for usd in costs if usd is not None]
    preparing = _add_batches_s(
        [one.quote.time_s for one in datasets], [range(len(datasets))], at_once
    )
    return ExperimentQuote(
        region=prices.region,
        as_of=min((one.as_of for one in every if one.as_of is not None), default=None),
        cells=cells,
        datasets=datasets,
        at_once=at_once,
        batches=len(planned),
        time_s=add_amounts([preparing, runs_s]),
        usd=add_amounts(known) if len(known) == len(costs) else None,
        missing=tuple(
            dict.fromkeys(
                [
                    *(name for one in every for name in one.missing),
                    *(one.snapshot.price.full_name for one in datasets if one.snapshot.usd is None),
                ]
            )
        ),
        notes=(
            *write_dataset_notes(len(cells), datasets),
            *_write_notes(experiment, at_once, [of_cell.budget_usd for of_cell in quotes]),
            *dict.fromkeys(
                note for cell in checked.cells for note in note_extended_support(cell.request)
            ),
            *NOTES,
        ),
    )


def schedule_length_s(seconds: Sequence[float], at_once: int) -> float:
    """Return how long runs take together, each starting when an earlier one ends.

    Args:
        seconds: The duration of each run, in starting order.
        at_once: The highest number of runs at the same time.
    """
    ends = [0.0] * at_once
    for length_s in seconds:
        heapq.heapreplace(ends, ends[0] + length_s)
    return max(ends)


def _add_batches_s(
    runs: Sequence[Amounts], planned: Sequence[Sequence[int]], at_once: int
) -> Amounts:
    """Add up the batches, which run one after the other."""
    return Amounts(
        least=fsum(schedule_length_s([runs[i].least for i in batch], at_once) for batch in planned),
        expected=fsum(
            schedule_length_s([runs[i].expected for i in batch], at_once) for batch in planned
        ),
        most=fsum(schedule_length_s([runs[i].most for i in batch], at_once) for batch in planned),
    )


def _write_notes(
    experiment: Experiment, at_once: int, budgets: Sequence[float | None]
) -> Iterator[str]:
    given = [budget for budget in budgets if budget is not None]
    if given:
        of = "all runs" if len(given) == len(budgets) else f"{len(given)} of the runs"
        together = words.format_usd(fsum(given))
        yield f"Each run has its own budget_usd; those of {of} add up to {together}."
    if at_once < (asked := experiment.runs_at_once):
        yield f"Runs at the same time: {at_once}, not {asked}, since the team may have no more."
    if experiment.pairs is not None:
        yield _TURNS
    if experiment.want is not None:
        yield _BOUNDARY
    if experiment.seed is None and at_once > 1:
        yield _ORDER
    yield _WORKFLOW
