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
from plimsoll.preflight.checks import Check, Preflight, make_unknown
from plimsoll.preflight.deployment_checks import check_service, check_stack, find_deployment
from plimsoll.preflight.ec2_checks import check_cassandra_target
from plimsoll.preflight.quota_checks import check_quotas
from plimsoll.preflight.rds_checks import check_rds_target, check_role

# a check is not worth a long wait: without an answer its outcome is unknown
_HASTY = Config(
    connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 2}
)


def run_preflight(
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
    ordered = _group_runs(requests)
    checks = list(check_service(service, [requests[names[0]] for names in ordered]))
    if not address.signed:
        why = f"no AWS account is behind {address.url}: one machine stands in for it"
        checks.append(Check(name="AWS", state="not applicable", detail=why))
        return Preflight(checks=tuple(checks))
    _use_hasty_clients(address.region)
    deployed = find_deployment(address, stack)
    checks.append(check_stack(deployed))
    zones = deployed.zones if deployed else ()
    for names in ordered:
        runs = names if len(ordered) > 1 else ()
        of_target = _check_target(requests[names[0]], zones)
        checks += (check.model_copy(update={"runs": runs}) for check in of_target)
    if deployed is None:
        why = "the deployment's account counts, and these credentials may belong to another one"
        checks.append(make_unknown("quotas, roles", why))
    else:
        most = sorted(asked, key=_make_quota_key, reverse=True)[:at_once]
        checks += check_quotas(most)
        if any(isinstance(request.target, RdsTarget | AuroraTarget) for request in asked):
            checks += check_role()
    return Preflight(checks=tuple(checks))


def _use_hasty_clients(region: str | None) -> None:
    make: Any = boto3.client  # boto3's types accept service names only as literals
    clients.use_factory(lambda service: make(service, region_name=region, config=_HASTY))


def _group_runs(requests: Mapping[str, Request]) -> list[tuple[str, ...]]:
    """Group the names of runs whose targets are ordered with the same options."""
    alike: dict[str, list[str]] = {}
    for name, request in requests.items():
        alike.setdefault(_make_target_key(request), []).append(name)
    return [tuple(names) for names in alike.values()]


def _check_target(request: Request, zones: Sequence[str]) -> tuple[Check, ...]:
    target = request.target
    match target:
        case RdsTarget() | AuroraTarget():
            return check_rds_target(target, zones)
        case CassandraTarget():
            return check_cassandra_target(target, zones)
        case EndpointTarget():
            return ()  # an endpoint is not created
        case _:
            assert_never(target)


def _make_target_key(request: Request) -> str:
    versioned = {"kind", "engine", "engine_version"}
    ordered = versioned | {"instance_class", "instance_type", "volume", "storage", "nodes"}
    return json.dumps(request.target.model_dump(mode="json", include=ordered), sort_keys=True)


def _make_quota_key(request: Request) -> tuple[int, int]:
    """Sort key: runs that need more of the account's quotas are greater."""
    target = request.target
    volume = getattr(target, "volume", None)
    nodes = target.nodes if isinstance(target, CassandraTarget) else 1
    return (nodes * volume.size_gib if volume else 0, request.prepare.clients)
