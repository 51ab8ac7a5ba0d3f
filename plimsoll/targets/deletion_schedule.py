"""The schedule that deletes a target's stack once, at the run's time limit."""

import json
from datetime import datetime

from plimsoll.aws import clients

DELETE_STACK = "cloudformation:deleteStack"


def arm_deletion(*, stack_name: str, at: datetime, group: str, role_arn: str) -> None:
    """Create the schedule; an existing one is kept.

    Scheduler calls CloudFormation itself, so the deletion does not depend on our code. It retries
    for a day, then deletes the schedule.

    Args:
        stack_name: The stack, which need not exist yet. It is also the schedule's name.
        at: The time of the deletion, in UTC.
        group: The schedule group.
        role_arn: The role with which Scheduler deletes the stack.
    """
    client = clients.scheduler()
    try:
        client.create_schedule(
            Name=stack_name,
            GroupName=group,
            ScheduleExpression=f"at({at:%Y-%m-%dT%H:%M:%S})",
            ScheduleExpressionTimezone="UTC",
            FlexibleTimeWindow={"Mode": "OFF"},
            ActionAfterCompletion="DELETE",
            Target={
                "Arn": sdk_action(DELETE_STACK),
                "RoleArn": role_arn,
                "Input": json.dumps({"StackName": stack_name}),
                "RetryPolicy": {"MaximumEventAgeInSeconds": 86_400, "MaximumRetryAttempts": 185},
            },
        )
    except client.exceptions.ConflictException:
        return


def sdk_action(action: str) -> str:
    """Return the ARN of Scheduler's target that calls AWS: `cloudformation:deleteStack`."""
    return f"arn:{clients.scheduler().meta.partition}:scheduler:::aws-sdk:{action}"


def disarm_deletion(*, stack_name: str, group: str) -> None:
    """Delete the schedule if it exists."""
    client = clients.scheduler()
    try:
        client.delete_schedule(Name=stack_name, GroupName=group)
    except client.exceptions.ResourceNotFoundException:
        return
