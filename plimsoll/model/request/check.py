"""A check: a run on a schedule, and the metrics that are compared with its history."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.aws.schedule_expression import Once, parse_expression, parse_zone
from plimsoll.model.base import Model
from plimsoll.model.request.request import Name, Request, Target
from plimsoll.model.request.search_request import RateSearch

Direction = Literal["less", "more"]  # the direction that is worse


class CompareCapacity(Model):
    """The run's capacity; lower is a regression."""

    kind: Literal["capacity"] = Field("capacity", description="The capacity of the run.")

    @property
    def metric(self) -> str:
        """The name of the metric in a history."""
        return "capacity"

    @property
    def unit(self) -> str:
        """The unit of its figures."""
        return "ops/s"

    @property
    def worse(self) -> Direction:
        """The direction of a regression."""
        return "less"


class CompareLatency(Model):
    """An operation's latency at a fixed arrival rate; higher is a regression.

    It compares the statistic that the request's limits judge: the median over the repetitions of
    that rate.
    """

    kind: Literal["latency"] = Field(
        description="The latency of one operation at a fixed arrival rate."
    )
    operation: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        description="Name of the operation in the workload."
    )
    rate_ops_per_second: Annotated[float, Field(gt=0)] = Field(
        description="Arrival rate in operations per second: the search's first one, since every"
        " run measures it."
    )

    @property
    def metric(self) -> str:
        """The name of the metric in a history."""
        return f"latency of {self.operation} at {self.rate_ops_per_second:g} ops/s"

    @property
    def unit(self) -> str:
        """The unit of its figures."""
        return "us"

    @property
    def worse(self) -> Direction:
        """The direction of a regression."""
        return "more"


Compare = Annotated[CompareCapacity | CompareLatency, Field(discriminator="kind")]


class Thresholds(Model):
    """Thresholds of what counts as a change."""

    min_change: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.05, description="Minimum change of the mean that counts, as a share of the mean."
    )
    p_value_max: Annotated[float, Field(gt=0, le=0.05)] = Field(
        0.001, description="Maximum p-value of the difference between the runs before and after."
    )
    runs_after_min: Annotated[int, Field(ge=1, le=20)] = Field(
        2,
        description="Minimum number of runs after a change before it is announced; a single odd"
        " run is not a change.",
    )
    missing_runs_max: Annotated[int, Field(ge=1, le=100)] = Field(
        2, description="Number of consecutive runs without an answer after which a message is sent."
    )


class CheckDefinition(Model):
    """A run on a schedule, compared with its own history; without the check's name."""

    description: str = Field("", description="Purpose of the check, in your words.")
    schedule: Annotated[str, Field(max_length=256)] = Field(
        description="Schedule in EventBridge Scheduler's syntax: rate(1 day), cron(30 2 ? *"
        " MON-FRI *)."
    )
    time_zone: str = Field("UTC", description="Time zone of cron times, such as Europe/Berlin.")
    flexible_minutes: Annotated[int, Field(ge=0, le=1440)] = Field(
        0,
        description="Flexible time window in minutes: a run may start this much later. 0 means on"
        " time.",
    )
    request: Request = Field(description="Request of the run.")
    control: Target | None = Field(
        None,
        description="Fixed reference target on which the same run is made each time. A change on"
        " both targets comes from the cloud; a change on the check's target alone comes from the"
        " database.",
    )
    compare: Annotated[tuple[Compare, ...], Field(min_length=1, max_length=10)] = Field(
        (CompareCapacity(),), description="Metrics that are compared with the history."
    )
    thresholds: Thresholds = Field(
        Thresholds(), description="Thresholds of what counts as a change."
    )
    enabled: bool = Field(True, description="Whether the schedule is active.")

    @field_validator("schedule")
    @classmethod
    def _schedule_recurs(cls, value: str) -> str:
        if isinstance(parse_expression(value), Once):
            problem = f"{value} happens once, and has no history: give rate(...) or cron(...)"
            raise UsageError(Complaint((), problem, value))
        return value

    @field_validator("time_zone")
    @classmethod
    def _require_known_zone(cls, value: str) -> str:
        parse_zone(value)
        return value

    @model_validator(mode="after")
    def _require_compared_once(self) -> Self:
        metrics = [compared.metric for compared in self.compare]
        if twice := sorted({metric for metric in metrics if metrics.count(metric) > 1}):
            raise UsageError(Complaint(("compare",), f"{twice[0]} is given twice"))
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
        """The request of the control run: the same request on another target; None without one."""
        if self.control is None:
            return None
        name = f"{self.request.name[:32].rstrip('-')}-control"
        return self.request.model_copy(update={"target": self.control, "name": name})


class Check(CheckDefinition):
    """A check with its name."""

    name: Name = Field(description="Name of the check; unique in a team.")
