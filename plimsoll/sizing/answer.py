"""The answer of `plimsoll size`. Every row says whether it is measured or predicted."""

from datetime import date
from typing import Literal

from pydantic import Field

from plimsoll.model.aws.volumes import Volume
from plimsoll.model.base import Model
from plimsoll.model.clouds.volume_rules import Cloud
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.run.quote import CostLine
from plimsoll.sizing.caps import Made
from plimsoll.sizing.measured import Demand
from plimsoll.sizing.predict import Bound
from plimsoll.sizing.queueing import Guess

SCHEMA_VERSION: Literal[1] = 1
# carries: the low end of the interval suffices; does not carry: not even the high end does
Outlook = Literal["carries", "may carry", "does not carry"]


class Option(Model):
    """A target, what it sustains within the limits, and what it costs."""

    status: Literal["measured", "predicted"]
    target: Made
    usd_per_month: float | None  # list price; None if a price is missing
    items: tuple[CostLine, ...]
    ops_per_second: float | None  # measured, or predicted with a margin of safety; None if unknown
    low: float | None  # lower end of its interval
    high: float | None  # upper end
    binds: Bound | None  # the limiting resource; for a measured option, the one the run named
    next: Bound | None  # the resource that would limit next
    latency_us: dict[str, Guess] | None = None  # predicted under the wanted load
    carries: bool  # whether its figure reaches the load line that is needed
    sure: bool  # whether both ends of the interval agree with `carries`
    outlook: Outlook | None = None  # None only in an answer of an earlier version
    run: str | None = None  # the run that measured it


class Negative(Model):
    """A kind of target that does not carry the load, and why."""

    what: str  # "gp3 on db.m5.large"
    ops_per_second: float  # the highest prediction among its variants
    binds: Bound
    sentence: str


class Confirmed(Model):
    """A prediction compared with a run."""

    target: Made
    predicted: float  # ops/s on the machine of the run
    low: float  # lower end of the prediction interval
    high: float
    measured: float | None  # None if the run has no figure
    bound: Literal["=", ">=", "<"] | None
    error: float | None  # predicted / measured - 1; None if there is no exact figure
    run: str  # folder of the run


class Growth(Model):
    """How long an option carries a growing load."""

    times_per_year: float
    years: float  # from today, keeping the headroom; 0 if it does not surely suffice today
    until: date | None  # None if later than in a hundred years
    years_without_headroom: float
    years_at_most: float | None = None  # at the high end of the interval; None if it has none


class Horizon(Model):
    """What carries the load after it has grown for some years."""

    years: float
    ops_per_second: float  # the load then
    options: tuple[Option, ...]  # ranked like `Sizing.options`
    sentence: str


CloudKind = Literal["managed", "machine"]


class PricedItem(Model):
    """One item of a target's price, as published."""

    what: str
    quantity: float  # in the price's unit, for a month
    unit: str
    per_month: float | None  # None if the price is not known
    currency: str
    as_of: date | None


class CloudOption(Model):
    """A target of some cloud, what it is predicted to sustain, and its price a month."""

    cloud: Cloud
    kind: CloudKind
    region: str
    instance: str
    volume: Volume
    usd_per_month: float | None  # None if a price or the exchange rate is missing
    items: tuple[PricedItem, ...]
    as_of: date | None  # day of the oldest price; None if one has no date
    ops_per_second: float
    low: float
    high: float
    binds: Bound
    next: Bound | None
    instance_limits_known: bool  # otherwise the volume's limits stand alone
    sure: bool  # whether both ends of the interval carry the load


class CloudRanking(Model):
    """Everything that carries the load on the asked clouds, cheapest first; without price last."""

    clouds: tuple[Cloud, ...]
    managed: tuple[CloudOption, ...]
    machines: tuple[CloudOption, ...]
    assumptions: tuple[str, ...]


class Sizing(Model):
    """The answer of `plimsoll size`."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run: str
    local: bool
    want_ops_per_second: float
    required_ops_per_second: float  # load line needed to keep the headroom
    headroom: float  # share of the load line that stays free
    statistic: Statistic
    limits_us: dict[str, float]
    region: str
    as_of: date | None  # date of the oldest price
    least_gib: int
    # concurrent operations and use per operation, of each step
    demands: tuple[tuple[float, Demand], ...]
    factor: Guess  # measured / predicted, from the runs
    # those that surely carry the load, cheapest first, then the cheaper ones that may
    options: tuple[Option, ...]
    measured: tuple[Option, ...]  # all runs, whether or not they carry the load
    cannot: tuple[Negative, ...]
    confirmed: tuple[Confirmed, ...] = ()
    growth: Growth | None = None  # growth of the load on the first option
    horizon: Horizon | None = None
    warning: str | None = None  # why the run is weak ground; None if it is not
    # with --clouds: what other clouds sell, and machines with disks on AWS
    clouds: CloudRanking | None = Field(default=None, exclude_if=lambda value: value is None)
    assumptions: tuple[str, ...]
    sentence: str
