"""Creating, awaiting and deleting a target's stack. Every call is safe to repeat."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.errors import TargetCreationError, TeardownError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackEventTypeDef, StackTypeDef


class Deletion(StrEnum):
    """The progress of a stack's deletion."""

    NEVER_MADE = "never made"
    UNDER_WAY = "under way"
    SEEN = "seen"  # DELETE_COMPLETE was observed


def create_stack(
    *,
    name: str,
    template_url: str,
    parameters: Mapping[str, str],
    tags: Mapping[str, str],
    role_arn: str,
    token: str,
) -> str:
    """Create a stack and return its id; a repeated call returns the id of the existing stack.

    If a resource fails, creation stops and keeps what exists; the run's teardown deletes it.

    Raises:
        TargetCreationError: CloudFormation refuses the stack.
    """
    client = clients.cloudformation()
    try:
        return client.create_stack(
            StackName=name,
            TemplateURL=template_url,
            Parameters=[
                {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
            ],
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            RoleARN=role_arn,
            OnFailure="DO_NOTHING",
            ClientRequestToken=token,
        )["StackId"]
    except client.exceptions.AlreadyExistsException:
        stack = find_stack(name)
        if stack is None:
            raise
        return stack["StackId"]
    except client.exceptions.ClientError as error:
        reason = error.response["Error"]["Message"]
        raise TargetCreationError(f"the target could not be created: {reason}") from None


def find_stack(name_or_id: str) -> "StackTypeDef | None":
    """Describe a stack; None if there is none. AWS finds deleted stacks by their id only."""
    try:
        answer = clients.cloudformation().describe_stacks(StackName=name_or_id)
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return answer["Stacks"][0] if answer["Stacks"] else None


def read_outputs_when_created(stack_id: str) -> dict[str, str] | None:
    """Return a stack's outputs; None while it is being created.

    Raises:
        TargetCreationError: Creation failed; says why.
    """
    stack = find_stack(stack_id)
    if stack is None:
        raise TargetCreationError("the target's stack was deleted while it was being created")
    if stack["StackStatus"] == "CREATE_IN_PROGRESS":
        return None
    if stack["StackStatus"] != "CREATE_COMPLETE":
        raise TargetCreationError(f"the target could not be created: {_find_first_failure(stack)}")
    outputs = stack.get("Outputs", [])
    return {output["OutputKey"]: output["OutputValue"] for output in outputs}


def _find_first_failure(stack: "StackTypeDef") -> str:
    pages = clients.cloudformation().get_paginator("describe_stack_events")
    events: list[StackEventTypeDef] = []
    for page in pages.paginate(StackName=stack["StackId"]):
        events += page["StackEvents"]
    for event in sorted(events, key=lambda event: event["Timestamp"]):
        if event.get("ResourceStatus", "").endswith("_FAILED"):
            where = event.get("LogicalResourceId", "a resource")
            return f"{where}: {event.get('ResourceStatusReason', event['ResourceStatus'])}"
    return stack.get("StackStatusReason") or stack["StackStatus"]


def delete_stack(*, name: str, stack_id: str | None) -> Deletion:
    """Request a stack's deletion, and return its progress.

    Args:
        name: The stack's name.
        stack_id: The stack's id, if it is known to have been created; without it a finished
            deletion cannot be observed.

    Raises:
        TeardownError: The deletion failed; it was requested once more.
    """
    stack = find_stack(stack_id or name)
    if stack is None:
        return Deletion.NEVER_MADE if stack_id is None else Deletion.SEEN
    status = stack["StackStatus"]
    if status == "DELETE_COMPLETE":
        return Deletion.SEEN
    if status != "DELETE_IN_PROGRESS":
        clients.cloudformation().delete_stack(StackName=stack["StackId"])
    if status == "DELETE_FAILED":
        raise TeardownError(f"the target could not be deleted: {stack.get('StackStatusReason')}")
    return Deletion.UNDER_WAY
