"""What a synthesized template deploys, its names filled in: policies, roles, names of resources."""

from collections.abc import Mapping
from typing import Any

from plimsoll.local.account import ACCOUNT, REGION
from tests.infrastructure.template import as_list

_PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::URLSuffix": "amazonaws.com",
}
_NAMES = (
    "FunctionName", "StateMachineName", "BucketName", "TableName", "TopicName", "QueueName",
    "DBSubnetGroupName", "LogGroupName", "RoleName", "Name",
)  # fmt: skip
_ARNS = {
    "AWS::DynamoDB::Table": "dynamodb:{at}:table/{name}",
    "AWS::Events::EventBus": "events:{at}:event-bus/{name}",
    "AWS::Events::Rule": "events:{at}:rule/{name}",
    "AWS::IAM::Role": "iam::{account}:role/{name}",
    "AWS::Lambda::Function": "lambda:{at}:function:{name}",
    "AWS::Logs::LogGroup": "logs:{at}:log-group:{name}:*",
    "AWS::S3::Bucket": "s3:::{name}",
    "AWS::SNS::Topic": "sns:{at}:{name}",
    "AWS::SQS::Queue": "sqs:{at}:{name}",
    "AWS::StepFunctions::StateMachine": "states:{at}:stateMachine:{name}",
}
_REF_IS_ARN = {"AWS::SNS::Topic", "AWS::StepFunctions::StateMachine"}


class Deployed:
    """A template as CloudFormation deploys it; a resource without a name is called by its id."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._resources: Mapping[str, Any] = body["Resources"]

    def value(self, given: Any) -> Any:
        """Resolve a value of the template.

        Raises:
            KeyError: An intrinsic, or a resource, of which this does not know what it gives.
        """
        if isinstance(given, list):
            return [self.value(item) for item in given]
        if not isinstance(given, Mapping):
            return given
        match dict(given):
            case {"Ref": name}:
                return self._ref(name)
            case {"Fn::GetAtt": [name, attribute]}:
                return self._attribute(name, attribute)
            case {"Fn::Join": [between, parts]}:
                return between.join(str(self.value(part)) for part in parts)
        return {key: self.value(item) for key, item in given.items()}

    def name(self, resource: str) -> str:
        """Give a resource's physical name."""
        properties = self._resources[resource].get("Properties", {})
        named = next((properties[key] for key in _NAMES if key in properties), None)
        return str(self.value(named)) if named is not None else f"plimsoll-{resource.lower()}"

    def arn(self, resource: str) -> str:
        """Give a resource's ARN."""
        pattern = _ARNS[self._resources[resource]["Type"]]
        at = f"{REGION}:{ACCOUNT}"
        return f"arn:aws:{pattern.format(at=at, account=ACCOUNT, name=self.name(resource))}"

    def _ref(self, name: str) -> str:
        if name in _PSEUDO:
            return _PSEUDO[name]
        by_arn = self._resources[name]["Type"] in _REF_IS_ARN
        return self.arn(name) if by_arn else self.name(name)

    def _attribute(self, name: str, attribute: str) -> str:
        if attribute == "Arn":
            return self.arn(name)
        if attribute == "RegionalDomainName":
            return f"{self.name(name)}.s3.{REGION}.amazonaws.com"
        return f"{name}.{attribute}"  # an address or an id, which no policy names

    def of_type(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Its resources of a type, by logical id, as they are written."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self._resources.items()
            if resource["Type"] == kind
        }

    def policy(self, role: str) -> dict[str, Any]:
        """Give all that a role's policies say, in one document."""
        statements = [
            statement
            for policy in self.of_type("AWS::IAM::Policy").values()
            if {"Ref": role} in policy["Roles"]
            for statement in as_list(policy["PolicyDocument"]["Statement"])
        ]
        return {"Version": "2012-10-17", "Statement": self.value(statements)}

    def bucket_policy(self, bucket: str) -> Any:
        """Give the policy of a bucket."""
        for policy in self.of_type("AWS::S3::BucketPolicy").values():
            if policy["Bucket"] == {"Ref": bucket}:
                return self.value(policy["PolicyDocument"])
        raise KeyError(bucket)

    def function_role(self, name: str) -> str:
        """Give the logical id of a function's role, by the function's row in the table."""
        return self._role("AWS::Lambda::Function", "FunctionName", f"plimsoll-{name}", "Role")

    def machine_role(self, name: str) -> str:
        """Give the logical id of a state machine's role."""
        kind = "AWS::StepFunctions::StateMachine"
        return self._role(kind, "StateMachineName", f"plimsoll-{name}", "RoleArn")

    def _role(self, kind: str, key: str, name: str, role: str) -> str:
        for properties in self.of_type(kind).values():
            if properties.get(key) == name:
                return str(properties[role]["Fn::GetAtt"][0])
        raise KeyError(name)

    def environment(self, function: str) -> dict[str, str]:
        """Give the environment of a function by its row in the table."""
        for properties in self.of_type("AWS::Lambda::Function").values():
            if properties.get("FunctionName") == f"plimsoll-{function}":
                variables: dict[str, str] = self.value(properties["Environment"]["Variables"])
                return variables
        raise KeyError(function)
