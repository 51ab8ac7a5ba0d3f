"""What `plimsoll size` answers, as data. Predicted is told from measured in every row."""

from datetime import date
from typing import Literal

from plimsoll.model.base import Model
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.run.quote import CostLine
from plimsoll.sizing.caps import Made
from plimsoll.sizing.measured import Demand
from plimsoll.sizing.predict import Bound
from plimsoll.sizing.queueing import Guess

SCHEMA_VERSION: Literal[1] = 1


class Option(Model):
    """A target, what it sustains within the limits, and what it costs."""

    status: Literal["measured", "predicted"]
    target: Made
    usd_per_month: float | None  # by list prices; None: one is missing
    items: tuple[CostLine, ...]
    ops_per_second: float | None  # measured; or predicted, on the safe side. None: no figure
    low: float | None  # the ends of its interval
    high: float | None
    binds: Bound | None  # what sets it; of a measured one: what the run named
    next: Bound | None
    latency_us: dict[str, Guess] | None = None  # predicted under the load wanted
    carries: bool  # the load wanted, with the headroom
    sure: bool  # whether both ends of the interval say so
    run: str | None = None  # that measured it


class Negative(Model):
    """What does not carry the load, and why."""

    what: str  # "gp3 on db.m5.large"
    ops_per_second: float  # the most that is predicted for any of it
    binds: Bound
    sentence: str


class Confirmed(Model):
    """A prediction held against a run."""

    target: Made
    predicted: float  # ops/s, for this machine
    low: float
    high: float
    measured: float | None  # None: the run has no figure
    bound: Literal["=", ">=", "<"] | None
    error: float | None  # predicted over measured, less 1; None where either is no figure
    run: str  # its folder


class Growth(Model):
    """How long an option carries a load that grows."""

    times_per_year: float
    years: float  # from today, with the headroom kept; 0: not even today
    until: date | None  # None: beyond a hundred years, or it does not grow
    years_without_headroom: float


class Sizing(Model):
    """The whole answer."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run: str
    local: bool
    want_ops_per_second: float
    required_ops_per_second: float  # the load line that leaves the headroom
    headroom: float  # share of the line that stays free
    statistic: Statistic
    limits_us: dict[str, float]
    region: str
    as_of: date | None  # of the oldest price
    least_gib: int
    demands: tuple[tuple[float, Demand], ...]  # by step: operations under way, and what each took
    factor: Guess  # measured over predicted, of the runs
    options: tuple[Option, ...]  # that carry it, cheapest first; those without a price last
    measured: tuple[Option, ...]  # runs, whether or not they carry it
    cannot: tuple[Negative, ...]
    confirmed: tuple[Confirmed, ...] = ()
    growth: Growth | None = None  # of the cheapest
    assumptions: tuple[str, ...]
    sentence: str
