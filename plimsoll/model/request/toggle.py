"""A toggle: one target measured in two states, as requested, and the result."""

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
SPARE_TRIES = 4  # spare steps beyond the pairs, since audits may dispute some


class ToggledState(Model):
    """A named state: engine parameters, or another address of an existing database."""

    name: StateName = Field(description="Name of the state in reports, such as doublewrite-off.")
    # RDS's limit per call: API_ModifyDBParameterGroup (read 2026-11)
    parameters: Annotated[dict[ParameterName, str | int], Field(max_length=20)] = Field(
        default_factory=dict,
        description="RDS target only: engine parameters that override the target's. Both states"
        " set the same ones.",
    )
    endpoint: StateEndpoint | None = Field(
        None,
        description="Endpoint only: address at which the database is reached in this state, such"
        " as a proxy's. If not set, the target's own.",
    )


class Toggle(Model):
    """Two states, measured in pairs on one target or dataset."""

    states: Annotated[tuple[ToggledState, ...], Field(min_length=2, max_length=2)] = Field(
        description="The two states. The target starts in the first, and its capacity is measured"
        " there; the second is compared with it."
    )
    pairs: Annotated[int, Field(ge=3, le=50)] = Field(
        6,
        description="Number of pairs of steps at the load of the answer, one in each state, each"
        " after `prepare.warm_s` of unmeasured load.",
    )
    restart: Literal["needed", "always"] = Field(
        "needed",
        description="When the server is restarted before a step of the pairs. `needed`: if a"
        " running server cannot take the parameters (RDS calls them static). `always`: before"
        " every step, so that its memory holds nothing of the other state.",
    )

    @property
    def steps(self) -> int:
        """The number of steps that the pairs take."""
        return 2 * self.pairs

    def state(self, name: str) -> ToggledState:
        """Return a state by its name."""
        return next(state for state in self.states if state.name == name)

    @model_validator(mode="after")
    def _require_different_states(self) -> Self:
        first, second = self.states
        if first.name == second.name:
            problem = "is the first state's name too"
            raise UsageError(Complaint(("states", 1, "name"), problem, second.name))
        path = ("states", 1, "parameters")
        if lacking := sorted(set(first.parameters) ^ set(second.parameters)):
            problem = f"only one of both states sets {lacking[0]}; the other would keep its value"
            raise UsageError(Complaint(path, problem))
        if first.parameters and _settings_as_text(first) == _settings_as_text(second):
            raise UsageError(Complaint(path, "are the first state's: nothing would be switched"))
        return self


def _settings_as_text(state: ToggledState) -> dict[str, str]:
    return {name: str(value) for name, value in state.parameters.items()}


class StateFigures(Model):
    """The measurements in one state."""

    name: str
    parameters: dict[str, str | int]  # requested values
    # Address of an existing database in this state; None if the target was created
    endpoint: str | None = None
    # The server's own values; empty if it does not report them, or no step was measured
    server_says: dict[str, str]
    # Geometric mean of the steps that count; None if none does
    throughput_ops_per_second: float | None
    errors_share: float | None  # share of the operations in those steps


class ToggleResult(Model):
    """The comparison of two states of one target, measured in pairs."""

    states: tuple[StateFigures, StateFigures]
    axis: Axis
    load: float | None  # load of all pairs, on the axis; None without pairs
    statistic: Statistic  # statistic of the latencies
    throughput: PairedRatio  # second state / first state
    latency: dict[str, PairedRatio]  # {operation: second state / first state}
    steps: tuple[tuple[int, int], ...]  # the two steps of each pair, first state first
    left_out: int  # steps that audits dispute, and void ones
    pairs_asked: int
    method: str
    detail: str  # the result in one sentence


# --- the target in each state of its toggle ---


def map_endpoints_by_state(target: EndpointTarget, toggle: Toggle) -> dict[str, EndpointTarget]:
    """Return an existing database with its address in each state, in the toggle's order.

    Raises:
        UsageError: The engine does not have an option that a state sets.
    """
    reached = {}
    for number, state in enumerate(toggle.states):
        try:
            reached[state.name] = target.redirect(state.endpoint)
        except UsageError as error:
            raise error.within("toggle", "states", number, "endpoint") from None
    return reached


def map_addresses_by_state(target: object, toggle: Toggle) -> dict[str, str]:
    """Return the address of an existing database in each state; empty for a created target."""
    if not isinstance(target, EndpointTarget):
        return {}
    addresses = {}
    for state in toggle.states:
        told = {} if state.endpoint is None else state.endpoint.model_dump(exclude_none=True)
        options = {k: v for k, v in told.items() if k not in {"host", "port", "secret_arn"}}
        address = target.redirect(state.endpoint).address
        addresses[state.name] = ", ".join(
            [address, *(f"{name} = {value}" for name, value in options.items())]
        )
    return addresses


def require_switchable(target: object, toggle: Toggle) -> None:
    """Refuse states that a target cannot be switched to.

    Raises:
        UsageError: An endpoint has parameters, another target has endpoints, or it has no states.
    """
    match target:
        case EndpointTarget():
            _require_endpoints(target, toggle)
        case AuroraTarget() | CassandraTarget():
            raise UsageError(Complaint(("toggle",), _describe_unsupported(target.kind)))
        case _:
            for number, state in enumerate(toggle.states):
                path = ("toggle", "states", number)
                if state.endpoint is not None:
                    problem = (
                        "applies to an existing database; a target that Plimsoll creates has"
                        " `parameters`"
                    )
                    raise UsageError(Complaint((*path, "endpoint"), problem))
                if not state.parameters:
                    raise UsageError(Complaint((*path, "parameters"), "is missing"))


def _require_endpoints(target: EndpointTarget, toggle: Toggle) -> None:
    if target.engine == "cassandra":
        raise UsageError(Complaint(("toggle",), _describe_unsupported("Cassandra")))
    for number, state in enumerate(toggle.states):
        if state.parameters:
            problem = (
                "apply to a target that Plimsoll creates; an existing database is not changed:"
                " give the address of this state with `endpoint`"
            )
            raise UsageError(Complaint(("toggle", "states", number, "parameters"), problem))
    if toggle.restart != "needed":
        problem = "an existing database is not restarted"
        raise UsageError(Complaint(("toggle", "restart"), problem, toggle.restart, ("needed",)))
    first, second = map_endpoints_by_state(target, toggle).values()
    if first == second:
        problem = "is reached as in the first state: nothing would be switched"
        raise UsageError(Complaint(("toggle", "states", 1, "endpoint"), problem))


def _describe_unsupported(kind: str) -> str:
    return (
        f"needs an RDS instance or an existing database; with {kind} targets, measure each state"
        " in a run of its own and compare the runs with `plimsoll compare`"
    )
