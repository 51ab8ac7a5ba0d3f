"""One target in two states: what a request asks for, and what came of it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Axis
from plimsoll.model.judging.closing import PairedRatio
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget, StateEndpoint
from plimsoll.model.request.rds_target import AuroraTarget, ParameterName

StateName = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
SPARE_TRIES = 4  # steps more than the pairs need: audits may dispute some


class ToggledState(Model):
    """A state under a name: engine parameters, or where an existing database is reached."""

    name: StateName = Field(description="What reports call it, such as doublewrite-off.")
    # RDS takes so many in one call: API_ModifyDBParameterGroup (read 2026-11)
    parameters: Annotated[dict[ParameterName, str | int], Field(max_length=20)] = Field(
        default_factory=dict,
        description="Of an RDS target: engine parameters, over those of the target; both states"
        " set the same ones.",
    )
    endpoint: StateEndpoint | None = Field(
        None,
        description="Of an endpoint: where it is reached in this state, such as through a proxy;"
        " none: as the target says.",
    )


class Toggle(Model):
    """Two states, measured in pairs on one target or dataset."""

    states: Annotated[tuple[ToggledState, ...], Field(min_length=2, max_length=2)] = Field(
        description="Two states. The target begins in the first, in which its capacity is sought;"
        " the second is measured against it."
    )
    pairs: Annotated[int, Field(ge=3, le=50)] = Field(
        6,
        description="Pairs of steps at the load of the answer, one in each state, each after"
        " `prepare.warm_s` of unmeasured load.",
    )
    restart: Literal["needed", "always"] = Field(
        "needed",
        description="Whether the server is restarted before every step of the pairs: where a"
        " running one does not take the parameters (RDS calls them static), or always, so that"
        " nothing of the other state is left in its memory.",
    )

    @property
    def steps(self) -> int:
        """How many steps the pairs take."""
        return 2 * self.pairs

    def state(self, name: str) -> ToggledState:
        """Give a state by its name."""
        return next(state for state in self.states if state.name == name)

    @model_validator(mode="after")
    def _two_different_states(self) -> Self:
        first, second = self.states
        if first.name == second.name:
            problem = "is the first state's name too"
            raise UsageError(Complaint(("states", 1, "name"), problem, second.name))
        path = ("states", 1, "parameters")
        if lacking := sorted(set(first.parameters) ^ set(second.parameters)):
            problem = f"only one of both states sets {lacking[0]}; the other would keep its value"
            raise UsageError(Complaint(path, problem))
        if first.parameters and _as_text(first) == _as_text(second):
            raise UsageError(Complaint(path, "are the first state's: nothing would be switched"))
        return self


def _as_text(state: ToggledState) -> dict[str, str]:
    return {name: str(value) for name, value in state.parameters.items()}


class StateFigures(Model):
    """What was measured in one state."""

    name: str
    parameters: dict[str, str | int]  # as they were asked for
    endpoint: str | None = None  # where an existing database was reached; None: one was made
    # what the server itself called them; empty: it does not tell, or no step was measured
    server_says: dict[str, str]
    throughput_ops_per_second: float | None  # geometric mean of the steps that count; None: none
    errors_share: float | None  # of the operations in those steps


class ToggleResult(Model):
    """Two states of one target, in pairs."""

    states: tuple[StateFigures, StateFigures]
    axis: Axis
    load: float | None  # of all pairs, on the axis; None: there was none
    statistic: Statistic  # of the latencies
    throughput: PairedRatio  # the second state's over the first's
    latency: dict[str, PairedRatio]  # the same by operation
    steps: tuple[tuple[int, int], ...]  # each pair's steps, that in the first state first
    left_out: int  # steps that audits dispute, or that said nothing
    pairs_asked: int
    method: str
    detail: str  # the finding in one sentence


# The target of a run in each of its toggle's states. Pure.


def endpoints_by_state(target: EndpointTarget, toggle: Toggle) -> dict[str, EndpointTarget]:
    """Give an existing database as it is reached in each state; the first comes first.

    Raises:
        UsageError: Its engine has no option that a state sets.
    """
    reached = {}
    for number, state in enumerate(toggle.states):
        try:
            reached[state.name] = target.reached(state.endpoint)
        except UsageError as error:
            raise error.within("toggle", "states", number, "endpoint") from None
    return reached


def addresses_by_state(target: object, toggle: Toggle) -> dict[str, str]:
    """Say where an existing database is reached in each state; nothing of one that is made."""
    if not isinstance(target, EndpointTarget):
        return {}
    addresses = {}
    for state in toggle.states:
        told = {} if state.endpoint is None else state.endpoint.model_dump(exclude_none=True)
        options = {k: v for k, v in told.items() if k not in {"host", "port", "secret_arn"}}
        address = target.reached(state.endpoint).address
        addresses[state.name] = ", ".join(
            [address, *(f"{name} = {value}" for name, value in options.items())]
        )
    return addresses


def require_switchable(target: object, toggle: Toggle) -> None:
    """Refuse states in which a target cannot be.

    Raises:
        UsageError: An endpoint's are parameters, others' are endpoints, or it can have no two.
    """
    match target:
        case EndpointTarget():
            _require_endpoints(target, toggle)
        case AuroraTarget() | CassandraTarget():
            raise UsageError(Complaint(("toggle",), _apart(target.kind)))
        case _:
            for number, state in enumerate(toggle.states):
                path = ("toggle", "states", number)
                if state.endpoint is not None:
                    problem = "is of an existing database; a target that is made has `parameters`"
                    raise UsageError(Complaint((*path, "endpoint"), problem))
                if not state.parameters:
                    raise UsageError(Complaint((*path, "parameters"), "is missing"))


def _require_endpoints(target: EndpointTarget, toggle: Toggle) -> None:
    if target.engine == "cassandra":
        raise UsageError(Complaint(("toggle",), _apart("Cassandra")))
    for number, state in enumerate(toggle.states):
        if state.parameters:
            problem = (
                "are of a target that is made; nothing of an existing database is changed: name"
                " with `endpoint` where it is reached in this state"
            )
            raise UsageError(Complaint(("toggle", "states", number, "parameters"), problem))
    if toggle.restart != "needed":
        problem = "an existing database is not restarted"
        raise UsageError(Complaint(("toggle", "restart"), problem, toggle.restart, ("needed",)))
    first, second = endpoints_by_state(target, toggle).values()
    if first == second:
        problem = "is reached as in the first state: nothing would be switched"
        raise UsageError(Complaint(("toggle", "states", 1, "endpoint"), problem))


def _apart(kind: str) -> str:
    return (
        f"has the states of an RDS instance or of an existing database; of {kind} targets measure"
        " each state in a run of its own, and `plimsoll compare` them"
    )
