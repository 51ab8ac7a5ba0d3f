"""A check: a run on a schedule, what of it is compared with its own history, and that history."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.capacity import Bound
from plimsoll.model.request import Name, Request, Target
from plimsoll.model.run_record import RunState
from plimsoll.model.schedule_expression import Once, parse_expression, parse_zone
from plimsoll.model.search_request import RateSearch

Direction = Literal["less", "more"]  # which way is worse


class CompareCapacity(Model):
    """The run's capacity; a regression is less of it."""

    kind: Literal["capacity"] = Field("capacity", description="The run's capacity.")

    @property
    def metric(self) -> str:
        """What names it in a history."""
        return "capacity"

    @property
    def unit(self) -> str:
        """Of its figures."""
        return "ops/s"

    @property
    def worse(self) -> Direction:
        """Which way a regression goes."""
        return "less"


class CompareLatency(Model):
    """An operation's latency at a fixed arrival rate; a regression is more of it.

    The statistic is the one that the request's limits judge; over the repetitions of that rate, its
    median.
    """

    kind: Literal["latency"] = Field(description="An operation's latency at a fixed rate.")
    operation: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        description="The operation, as the workload names it."
    )
    rate_ops_per_second: Annotated[float, Field(gt=0)] = Field(
        description="The arrival rate: the search's first one, which every run measures."
    )

    @property
    def metric(self) -> str:
        """What names it in a history."""
        return f"latency of {self.operation} at {self.rate_ops_per_second:g} ops/s"

    @property
    def unit(self) -> str:
        """Of its figures."""
        return "us"

    @property
    def worse(self) -> Direction:
        """Which way a regression goes."""
        return "more"


Compare = Annotated[CompareCapacity | CompareLatency, Field(discriminator="kind")]


class Thresholds(Model):
    """What counts as a change."""

    min_change: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.05, description="The least change of the mean that counts, as a share of it."
    )
    p_value_max: Annotated[float, Field(gt=0, le=0.05)] = Field(
        0.001, description="The largest p-value of the difference between before and after."
    )
    runs_after_min: Annotated[int, Field(ge=1, le=20)] = Field(
        2, description="Runs after the change before it is announced: one odd run is no change."
    )
    missing_runs_max: Annotated[int, Field(ge=1, le=100)] = Field(
        2, description="Runs in a row without an answer, of which a message is sent."
    )


class CheckDefinition(Model):
    """A run on a schedule, compared with its own history: all but its name."""

    description: str = Field("", description="Why it is made, for its readers.")
    schedule: Annotated[str, Field(max_length=256)] = Field(
        description="When, as EventBridge Scheduler has it: rate(1 day), cron(30 2 ? * MON-FRI *)."
    )
    time_zone: str = Field("UTC", description="In which cron times are meant: Europe/Berlin.")
    flexible_minutes: Annotated[int, Field(ge=0, le=1440)] = Field(
        0, description="How much later the run may start, in minutes; 0: at the time itself."
    )
    request: Request = Field(description="The run.")
    control: Target | None = Field(
        None,
        description="A fixed reference target, on which the same run is made each time: what"
        " changes on both is the cloud, what changes on the target alone is the database.",
    )
    compare: Annotated[tuple[Compare, ...], Field(min_length=1, max_length=10)] = Field(
        (CompareCapacity(),), description="What is compared with the history."
    )
    thresholds: Thresholds = Field(Thresholds(), description="What counts as a change.")
    enabled: bool = Field(True, description="Whether it runs.")

    @field_validator("schedule")
    @classmethod
    def _schedule_recurs(cls, value: str) -> str:
        if isinstance(parse_expression(value), Once):
            problem = f"{value} happens once, and has no history: give rate(...) or cron(...)"
            raise UsageError(Complaint((), problem, value))
        return value

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        parse_zone(value)
        return value

    @model_validator(mode="after")
    def _compared_once(self) -> Self:
        metrics = [compared.metric for compared in self.compare]
        if twice := sorted({metric for metric in metrics if metrics.count(metric) > 1}):
            raise UsageError(Complaint(("compare",), f"{twice[0]} is there twice"))
        return self

    @model_validator(mode="after")
    def _rate_is_measured(self) -> Self:
        search = self.request.search
        for index, compared in enumerate(self.compare):
            if isinstance(compared, CompareCapacity):
                continue
            if not isinstance(search, RateSearch):
                problem = (
                    "latency at a fixed rate needs request.search.strategy `rate`, not"
                    f" `{search.strategy}`"
                )
                raise UsageError(Complaint(("compare", index), problem))
            rate, first = compared.rate_ops_per_second, search.rate_first_ops_per_second
            if rate != first:
                problem = (
                    f"{rate:g} is not measured by every run; give"
                    f" request.search.rate_first_ops_per_second, {first:g}"
                )
                path = ("compare", index, "rate_ops_per_second")
                raise UsageError(Complaint(path, problem, rate, Range(first, first), listed=False))
        return self

    @property
    def control_request(self) -> Request | None:
        """The run of the control: the same on another target."""
        if self.control is None:
            return None
        name = f"{self.request.name[:32].rstrip('-')}-control"
        return self.request.model_copy(update={"target": self.control, "name": name})


