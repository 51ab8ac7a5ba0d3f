"""What a run will take before anything is made, and what it has cost when it is over."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.aws.prices import Price
from plimsoll.model.base import Model


class Amounts(Model):
    """One quantity, seen three ways."""

    least: float  # it cannot be less
    expected: float
    most: float  # at the run's time limit, with every step that the search may ask for


class QuotePhase(Model):
    """One phase of the run's time, with what is assumed of it."""

    name: Literal[
        "provision", "prepare", "snapshot", "warm", "phases", "search", "conclude", "teardown"
    ]
    expected_s: float
    most_s: float
    assumption: str


class QuoteLine(Model):
    """One thing that is charged."""

    what: str
    price: Price
    quantity: Amounts  # in the price's unit
    usd: Amounts | None  # None: its price is not known


class IoPrices(Model):
    """What Aurora charges by the I/O, and from which rate on its other storage is cheaper."""

    charged: bool  # whether the storage asked for is Standard
    usd_per_million: float | None  # on Standard; None: no price is known
    io_optimized_from_iops: float | None  # mean I/Os a second; None: a price is missing


class Quote(Model):
    """Time and money of a request. Where a price is missing, so is the sum: `missing` names it."""

    region: str
    database_version: str | None = None  # as RDS resolved it; None: it was not asked
    as_of: date | None  # of the oldest price in it
    phases: tuple[QuotePhase, ...]
    time_s: Amounts
    steps: Amounts
    lines: tuple[QuoteLine, ...]
    usd: Amounts | None
    missing: tuple[str, ...]
    target_usd_per_hour: float | None  # while the target exists, without the load and its I/Os
    io: IoPrices | None = None  # None: its I/Os are never charged by number
    budget_usd: float | None
    notes: tuple[str, ...]


class CellQuote(Model):
    """The quote of one run of an experiment."""

    name: str
    variants: dict[str, str]  # {axis: variant}
    quote: Quote


class DatasetQuote(Model):
    """The quote of a dataset that is prepared once: the run that makes it, and its snapshot."""

    name: str
    runs: int  # that share it
    quote: Quote
    snapshot: QuoteLine  # its storage, until the last run has ended


class ExperimentQuote(Model):
    """Time and money of an experiment: of each run item by item, and of all together."""

    region: str
    as_of: date | None  # of the oldest price in it
    cells: tuple[CellQuote, ...]  # in the order of the axes
    datasets: tuple[DatasetQuote, ...] = ()  # prepared once; none: each run loads its own
    at_once: int  # the most runs at the same time
    batches: int
    time_s: Amounts  # from the first run's begin to the last one's end
    usd: Amounts | None  # of all runs; None: a price is missing
    missing: tuple[str, ...]
    notes: tuple[str, ...]


class CostLine(Model):
    """One thing that was charged."""

    what: str
    quantity: float | None  # None: it was not counted
    unit: str
    usd: float | None  # None: its price is not known, or its quantity


class IoCost(Model):
    """What an Aurora cluster's I/Os cost, or would cost on Standard storage."""

    ios: float | None  # that AWS counted; None: it had no point
    ios_per_operation: float | None  # None: no count beside an operation
    usd: float | None  # 0: they are not charged; None: not known
    usd_per_million_operations: float | None  # of I/Os on Standard, whatever storage it had
    sentence: str


class RunCost(Model):
    """What a run cost, by list prices: an estimate, never a bill.

    Of a run on one machine there is the target's price by the hour alone: what it would be on AWS.
    """

    basis: Literal["aws", "as-if-on-aws"]
    usd: float | None  # None: a price is missing, or nothing was spent (one machine)
    items: tuple[CostLine, ...]
    missing: tuple[str, ...] = ()  # names of the prices that are not known
    target_usd_per_hour: float | None
    usd_per_million_operations: float | None  # of the target's hours at capacity, and its I/Os
    io: IoCost | None = None  # of Aurora
    region: str
    as_of: date | None  # of the oldest price in it
    method: str


# The I/Os of an Aurora cluster's volume, as AWS counts and charges them.


class BilledIo(Model):
    """What CloudWatch counted of a cluster's volume, in whole periods of five minutes."""

    reads: Annotated[float, Field(ge=0)]
    writes: Annotated[float, Field(ge=0)]
    beside_operations: Annotated[float, Field(ge=0)]  # of both, in periods in which load was sent
    operations: Annotated[int, Field(ge=0)]  # that succeeded in those periods

    @property
    def ios(self) -> float:
        """All of them."""
        return self.reads + self.writes

    @property
    def per_operation(self) -> float | None:
        """I/Os for an operation; None where no period has operations."""
        return self.beside_operations / self.operations if self.operations else None
