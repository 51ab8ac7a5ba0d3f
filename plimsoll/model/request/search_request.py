"""The search that a request names, and the next step that a search decides on."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import Purpose

Clients = Annotated[int, Field(ge=1, le=10_000)]
Connections = Annotated[int, Field(ge=1, le=20_000)]
OpenLoopProbe = Annotated[
    bool,
    Field(
        description="Measure one more step after the answer, in an open loop at 95 % of it: the"
        " latency for callers that do not wait for earlier replies. It does not change the"
        " verdict."
    ),
]
ProbesMax = Annotated[
    int,
    Field(
        ge=1,
        le=1_000,
        description="Maximum number of steps, repetitions and closing steps included.",
    ),
]
Resolution = Annotated[
    float,
    Field(
        gt=0,
        le=0.5,
        description="Bisection ends when the bracket is narrower than this share of its load.",
    ),
]


def _build_below_error(field: str, value: float, other: str, least: float) -> UsageError:
    """Return the error for a field that is below the value of another field."""
    problem = f"at least {other}"
    return UsageError(Complaint((field,), problem, value, Range(least=least), listed=False))


class StepsSearch(Model):
    """A list of client counts, as in the reference experiment R1, tried until one fails."""

    strategy: Literal["steps"] = Field("steps", description="A list of client counts.")
    clients: Annotated[tuple[Clients, ...], Field(min_length=1)] = Field(
        (1, 2, 3, 4, 6, 8), description="Client counts in ascending order."
    )
    connections_per_client: Connections = Field(
        1, description="Connections per client (the threads of YCSB and sysbench)."
    )
    whole_list: bool = Field(
        False,
        description="Measure the steps beyond the knee or plateau too, to complete the curve.",
    )
    open_loop_probe: OpenLoopProbe = True
    probes_max: ProbesMax = 30

    @model_validator(mode="after")
    def _require_ascending(self) -> Self:
        if list(self.clients) != sorted(set(self.clients)):
            problem = "a list of different numbers in ascending order"
            raise UsageError(Complaint(("clients",), problem))
        return self


class RampSearch(Model):
    """Closed loop: connections x `factor` until a step fails, then bisection of the bracket."""

    strategy: Literal["ramp"] = Field(
        "ramp", description="Growing numbers of connections, then bisection."
    )
    connections_first: Connections = Field(
        1, description="Connections of the lightest step, summed over all clients."
    )
    connections_max: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        512, description="Connections of the heaviest step, summed over all clients."
    )
    connections_per_client: Connections = Field(
        64, description="Connections per client; a client is added when more are needed."
    )
    clients_max: Clients = Field(
        100,
        description="Maximum number of clients: while clients are too busy, more share the same"
        " connections.",
    )
    factor: Annotated[float, Field(gt=1, le=4)] = Field(
        1.5, description="Factor by which the connections grow from step to step."
    )
    resolution: Resolution = 0.05
    open_loop_probe: OpenLoopProbe = True
    probes_max: ProbesMax = 30

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.connections_max < self.connections_first:
            least, most = self.connections_first, self.connections_max
            raise _build_below_error("connections_max", most, "connections_first", least)
        return self


class RateSearch(Model):
    """Open loop: arrival rate x `factor` until a step fails, then bisection of the bracket."""

    strategy: Literal["rate"] = Field(
        "rate", description="Growing arrival rates (open loop), then bisection."
    )
    rate_first_ops_per_second: Annotated[float, Field(gt=0)] = Field(
        description="Arrival rate of the lightest step, in operations per second."
    )
    rate_max_ops_per_second: Annotated[float, Field(gt=0)] = Field(
        description="Arrival rate of the heaviest step, in operations per second."
    )
    clients: Clients = Field(1, description="Number of clients at the start.")
    clients_max: Clients = Field(
        100,
        description="Maximum number of clients: more are added while clients are too busy or send"
        " late.",
    )
    connections_per_client: Connections = Field(64, description="Connections per client.")
    factor: Annotated[float, Field(gt=1, le=4)] = Field(
        1.5, description="Factor by which the arrival rate grows from step to step."
    )
    resolution: Resolution = 0.05
    probes_max: ProbesMax = 30

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.rate_max_ops_per_second < self.rate_first_ops_per_second:
            least, most = self.rate_first_ops_per_second, self.rate_max_ops_per_second
            raise _build_below_error(
                "rate_max_ops_per_second", most, "rate_first_ops_per_second", least
            )
        if self.clients_max < self.clients:
            raise _build_below_error("clients_max", self.clients_max, "clients", self.clients)
        return self


def count_most_connections(search: StepsSearch | RampSearch | RateSearch) -> int:
    """Return the number of connections of a search's heaviest step, over all its clients."""
    match search:
        case StepsSearch():
            return search.clients[-1] * search.connections_per_client
        case RampSearch():
            return search.connections_max
        case RateSearch():
            return search.clients_max * search.connections_per_client


Search = Annotated[StepsSearch | RampSearch | RateSearch, Field(discriminator="strategy")]


def max_clients(search: Search) -> int:
    """Return the number of clients of the largest step that a search may take."""
    return max(search.clients) if isinstance(search, StepsSearch) else search.clients_max


class NextStep(Model):
    """The load to apply next, and why."""

    kind: Literal["step"] = "step"
    index: Annotated[int, Field(ge=0)]  # number of steps finished before it
    clients: Clients
    connections: Annotated[int, Field(ge=1)]  # total over all clients, spread evenly
    rate_ops_per_second: float | None = None  # total over all clients; None for a closed loop
    purpose: Purpose
    # Length of the window; None for the request's
    duration_s: Annotated[float, Field(gt=0)] | None = None
    window_factor: Annotated[int, Field(ge=1)] = 1  # multiple of the request's warm-up and window
    state: str | None = None  # state of a toggle to switch to; None for the state of the search
    # Longest busy-poll of a client for a reply; None for the request's
    poll_us: Annotated[int, Field(ge=0)] | None = None
    # Whether to wait until the target has recovered from the overload of the previous step
    recover_first: bool = False
    why: str  # one line for the reader
    # Why each further step at the same load follows without a pause, as those of a soak do. A
    # driver that cannot do so asks anew after each step.
    then: tuple[str, ...] = ()


class Done(Model):
    """The end of the search: its steps can be judged."""

    kind: Literal["done"] = "done"
    why: str
