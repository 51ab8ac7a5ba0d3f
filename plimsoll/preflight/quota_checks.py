"""Checks whether the account's quotas leave room for all runs of a request at once.

The codes are those of Service Quotas. Lambda's and EC2's come from the tables "Service quotas" of
the pages lambda-service.html and ec2-service.html of the AWS General Reference, RDS's from
rds-service.html (docs.aws.amazon.com/general/latest/gr/), read 2026-11-22. Step Functions' quotas
are looked up by their names, as ListAWSDefaultServiceQuotas gives them (read 2026-11-27 in public
projects that recorded it); no source was found for their codes.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.preflight.checks import Check, ask_aws, make_failed, make_passed, make_unknown
from plimsoll.preflight.ec2_checks import count_running_vcpus, find_instance_family, read_vcpus
from plimsoll.quoting.times import count_clients_at_once, count_fleet_most

if TYPE_CHECKING:
    from mypy_boto3_service_quotas.type_defs import ServiceQuotaTypeDef

FUNCTIONS_BESIDE = 20  # concurrent functions of a run besides its clients (docs/deploying.md)
STEP_FUNCTIONS = "quota: Step Functions"
# actions that Step Functions limits by token buckets; each client of a step takes one of each
_THROTTLED = {"StartExecution": "starts", "StateTransition": "state transitions"}
# seconds before the barrier in which no client starts: the Map begins, the last client connects
_NOT_STARTING_S = 10.0
STANDARD = frozenset({"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"})


@dataclass(frozen=True)
class Quota:
    """A quota in Service Quotas.

    Attributes:
        name: The name of the check.
        service: The code of the service.
        code: The code of the quota.
        unit: The unit of its value.
    """

    name: str
    service: str
    code: str
    unit: str


LAMBDA = Quota("quota: Lambda", "lambda", "L-B99A9384", "concurrent executions")
RDS_INSTANCES = Quota("quota: RDS instances", "rds", "L-7B6409FD", "DB instances")
RDS_STORAGE = Quota("quota: RDS storage", "rds", "L-7ADDB58A", "GB of storage")
EC2_STANDARD = Quota("quota: EC2", "ec2", "L-1216C47A", "vCPUs of standard instances")


def check_quotas(requests: Sequence[Request]) -> tuple[Check, ...]:
    """Check the quotas that these runs need at once.

    Args:
        requests: One request per run.
    """
    targets = [request.target for request in requests]
    on_rds = [target for target in targets if isinstance(target, RdsTarget)]
    on_ec2 = [
        target.instance_type
        for target in targets
        if isinstance(target, CassandraTarget)
        for _ in range(target.nodes)
    ]
    checks = list(
        _check_quota(LAMBDA, lambda: sum(map(_count_functions, requests)), used=lambda: None)
    )
    starting = sum(map(count_clients_at_once, requests))
    lead_s = AWS_TIMINGS.lead_s(sum(map(count_fleet_most, requests)))
    checks += ask_aws([STEP_FUNCTIONS], lambda: _check_step_functions(starting, lead_s))
    if instances := len(on_rds) + sum(isinstance(target, AuroraTarget) for target in targets):
        checks += _check_quota(
            RDS_INSTANCES, lambda: instances, used=lambda: _read_rds_use("DBInstances")
        )
    if on_rds:
        storage = sum(target.volume.size_gib for target in on_rds)
        checks += _check_quota(
            RDS_STORAGE, lambda: storage, used=lambda: _read_rds_use("AllocatedStorage")
        )
    if other := sorted({name for name in on_ec2 if find_instance_family(name) not in STANDARD}):
        why = f"the quota of {', '.join(other)} is not known to Plimsoll"
        checks.append(make_unknown(EC2_STANDARD.name, why, "see Service Quotas, Amazon EC2"))
    elif on_ec2:
        checks += _check_quota(
            EC2_STANDARD, lambda: _count_vcpus(on_ec2), used=lambda: count_running_vcpus(STANDARD)
        )
    return tuple(checks)


def _count_functions(request: Request) -> int:
    return max(count_clients_at_once(request), request.prepare.clients) + FUNCTIONS_BESIDE


def _count_vcpus(types: Sequence[str]) -> int:
    known = read_vcpus(types)
    return sum(known.get(name, 0) for name in types)


def _read_rds_use(name: str) -> int | None:
    """Return how much of an RDS quota is in use; None if not reported."""
    quotas = clients.rds().describe_account_attributes()["AccountQuotas"]
    return next((each["Used"] for each in quotas if each.get("AccountQuotaName") == name), None)


def _check_quota(
    quota: Quota, needed: Callable[[], int], *, used: Callable[[], int | None]
) -> tuple[Check, ...]:
    return ask_aws([quota.name], lambda: _compare_quota(quota, needed(), used()))


def _compare_quota(quota: Quota, needed: int, used: int | None) -> Iterator[Check]:
    limit = _read_quota(quota)
    need = f"{needed:,} of {limit:,} {quota.unit} needed at once"
    beside = "what is in use is not known" if used is None else f"{used:,} in use"
    if needed + (used or 0) <= limit:
        yield make_passed(quota.name, f"{need}; {beside}")
        return
    more = words.format_number(needed + (used or 0))
    to_do = (
        f"raise it to at least {more}: aws service-quotas request-service-quota-increase"
        f" --service-code {quota.service} --quota-code {quota.code} --desired-value N"
    )
    yield make_failed(quota.name, f"{need}; {beside}", to_do)


def _read_quota(quota: Quota) -> int:
    """Return a quota's value in the account; AWS's default if it was never set."""
    client = clients.service_quotas()
    try:
        found = client.get_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)
    except client.exceptions.NoSuchResourceException:
        return int(
            client.get_aws_default_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)[
                "Quota"
            ]["Value"]
        )
    return int(found["Quota"]["Value"])


def _check_step_functions(clients: int, lead_s: float) -> Iterator[Check]:
    """Check whether Step Functions can start so many clients before their step's barrier.

    Args:
        clients: The number of clients. Those of a relay's two fleets start at once, although the
            second one waits.
        lead_s: The seconds from planning the step to its barrier.
    """
    quotas = _list_quotas("states")
    lead_s -= _NOT_STARTING_S
    passed: list[str] = []
    for action, plural in _THROTTLED.items():
        size = quotas.get(f"{action} throttle token bucket size")
        rate = quotas.get(f"{action} throttle token refill rate per second")
        if size is None or rate is None:
            why = f"Service Quotas has no token bucket for {action}"
            yield make_unknown(STEP_FUNCTIONS, why, "see Service Quotas, AWS Step Functions")
            return
        at_once, per_s = size["Value"], rate["Value"]
        told = f"{at_once:,.0f} {plural} at once and {per_s:,.0f} a second"
        if at_once + per_s * lead_s < clients:
            started = words.format_number(int(at_once + per_s * lead_s))
            problem = f"{told} start {started} of {clients:,} clients in {lead_s:g} s"
            needed = math.ceil((clients - at_once) / lead_s)
            to_do = (
                f"raise it to at least {needed:,} a second: aws service-quotas"
                " request-service-quota-increase --service-code states --quota-code"
                f" {rate['QuotaCode']} --desired-value N"
            )
            yield make_failed(STEP_FUNCTIONS, problem, to_do)
            return
        passed.append(told)
    yield make_passed(STEP_FUNCTIONS, f"{'; '.join(passed)}, for {clients:,} clients")


def _list_quotas(service: str) -> Mapping[str, "ServiceQuotaTypeDef"]:
    """Return a service's quotas by their names: the account's, or AWS's default if never set."""
    client = clients.service_quotas()
    found: dict[str, ServiceQuotaTypeDef] = {}
    for defaults in client.get_paginator("list_aws_default_service_quotas").paginate(
        ServiceCode=service
    ):
        found.update((quota["QuotaName"], quota) for quota in defaults["Quotas"])
    for applied in client.get_paginator("list_service_quotas").paginate(ServiceCode=service):
        found.update((quota["QuotaName"], quota) for quota in applied["Quotas"])
    return found