class Check(CheckDefinition):
    """A check by its name."""

    name: Name = Field(description="What the check is called; one of its name in a team.")


class Figure(Model):
    """What one run says of one metric."""

    value: float | None  # None: the run gave no such figure, which is a gap and no zero
    at_least: float | None = None  # without a value: no load of the run was too much
    below: float | None = None  # without a value: its lightest load was too much
    low: float | None = None  # of its 95 % interval
    high: float | None = None
    bracket: tuple[float | None, float | None] | None = None  # loads: (passes, fails]
    why_none: str | None = None


class RunOfCheck(Model):
    """One run of a point: on the target, or on the control."""

    run_id: str | None  # None: it could not be started
    comparable: str  # SHA-256 of what must be equal for two runs to be compared
    state: RunState | None = None  # None: it has not ended
    verdict: str | None = None
    problem: str | None = None  # why there is no run, or no result
    figures: dict[str, Figure] = Field(default_factory=dict)  # by metric

    @property
    def settled(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state is not None or self.run_id is None


class HistoryPoint(Model):
    """One firing of a check."""

    scheduled_at: datetime
    target: RunOfCheck
    control: RunOfCheck | None = None

    @property
    def settled(self) -> bool:
        """Whether its runs have ended."""
        return self.target.settled and (self.control is None or self.control.settled)


class Segment(Model):
    """Runs between two changes; those without a figure are not among them."""

    runs: int
    mean: float  # outliers held at their bound
    standard_deviation: float | None  # of the sample, outliers held; None for a single run
    bound: Bound = "="  # ">=" or "<": bounds are among the runs, each counted as its limit


class Change(Model):
    """A change point: from one run on, the figures are others."""

    metric: str
    unit: str
    at: datetime  # the scheduled time of the first run after it
    run_id: str | None  # ... that run
    before: Segment
    after: Segment
    change_share: float  # after / before - 1
    p_value: float  # of the test that decided; the place was sought, so it flatters
    regression: bool  # the worse way

    @property
    def at_least(self) -> bool:
        """Whether the figures have changed further than is shown, for what is shown is a bound."""
        fell = self.change_share < 0
        return (self.before.bound, self.after.bound) != ("=", "=") and (
            self.before.bound in ({"=", ">="} if fell else {"=", "<"})
            and self.after.bound in ({"=", "<"} if fell else {"=", ">="})
        )


class Cause(Model):
    """Whether the control moved too."""

    kind: Literal["database", "cloud", "partly cloud", "unknown"]
    words: str
    before: Segment | None = None  # of the control, at the same runs
    after: Segment | None = None
    change_share: float | None = None
    p_value: float | None = None


class Announced(Model):
    """A regression of which a message was sent."""

    metric: str
    at: datetime  # the change
    through: datetime  # the last run that was known then: a change up to it has been announced


class Silence(Model):
    """A metric of which the latest runs of a check say nothing."""

    metric: str
    since: datetime  # the scheduled time of the first of these runs
    runs: int
    why: str  # of the latest


class Judgement(Model):
    """What a check's history said when it was last judged."""

    changes: tuple[Change, ...] = ()
    announced: tuple[Announced, ...] = ()  # the regressions of which a message was sent
    silences: tuple[Silence, ...] = ()  # of which a message was sent, and that last


class History(Judgement):
    """What a check has found so far."""

    points: tuple[HistoryPoint, ...]  # the latest, oldest first
