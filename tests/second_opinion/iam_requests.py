"""What IAM is asked when AWS is called: actions, resources and condition keys of each call.

Service Authorization Reference, "Actions, resources, and condition keys for AWS services".
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.local.account import ACCOUNT, REGION
from tests.second_opinion import environment_of_its_own as environment
from tests.second_opinion.journal import AwsCall

AT = f"{REGION}:{ACCOUNT}"
TLS = {"aws:SecureTransport": "true"}
_S3 = {"ListObjectsV2": "ListBucket", "HeadObject": "GetObject"}
# RDS's parameters that name a resource; what a call makes is first
_RDS = {
    "DBSnapshotIdentifier": "snapshot",
    "DBInstanceIdentifier": "db",
    "DBParameterGroupName": "pg",
}
_SECRET_TAG = "aws:ResourceTag/aws:rds:primaryDBInstanceArn"


@dataclass(frozen=True)
class IamRequest:
    """One question to IAM.

    Attributes:
        action: `service:Action`.
        resource: Its ARN, or `*` where the action knows none.
        context: Condition keys.
    """

    action: str
    resource: str
    context: Mapping[str, str] = field(default_factory=dict)


def requests_of(call: AwsCall) -> list[IamRequest]:
    """List what IAM is asked for a call.

    Raises:
        KeyError: It is not known here what IAM is asked for this call.
    """
    return list(_SERVICES[call.service](call))


def _dynamodb(call: AwsCall) -> Iterator[IamRequest]:
    if call.operation == "TransactWriteItems":
        for item in call.parameters["TransactItems"]:
            ((kind, parameters),) = item.items()
            operation = "ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item"
            yield from _dynamodb(AwsCall(call.function, "dynamodb", operation, parameters))
        return
    table = f"arn:aws:dynamodb:{AT}:table/{call.parameters['TableName']}"
    index = call.parameters.get("IndexName")
    yield IamRequest(f"dynamodb:{call.operation}", f"{table}/index/{index}" if index else table)


def _s3(call: AwsCall) -> Iterator[IamRequest]:
    bucket = f"arn:aws:s3:::{call.parameters['Bucket']}"
    action = f"s3:{_S3.get(call.operation, call.operation)}"
    if "Key" in call.parameters:
        yield IamRequest(action, f"{bucket}/{call.parameters['Key']}", TLS)
    else:
        yield IamRequest(action, bucket, {**TLS, "s3:prefix": call.parameters["Prefix"]})


def stack_arn(name: str) -> str:
    """Give the ARN of a stack by its name, or as it is."""
    return name if name.startswith("arn:") else f"arn:aws:cloudformation:{AT}:stack/{name}/0123"


def _cloudformation(call: AwsCall) -> Iterator[IamRequest]:
    given = call.parameters
    stack = stack_arn(given["StackName"]) if "StackName" in given else "*"
    context = {}
    if call.operation == "CreateStack":
        context = {
            "cloudformation:RoleArn": given["RoleARN"],
            "cloudformation:TemplateUrl": given["TemplateURL"],
        }
        yield pass_role(given["RoleARN"], "cloudformation")
        yield IamRequest("cloudformation:TagResource", stack)
    yield IamRequest(f"cloudformation:{call.operation}", stack, context)


def pass_role(role: str, service: str) -> IamRequest:
    """Ask whether a role may be handed to a service."""
    return IamRequest("iam:PassRole", role, {"iam:PassedToService": f"{service}.amazonaws.com"})


def _scheduler(call: AwsCall) -> Iterator[IamRequest]:
    given = call.parameters
    arn = f"arn:aws:scheduler:{AT}:schedule/{given['GroupName']}/{given['Name']}"
    yield IamRequest(f"scheduler:{call.operation}", arn)
    if "Target" in given:
        yield pass_role(given["Target"]["RoleArn"], "scheduler")


def request_of_schedule(target: Mapping[str, Any]) -> IamRequest:
    """Give what IAM is asked when a schedule's time has come: its role calls a function or AWS.

    Raises:
        KeyError: It is not known here what IAM is asked for this call of AWS.
    """
    arn = str(target["Arn"])
    if ":aws-sdk:" not in arn:
        return IamRequest("lambda:InvokeFunction", arn)
    service, method = arn.split(":")[-2:]
    return _SCHEDULED[f"{service}:{method}"](json.loads(target["Input"]))


_SCHEDULED: Mapping[str, Callable[[Mapping[str, str]], IamRequest]] = {
    "cloudformation:deleteStack": lambda given: IamRequest(
        "cloudformation:DeleteStack", stack_arn(given["StackName"])
    ),
    "rds:deleteDBSnapshot": lambda given: IamRequest(
        "rds:DeleteDBSnapshot", f"arn:aws:rds:{AT}:snapshot:{given['DbSnapshotIdentifier']}"
    ),
    "ec2:deleteSnapshot": lambda given: IamRequest(
        "ec2:DeleteSnapshot",
        f"arn:aws:ec2:{REGION}::snapshot/{given['SnapshotId']}",
        {"aws:ResourceTag/plimsoll:run-id": "20260101-000000-abcdef"},
    ),
}


def _secretsmanager(call: AwsCall) -> Iterator[IamRequest]:
    # RDS tags a secret that it manages with the instance, whose name only the run knows
    tag = {_SECRET_TAG: f"arn:aws:rds:{AT}:db:plimsoll-20260101-000000-abcdef"}
    yield IamRequest(f"secretsmanager:{call.operation}", call.parameters["SecretId"], tag)


def _cloudwatch(call: AwsCall) -> Iterator[IamRequest]:
    yield IamRequest(f"cloudwatch:{call.operation}", "*")


def _rds(call: AwsCall) -> Iterator[IamRequest]:
    """Ask for each resource that a call names; a snapshot is tagged while it is taken."""
    given = call.parameters
    named = [f"arn:aws:rds:{AT}:{kind}:{given[key]}" for key, kind in _RDS.items() if key in given]
    for resource in named or ["*"]:
        yield IamRequest(f"rds:{call.operation}", resource)
    if "Tags" in given:
        yield IamRequest("rds:AddTagsToResource", named[0])


def _ec2(call: AwsCall) -> Iterator[IamRequest]:
    assert call.operation.startswith("Describe"), call.operation  # these know no resource
    yield IamRequest(f"ec2:{call.operation}", "*")


def _events(call: AwsCall) -> Iterator[IamRequest]:
    for entry in call.parameters["Entries"]:
        yield IamRequest(
            "events:PutEvents", f"arn:aws:events:{AT}:event-bus/{entry['EventBusName']}"
        )


def _sns(call: AwsCall) -> Iterator[IamRequest]:
    yield IamRequest("sns:Publish", call.parameters["TopicArn"])


def _stepfunctions(call: AwsCall) -> Iterator[IamRequest]:
    given = call.parameters
    arn = given.get("executionArn") or given["stateMachineArn"]
    yield IamRequest(f"states:{call.operation}", arn)


_SERVICES = {
    "cloudformation": _cloudformation,
    "cloudwatch": _cloudwatch,
    "dynamodb": _dynamodb,
    "ec2": _ec2,
    "events": _events,
    "rds": _rds,
    "s3": _s3,
    "scheduler": _scheduler,
    "secretsmanager": _secretsmanager,
    "sns": _sns,
    "stepfunctions": _stepfunctions,
}


@dataclass(frozen=True)
class Simulation:
    """A question with who asks it and what it is judged by."""

    role: str
    policy: Mapping[str, Any]
    request: IamRequest
    resource_policy: Mapping[str, Any] | None = None

    def written(self) -> dict[str, Any]:
        """Give it as the simulator reads it."""
        resource_policy = {"resourcePolicy": self.resource_policy} if self.resource_policy else {}
        return {
            "request": {
                "principal": f"arn:aws:sts::{ACCOUNT}:assumed-role/{self.role}/session",
                "action": self.request.action,
                "resource": {"resource": self.request.resource, "accountId": ACCOUNT},
                "contextVariables": dict(self.request.context),
            },
            "identityPolicies": [{"name": self.role, "policy": self.policy}],
            "serviceControlPolicies": [],
            "resourceControlPolicies": [],
            **resource_policy,
        }


def simulate(simulations: Sequence[Simulation]) -> list[str]:
    """Ask the simulator; gives `Allowed`, `ImplicitlyDenied`, `ExplicitlyDenied` or an error."""
    program = environment.PINNED / "simulate.mjs"
    done = subprocess.run(
        ["node", str(program), str(environment.home() / "node")],
        input=json.dumps([simulation.written() for simulation in simulations]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: list[str] = json.loads(done.stdout)
    return results
