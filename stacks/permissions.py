"""Turns the function table's permissions into policies on this deployment's own resources."""

from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from plimsoll.model.deployment.functions import Permission, Resource


class Grant:
    """What a `Resource` of the function table means in this deployment: ARNs and conditions.

    Attributes:
        conditions: The conditions of every action.
        of_action: The conditions of single actions, if only those support the condition's key.
    """

    def __init__(
        self,
        *arns: str,
        conditions: Mapping[str, Any] | None = None,
        of_action: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.arns = list(arns)
        self.conditions = conditions
        self.of_action = of_action or {}

    def statements(self, actions: Iterable[str]) -> list[iam.PolicyStatement]:
        """Return the statements that allow the actions; those with own conditions are separate."""
        plain = [action for action in actions if action not in self.of_action]
        made = [self._statement([a], self.of_action[a]) for a in actions if a in self.of_action]
        return [*made, *([self._statement(plain, self.conditions)] if plain else [])]

    def _statement(
        self, actions: list[str], conditions: Mapping[str, Any] | None
    ) -> iam.PolicyStatement:
        return iam.PolicyStatement(actions=actions, resources=self.arns, conditions=conditions)


Grants = Mapping[Resource, tuple[Grant, ...]]


def write_statements(
    permissions: Iterable[Permission], grants: Grants
) -> list[iam.PolicyStatement]:
    """Return the statements for a row of the function table.

    Raises:
        KeyError: The row names a resource that this deployment does not have.
    """
    return [
        statement
        for permission in permissions
        for grant in grants[permission.resource]
        for statement in grant.statements(permission.actions)
    ]


def arn(stack: Stack, service: str, resource: str) -> str:
    """Return an ARN in this account and region: `arn(stack, "rds", "db:plimsoll-*")`."""
    return f"arn:{stack.partition}:{service}:{stack.region}:{stack.account}:{resource}"


def make_role(scope: Construct, name: str, *, service: str, description: str) -> iam.Role:
    """Create a role that one AWS service may assume."""
    return iam.Role(scope, name, assumed_by=iam.ServicePrincipal(service), description=description)
