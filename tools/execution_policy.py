"""Writes what CloudFormation has to be allowed to deploy a template: for `cdk bootstrap`.

    npx cdk synth --quiet
    .venv/bin/python -m tools.execution_policy cdk.out/Plimsoll.template.json

The actions are those of CloudFormation's own handlers of the template's resource types, as
cfn-lint's copy of their schemas lists them. Policies are managed ones, which AWS limits to 6,144
characters, so there are several; `--cloudformation-execution-policies` takes all of them.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import cfnlint  # type: ignore[import-untyped]  # it has no types

POLICY_MOST = 6_144  # characters without blanks (IAM and STS quotas)
# What the CDK's own resources take: assets from the bootstrap's bucket, and custom resources
ALWAYS = ("lambda:InvokeFunction", "s3:GetObject", "ssm:GetParameters")
# Roles and profiles are the stack's own alone; the others have names that AWS or the CDK makes up
_OF_STACK = ("role", "instance-profile")
_SERVICE_ROLES = "iam:CreateServiceLinkedRole"


def list_actions(template: Mapping[str, Any]) -> set[str]:
    """Return the actions of the handlers of all resource types of a template."""
    handlers = _read_handlers()
    types = {resource["Type"] for resource in template["Resources"].values()}
    return {
        action
        for kind in types
        for event in handlers.get(kind, {}).values()
        for action in event.get("permissions", ())
    } | set(ALWAYS)


def write_policies(
    actions: Iterable[str], stack: str, partition: str = "aws"
) -> list[dict[str, Any]]:
    """Return policies that allow the actions: those of IAM on the stack's own roles.

    Args:
        actions: Actions of AWS, such as `sqs:CreateQueue`.
        stack: The stack's name, with which the names of its roles begin.
        partition: The partition of the account.
    """
    services: dict[str, list[str]] = {}
    for action in sorted(actions):
        services.setdefault(action.split(":")[0], []).append(action)
    statements = [
        statement
        for service, allowed in services.items()
        for statement in _write_statements(service, allowed, f"arn:{partition}:iam::*:", stack)
    ]
    policies: list[dict[str, Any]] = []
    for statement in statements:
        if not policies or _measure(policies[-1], statement) > POLICY_MOST:
            policies.append({"Version": "2012-10-17", "Statement": []})
        policies[-1]["Statement"].append(statement)
    return policies


def _write_statements(
    service: str, actions: list[str], iam: str, stack: str
) -> list[dict[str, Any]]:
    if service != "iam":
        return [{"Effect": "Allow", "Action": actions, "Resource": "*"}]
    own = [f"{iam}{kind}/{stack}-*" for kind in _OF_STACK]
    linked = f"{iam}role/aws-service-role/*"
    return [
        {
            "Effect": "Allow",
            "Action": [action for action in actions if action != _SERVICE_ROLES],
            "Resource": own,
        },
        {"Effect": "Allow", "Action": [_SERVICE_ROLES], "Resource": linked},
    ]


def _measure(policy: Mapping[str, Any], statement: Mapping[str, Any]) -> int:
    together = {**policy, "Statement": [*policy["Statement"], statement]}
    return len(json.dumps(together, separators=(",", ":")))


def _read_handlers() -> dict[str, Mapping[str, Any]]:
    folder = Path(cfnlint.__file__).parent / "data" / "schemas" / "resources"
    schemas = (json.loads(path.read_text()) for path in folder.glob("*.json"))
    return {schema.get("typeName"): schema.get("handlers") or {} for schema in schemas}


def main() -> None:
    """Write a file for each policy, and print the commands that use them."""
    parser = argparse.ArgumentParser(description="Policies for cdk bootstrap.")
    parser.add_argument("template", type=Path, help="synthesized template, in cdk.out/")
    parser.add_argument("--partition", default="aws", choices=["aws", "aws-cn", "aws-us-gov"])
    parser.add_argument("--out", type=Path, default=Path("cdk.out"), help="folder of the policies")
    given = parser.parse_args()
    stack = given.template.name.split(".")[0]
    template = json.loads(given.template.read_text())
    names = []
    for number, policy in enumerate(
        write_policies(list_actions(template), stack, given.partition), start=1
    ):
        names.append(f"{stack}-deploy-{number}")
        file = given.out / f"{names[-1]}.json"
        file.write_text(json.dumps(policy, indent=1) + "\n")
        print(f"aws iam create-policy --policy-name {names[-1]} --policy-document file://{file}")
    arns = ",".join(f"arn:{given.partition}:iam::ACCOUNT:policy/{name}" for name in names)
    print(f"npx cdk bootstrap --cloudformation-execution-policies {arns} aws://ACCOUNT/REGION")


if __name__ == "__main__":
    main()
