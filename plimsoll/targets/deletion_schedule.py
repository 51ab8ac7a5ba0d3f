"""The one-shot schedule that deletes a target's stack at the run's time limit."""

import json
from datetime import datetime

from plimsoll.aws import clients

DELETE_STACK = "arn:aws:scheduler:::aws-sdk:cloudformation:deleteStack"


def arm_deletion(*, stack_name: str, at: datetime, group: str, role_arn: str) -> None:
    """Make the schedule; one that is there already stays as it is.

    Scheduler calls CloudFormation by itself: no code of ours has to work for the deletion to
    happen. It retries for a day, and deletes the schedule afterwards.

    Args:
        stack_name: The stack, which need not exist yet; also the schedule's name.
        at: When, in UTC.
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
                "Arn": DELETE_STACK,
                "RoleArn": role_arn,
                "Input": json.dumps({"StackName": stack_name}),
                "RetryPolicy": {"MaximumEventAgeInSeconds": 86_400, "MaximumRetryAttempts": 185},
            },
        )
    except client.exceptions.ConflictException:
        return


def disarm_deletion(*, stack_name: str, group: str) -> None:
    """Remove the schedule, if it is there."""
    client = clients.scheduler()
    try:
        client.delete_schedule(Name=stack_name, GroupName=group)
    except client.exceptions.ResourceNotFoundException:
        return
