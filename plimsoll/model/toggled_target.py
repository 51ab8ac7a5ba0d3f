"""The target of a run in each of its toggle's states. Pure."""

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.toggle import Toggle


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
