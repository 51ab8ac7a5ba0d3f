"""Existing databases as targets: which ones a deployment allows, and their addresses. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.databases import find_protocol
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import map_endpoints_by_state
from plimsoll.model.run.run_record import TargetAddress


def find_endpoint_addresses(
    request: Request, allowed: Mapping[str, str]
) -> dict[str, TargetAddress]:
    """Return the addresses of an existing database by toggle state, the first state first.

    Args:
        request: A request whose target is an endpoint. Without a toggle it has one state, named "".
        allowed: The allowed endpoints and their secrets, as in `find_endpoint_address`.

    Raises:
        UsageError: The deployment does not allow load on one of them, or not with this secret.
    """
    assert isinstance(request.target, EndpointTarget)  # noqa: S101 - the caller has looked
    if request.toggle is None:
        return {"": find_endpoint_address(request.target, allowed)}
    addresses = {}
    for number, (name, target) in enumerate(
        map_endpoints_by_state(request.target, request.toggle).items()
    ):
        try:
            addresses[name] = find_endpoint_address(target, allowed)
        except UsageError as error:
            if request.toggle.states[number].endpoint is None:
                raise
            raise _name_state_field(number, error) from None
    return addresses


def _name_state_field(number: int, error: UsageError) -> UsageError:
    """Name the state's field in the error in place of the target's."""
    place = ("toggle", "states", number, "endpoint")
    return UsageError(*(replace(c, path=(*place, *c.path[1:])) for c in error.complaints))


def find_endpoint_address(target: EndpointTarget, allowed: Mapping[str, str]) -> TargetAddress:
    """Return the address of an existing database.

    Args:
        target: The requested endpoint.
        allowed: The secret of each endpoint that the deployment allows, by `host:port`. A secret
            opens its own endpoint only, so that no password is sent to another one.

    Raises:
        UsageError: The deployment does not allow load on it, or not with this secret.
    """
    endpoint = target.address
    if endpoint not in allowed:
        problem = f"{endpoint} is not among the endpoints that this deployment allows"
        raise UsageError(Complaint(("target", "host"), problem, target.host, tuple(allowed)))
    if target.engine == "cassandra":
        problem = "an existing Cassandra is measured by `plimsoll find` alone"
        raise UsageError(Complaint(("target", "engine"), problem, target.engine))
    if target.allow_writes:
        problem = "rows that Plimsoll did not make are changed on one machine alone"
        raise UsageError(Complaint(("target", "allow_writes"), problem, target.allow_writes))
    if target.stop_if:
        problem = "only a search from one machine can end at once; leave it out"
        raise UsageError(Complaint(("target", "stop_if"), problem, target.stop_if[0]))
    if target.secret_arn != allowed[endpoint]:
        path, secret = ("target", "secret_arn"), allowed[endpoint]
        problem = f"{endpoint} has another secret" if target.secret_arn else "is missing"
        raise UsageError(Complaint(path, problem, target.secret_arn, (secret,)))
    return TargetAddress(
        host=target.host,
        port=target.port,
        database=target.database,
        secret_arn=target.secret_arn,
        identifier=None,
        protocol=find_protocol(target.engine),
        tls=target.tls,
        statement_mode=target.statement_mode,
        allow_md5=target.allow_md5,
    )
