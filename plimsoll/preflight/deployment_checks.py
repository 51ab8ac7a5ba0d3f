"""Checks of the deployment: its API, the caller's team, its version, and its stack."""

from collections.abc import Sequence
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

import plimsoll
from plimsoll.aws import clients
from plimsoll.client.address import DEFAULT_STACK, OUTPUT, Address
from plimsoll.client.refusals import ServiceError
from plimsoll.client.service_client import Service
from plimsoll.errors import PlimsollError
from plimsoll.model.request.request import Request
from plimsoll.preflight.checks import Check, make_failed, make_passed, make_unknown

API, CLIENT, TEAM, REQUEST, STACK = "API", "version", "team", "request", "stack"
_MAY_CALL = "execute-api:Invoke on the API, in an account that its deployment lets in (docs/api.md)"
NEVER_POSSIBLE = 409  # a limit of the team never leaves room
_STANDING = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")


@dataclass(frozen=True)
class Deployed:
    """The stack of the service, as the caller's credentials see it.

    Attributes:
        name: The stack's name.
        status: The status in CloudFormation.
        zones: The availability zones for targets; empty for an older stack, which does not list
            them.
    """

    name: str
    status: str
    zones: tuple[str, ...]


def check_service(service: Service, requests: Sequence[Request]) -> tuple[Check, ...]:
    """Ask the service who the caller is, and whether it accepts each request.

    Args:
        service: The service.
        requests: One request per run.
    """
    try:
        version = service.health().version
    except PlimsollError as error:
        why = f"it depends on the {API}"
        return make_failed(API, str(error), _MAY_CALL), *(
            make_unknown(n, why) for n in (CLIENT, TEAM, REQUEST)
        )
    return (
        make_passed(API, "it answers"),
        _check_version(version),
        _check_team(service, requests),
        *_check_quotes(service, requests),
    )


def find_deployment(address: Address, stack: str | None) -> Deployed | None:
    """Find the stack whose API has this address; None if these credentials see no such stack.

    Only if it is found do the credentials belong to the deployment's account: an API may be called
    from other accounts.

    Args:
        address: The address of the API.
        stack: The stack's name, if one was given.
    """
    name = stack or DEFAULT_STACK
    try:
        described = clients.cloudformation().describe_stacks(StackName=name)["Stacks"][0]
    except (BotoCoreError, ClientError):
        return None
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", [])}
    if outputs.get(OUTPUT, "").rstrip("/") != address.url:
        return None
    zones = tuple(filter(None, outputs.get("TargetZones", "").split(",")))
    return Deployed(name, described["StackStatus"], zones)


def check_stack(found: Deployed | None) -> Check:
    """Check the stack's status."""
    if found is None:
        why = "these credentials see no stack with this API: name it by --stack"
        return make_unknown(STACK, why)
    if found.status in _STANDING:
        return make_passed(STACK, f"{found.name} is {found.status}")
    to_do = "wait until it ends" if found.status.endswith("_IN_PROGRESS") else "npx cdk deploy"
    return make_failed(STACK, f"{found.name} is {found.status}", to_do)


def _check_version(of_service: str) -> Check:
    own = plimsoll.__version__
    if own.split(".")[:2] == of_service.split(".")[:2]:
        return make_passed(CLIENT, f"the service is {of_service}, this command {own}")
    problem = f"the service is {of_service}, this command is {own}"
    to_do = f"use plimsoll {of_service}, or deploy {own}: npx cdk deploy"
    return make_failed(CLIENT, problem, to_do)


def _check_team(service: Service, requests: Sequence[Request]) -> Check:
    named = sorted({each.team for each in requests if "team" in each.model_fields_set})
    teams: list[str | None] = [*named] or [None]
    try:
        for team in teams:
            list(service.runs(most=1, team=team))
    except ServiceError as error:
        to_do = "the deployment's cdk.json names each team's principals (docs/api.md)"
        return make_failed(TEAM, str(error), to_do)
    except PlimsollError as error:
        return make_unknown(TEAM, str(error))
    return make_passed(TEAM, f"the caller belongs to {', '.join(named) or 'a team'}")


def _check_quotes(service: Service, requests: Sequence[Request]) -> list[Check]:
    """Have the service quote each request: it validates it, and asks RDS with its own rights."""
    checks = []
    for request in requests:
        try:
            service.quote(request)
        except ServiceError as error:
            if error.exit_code != 2 and error.status != NEVER_POSSIBLE:
                checks.append(make_unknown(REQUEST, str(error)))
            else:
                checks.append(
                    make_failed(REQUEST, f"{request.name}: {error}", "correct the request")
                )
        except PlimsollError as error:
            checks.append(make_unknown(REQUEST, str(error)))
    return checks or [make_passed(REQUEST, "the service gives a quote for it")]
