"""Turns the function table's permissions into policies on this deployment's own resources."""

from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from plimsoll.model.functions import Permission, Resource


class Grant:
    """What a `Resource` of the function table is here: ARNs, and under which conditions."""

    def __init__(self, *arns: str, conditions: Mapping[str, Any] | None = None) -> None:
        self.arns = list(arns)
        self.conditions = conditions

    def statement(self, *actions: str) -> iam.PolicyStatement:
        """Allow actions on it."""
        return iam.PolicyStatement(
            actions=list(actions), resources=self.arns, conditions=self.conditions
        )


Grants = Mapping[Resource, tuple[Grant, ...]]


def statements(permissions: Iterable[Permission], grants: Grants) -> list[iam.PolicyStatement]:
    """Write the statements that a row of the function table asks for.

    Raises:
        KeyError: It asks for a resource that this deployment does not know.
    """
    return [
        grant.statement(*permission.actions)
        for permission in permissions
        for grant in grants[permission.resource]
    ]


def arn(stack: Stack, service: str, resource: str) -> str:
    """Name a resource of this account and region: `arn(stack, "rds", "db:plimsoll-*")`."""
    return f"arn:{stack.partition}:{service}:{stack.region}:{stack.account}:{resource}"


def role(scope: Construct, name: str, *, service: str, description: str) -> iam.Role:
    """Make a role that one AWS service may take."""
    return iam.Role(scope, name, assumed_by=iam.ServicePrincipal(service), description=description)
