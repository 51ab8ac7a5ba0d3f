"""The members of SDK calls: PascalCase in a state machine, botocore's own case on the wire.

JSON in place of bytes, such as an object's body, is written as text.

moto leaves the translation out, drops arguments that it does not know, and lets datetimes through,
which no JSON can hold.
https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
"""

import datetime as dt
import json
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service,
    state_task_service_aws_sdk,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.state_task import StateTask

from plimsoll.local.aws.corrections.clients import boto_client_for
from plimsoll.local.replacing import replace_members

StateTaskService = state_task_service.StateTaskService

# The service's name in an error (Java's SDK's), where it differs from the name in the resource.
_ERROR_NAMES = {
    "cloudformation": "CloudFormation",
    "cloudwatch": "CloudWatch",
    "rds": "Rds",
    "s3": "S3",
    "scheduler": "Scheduler",
    "secretsmanager": "SecretsManager",
    "timestreamwrite": "TimestreamWrite",
}


def to_request(value: Any, shape: Shape, path: str = "") -> Any:
    """Rename a request's members to botocore's.

    Raises:
        ValueError: A member that the call does not have.
    """
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        members = {_to_pascal(name): (name, member) for name, member in shape.members.items()}
        if unknown := sorted(set(value) - set(members)):
            known = ", ".join(sorted(members))
            raise ValueError(f"The field '{path}{unknown[0]}' is not supported; there are: {known}")
        return {
            members[key][0]: to_request(item, members[key][1], f"{path}{key}.")
            for key, item in value.items()
        }
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [to_request(item, shape.member, path) for item in value]
    if isinstance(shape, MapShape) and isinstance(value, dict):
        return {key: to_request(item, shape.value, path) for key, item in value.items()}
    if shape.type_name == "blob" and not isinstance(value, (str, bytes)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return value


def to_output(value: Any, shape: Shape | None) -> Any:
    """Rename a response's members to PascalCase, and make JSON of what is none."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        return {
            _to_pascal(key): to_output(item, shape.members.get(key)) for key, item in value.items()
        }
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [to_output(item, shape.member) for item in value]
    if isinstance(shape, MapShape) and isinstance(value, dict):
        return {key: to_output(item, shape.value) for key, item in value.items()}
    if hasattr(value, "read"):
        return value.read().decode()
    return value.decode() if isinstance(value, bytes) else value


def _to_pascal(name: str) -> str:
    """Write a member as Java's SDK does: RDS's `DBSnapshotIdentifier` is `DbSnapshotIdentifier`."""
    pascal = name[:1].upper() + name[1:]
    return f"Db{pascal[2:]}" if pascal.startswith("DB") else pascal


def _find_operation(task: Any, service: str | None, action: str | None) -> Any:
    client = boto_client_for("us-east-1", task._get_boto_service_name(service))  # noqa: SLF001
    method = task._get_boto_service_action(action)  # noqa: SLF001
    return client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])


def _normalise_parameters(
    self: Any,
    parameters: dict[str, Any],
    boto_service_name: str | None = None,
    service_action_name: str | None = None,
) -> None:
    shape = _find_operation(self, boto_service_name, service_action_name).input_shape
    renamed = to_request(parameters, shape)
    parameters.clear()
    parameters.update(renamed)


def _normalise_response(
    self: Any,
    response: Any,
    boto_service_name: str | None = None,
    service_action_name: str | None = None,
) -> None:
    if isinstance(response, dict):
        shape = _find_operation(self, boto_service_name, service_action_name).output_shape
        renamed = to_output(response, shape)
        response.clear()
        response.update(renamed)


def _eval_parameters(self: StateTask, env: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    if self.parargs is not None:
        self.parargs.eval(env=env)
        parameters = env.stack.pop()
    supported = self._get_supported_parameters()
    if supported and (unknown := sorted(set(parameters) - set(supported))):
        raise ValueError(
            f"The field '{unknown[0]}' is not supported by {self.resource.resource_arn}"
        )
    return parameters


def apply() -> None:
    """Fill in the translation."""
    replace_members(
        StateTaskService,
        _normalise_parameters=_normalise_parameters,
        _normalise_response=_normalise_response,
    )
    replace_members(StateTask, _eval_parameters=_eval_parameters)
    state_task_service_aws_sdk._SERVICE_ERROR_NAMES.update(_ERROR_NAMES)  # noqa: SLF001
