"""Schedules that delete something once, at a time that is known beforehand."""

import json
from collections.abc import Mapping
from datetime import datetime

from plimsoll.aws import clients

DELETE_STACK = "cloudformation:deleteStack"


def arm_deletion(*, stack_name: str, at: datetime, group: str, role_arn: str) -> None:
    """Create the schedule that deletes a target's stack; an existing one is kept.

    Args:
        stack_name: The stack, which need not exist yet. It is also the schedule's name.
        at: The time of the deletion, in UTC.
        group: The schedule group.
        role_arn: The role with which Scheduler deletes the stack.
    """
    arguments = {"StackName": stack_name}
    schedule_call(stack_name, DELETE_STACK, arguments, at=at, group=group, role_arn=role_arn)


def schedule_call(
    name: str,
    action: str,
    arguments: Mapping[str, str],
    *,
    at: datetime,
    group: str,
    role_arn: str,
) -> None:
    """Create a schedule that calls AWS once; an existing one is kept.

    Scheduler makes the call itself, so it does not depend on our code. It retries for a day, then
    deletes the schedule.

    Args:
        name: The schedule's name.
        action: What is called: `cloudformation:deleteStack`.
        arguments: The arguments of the call.
        at: The time of the call, in UTC.
        group: The schedule group.
        role_arn: The role with which Scheduler calls.
    """
    client = clients.scheduler()
    try:
        client.create_schedule(
            Name=name,
            GroupName=group,
            ScheduleExpression=f"at({at:%Y-%m-%dT%H:%M:%S})",
            ScheduleExpressionTimezone="UTC",
            FlexibleTimeWindow={"Mode": "OFF"},
            ActionAfterCompletion="DELETE",
            Target={
                "Arn": f"arn:{client.meta.partition}:scheduler:::aws-sdk:{action}",
                "RoleArn": role_arn,
                "Input": json.dumps(dict(arguments)),
                "RetryPolicy": {"MaximumEventAgeInSeconds": 86_400, "MaximumRetryAttempts": 185},
            },
        )
    except client.exceptions.ConflictException:
        return


def disarm_deletion(*, stack_name: str, group: str) -> None:
    """Delete the schedule if it exists."""
    client = clients.scheduler()
    try:
        client.delete_schedule(Name=stack_name, GroupName=group)
    except client.exceptions.ResourceNotFoundException:
        return
