"""The last resort: deletes target stacks whose time has passed, and reports each."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plimsoll.model.events import TargetLeaked
from plimsoll.runs import services
from plimsoll.runs.events import emit

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

STACK_PREFIX = "plimsoll-run-"
EXPIRES_AT = "plimsoll:expires-at"


def sweep(topic_arn: str, *, event_bus: str | None = None, at: datetime | None = None) -> list[str]:
    """Delete every target stack that should be gone.

    Args:
        topic_arn: Where each one is reported; empty: nowhere.
        event_bus: Where each one is told; None: nowhere.
        at: The time to compare with; None: now.

    Returns:
        The names of the stacks whose deletion was asked for.
    """
    moment = at or datetime.now(UTC)
    pages = services.cloudformation().get_paginator("describe_stacks").paginate()
    stacks = [stack for page in pages for stack in page["Stacks"]]
    expired = [stack for stack in stacks if _expired(stack, moment)]
    for stack in expired:
        services.cloudformation().delete_stack(StackName=stack["StackId"])
        print(json.dumps({"expired_target": stack["StackName"]}))  # an alarm counts these lines
    for stack in expired:  # only now: a message that cannot be sent keeps no target alive
        emit(event_bus, _leaked(stack, moment))
        if topic_arn:
            services.sns().publish(
                TopicArn=topic_arn,
                Subject="Plimsoll: a target outlived its time limit",
                Message=f"{stack['StackName']} should have been gone at {_expiry(stack)};"
                " the janitor has asked for its deletion",
            )
    return [stack["StackName"] for stack in expired]


def _leaked(stack: "StackTypeDef", moment: datetime) -> TargetLeaked:
    return TargetLeaked(
        run_id=stack["StackName"].removeprefix(STACK_PREFIX),
        stack_name=stack["StackName"],
        expired_at=datetime.fromisoformat(_expiry(stack) or ""),
        found_at=moment,
    )


def _expiry(stack: "StackTypeDef") -> str | None:
    return next((t["Value"] for t in stack.get("Tags", []) if t["Key"] == EXPIRES_AT), None)


def _expired(stack: "StackTypeDef", moment: datetime) -> bool:
    if not stack["StackName"].startswith(STACK_PREFIX):
        return False
    if stack["StackStatus"] in {"DELETE_COMPLETE", "DELETE_IN_PROGRESS"}:
        return False
    expiry = _expiry(stack)
    return expiry is not None and datetime.fromisoformat(expiry) <= moment
