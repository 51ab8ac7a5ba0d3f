"""The preflight: all checks, in order."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import boto3
from botocore.config import Config

from plimsoll.aws import clients
from plimsoll.client.address import Address
from plimsoll.client.service_client import Service
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.preflight.checks import Check, Preflight, unknown
from plimsoll.preflight.deployment_checks import find_stack, service_checks, stack_check
from plimsoll.preflight.ec2_checks import cassandra_target_checks
from plimsoll.preflight.quota_checks import quota_checks
from plimsoll.preflight.rds_checks import rds_target_checks, role_check

# a check is not worth a long wait: without an answer its outcome is unknown
_HASTY = Config(
    connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 2}
)


def preflight(
    service: Service,
    address: Address,
    requests: Mapping[str, Request],
    *,
    stack: str | None = None,
    at_once: int | None = None,
) -> Preflight:
    """Check whether runs are possible on the service, with the caller's rights. Creates nothing.

    Args:
        service: The service.
        address: The address of the service.
        requests: One request per run, by the run's name.
        stack: The name of the service's stack; None for the default.
        at_once: The number of runs at the same time; None for all.
    """
    asked = list(requests.values())
    ordered = _ordered(requests)
    checks = list(service_checks(service, [requests[names[0]] for names in ordered]))
    if not address.signed:
        why = f"no AWS account is behind {address.url}: one machine stands in for it"
        checks.append(Check(name="AWS", state="not applicable", detail=why))
        return Preflight(checks=tuple(checks))
    _through(address.region)
    deployed = find_stack(address, stack)
    checks.append(stack_check(deployed))
    zones = deployed.zones if deployed else ()
    for names in ordered:
        runs = names if len(ordered) > 1 else ()
        of_target = _of_target(requests[names[0]], zones)
        checks += (check.model_copy(update={"runs": runs}) for check in of_target)
    if deployed is None:
        why = "it is the deployment's account that counts, and these credentials may be another's"
        checks.append(unknown("quotas, roles", why))
    else:
        most = sorted(asked, key=_weight, reverse=True)[:at_once]
        checks += quota_checks(most)
        if any(isinstance(request.target, RdsTarget | AuroraTarget) for request in asked):
            checks += role_check()
    return Preflight(checks=tuple(checks))


def _through(region: str | None) -> None:
    make: Any = boto3.client  # boto3's types accept service names only as literals
    clients.through(lambda service: make(service, region_name=region, config=_HASTY))


def _ordered(requests: Mapping[str, Request]) -> list[tuple[str, ...]]:
    """Group the names of runs whose targets are ordered with the same options."""
    alike: dict[str, list[str]] = {}
    for name, request in requests.items():
        alike.setdefault(_order(request), []).append(name)
    return [tuple(names) for names in alike.values()]


def _of_target(request: Request, zones: Sequence[str]) -> tuple[Check, ...]:
    target = request.target
    match target:
        case RdsTarget() | AuroraTarget():
            return rds_target_checks(target, zones)
        case CassandraTarget():
            return cassandra_target_checks(target, zones)
        case EndpointTarget():
            return ()  # an endpoint is not created
        case _:
            assert_never(target)


def _order(request: Request) -> str:
    versioned = {"kind", "engine", "engine_version"}
    ordered = versioned | {"instance_class", "instance_type", "volume", "storage", "nodes"}
    return json.dumps(request.target.model_dump(mode="json", include=ordered), sort_keys=True)


def _weight(request: Request) -> tuple[int, int]:
    """Sort key: runs that need more of the account's quotas are greater."""
    target = request.target
    volume = getattr(target, "volume", None)
    nodes = target.nodes if isinstance(target, CassandraTarget) else 1
    return (nodes * volume.size_gib if volume else 0, request.prepare.clients)
