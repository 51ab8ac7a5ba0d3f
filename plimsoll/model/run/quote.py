"""The quote of a run or experiment before it starts, and its cost after it has ended."""

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.aws.prices import Price
from plimsoll.model.base import Model


class Amounts(Model):
    """A quantity as its minimum, expected value and maximum."""

    least: float  # lower bound
    expected: float
    most: float  # at the run's time limit, with every step that the search may need


def add_amounts(parts: Iterable[Amounts]) -> Amounts:
    """Add amounts."""
    each = list(parts)
    return Amounts(
        least=sum(part.least for part in each),
        expected=sum(part.expected for part in each),
        most=sum(part.most for part in each),
    )


class QuotePhase(Model):
    """The time of one phase of a run, and the assumption behind it."""

    name: Literal[
        "provision", "prepare", "snapshot", "warm", "phases", "search", "conclude", "teardown"
    ]
    expected_s: float
    most_s: float
    assumption: str


class QuoteLine(Model):
    """One item that is charged."""

    what: str
    price: Price
    quantity: Amounts  # in the unit of the price
    usd: Amounts | None  # None if the price is unknown


class IoPrices(Model):
    """Aurora's price per I/O, and the rate above which I/O-Optimized storage is cheaper."""

    charged: bool  # whether the requested storage is Standard, which charges per I/O
    usd_per_million: float | None  # on Standard storage; None if the price is unknown
    io_optimized_from_iops: float | None  # mean I/Os per second; None if a price is missing


class Quote(Model):
    """Time and cost of a request. If a price is missing, the sum is None; `missing` names it."""

    region: str
    database_version: str | None = None  # resolved by RDS; None if RDS was not asked
    as_of: date | None  # date of the oldest price used
    phases: tuple[QuotePhase, ...]
    time_s: Amounts
    steps: Amounts
    lines: tuple[QuoteLine, ...]
    usd: Amounts | None
    missing: tuple[str, ...]
    target_usd_per_hour: float | None  # target alone, without load clients and I/Os
    io: IoPrices | None = None  # None if the target's I/Os are never charged per I/O
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
    runs: int  # number of runs that use it
    quote: Quote
    snapshot: QuoteLine  # storage of the snapshot until the last run has ended


class ExperimentQuote(Model):
    """Time and cost of an experiment: of each run, and in total."""

    region: str
    as_of: date | None  # date of the oldest price used
    cells: tuple[CellQuote, ...]  # in the order of the axes
    # Datasets prepared once; empty if each run loads its own
    datasets: tuple[DatasetQuote, ...] = ()
    at_once: int  # most runs at the same time
    batches: int
    time_s: Amounts  # from the start of the first run to the end of the last
    usd: Amounts | None  # total of all runs; None if a price is missing
    missing: tuple[str, ...]
    notes: tuple[str, ...]


class CostLine(Model):
    """One item that was charged."""

    what: str
    quantity: float | None  # None if it was not counted
    unit: str
    usd: float | None  # None if the price or the quantity is unknown


class IoCost(Model):
    """Cost of an Aurora cluster's I/Os, or what it would be on Standard storage."""

    ios: float | None  # I/Os that AWS counted; None if it has no data point
    ios_per_operation: float | None  # None if no period with operations was counted
    usd: float | None  # 0 if they are not charged; None if unknown
    # Cost of I/Os on Standard storage, whichever storage the cluster had
    usd_per_million_operations: float | None
    sentence: str


class RunCost(Model):
    """The cost of a run by list prices: an estimate, not a bill.

    A run on one machine has only the target's price per hour, as it would be on AWS.
    """

    basis: Literal["aws", "as-if-on-aws"]
    usd: float | None  # None if a price is missing, or nothing was spent (one machine)
    items: tuple[CostLine, ...]
    missing: tuple[str, ...] = ()  # names of the unknown prices
    target_usd_per_hour: float | None
    usd_per_million_operations: float | None  # target's hours at capacity, and its I/Os
    io: IoCost | None = None  # Aurora only
    region: str
    as_of: date | None  # date of the oldest price used
    method: str


# --- billed I/Os of an Aurora cluster's volume ---


class BilledIo(Model):
    """CloudWatch's counts for a cluster's volume, over whole periods of five minutes."""

    reads: Annotated[float, Field(ge=0)]
    writes: Annotated[float, Field(ge=0)]
    beside_operations: Annotated[float, Field(ge=0)]  # reads and writes in the periods with load
    operations: Annotated[int, Field(ge=0)]  # operations that succeeded in these periods

    @property
    def ios(self) -> float:
        """Reads and writes together."""
        return self.reads + self.writes

    @property
    def per_operation(self) -> float | None:
        """I/Os per operation; None if no period has operations."""
        return self.beside_operations / self.operations if self.operations else None
