"""The last resort: deletes target stacks whose time has passed, and reports each."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.aws import clients
from plimsoll.aws.event_bus import emit
from plimsoll.errors import PlimsollError
from plimsoll.model.deployment.events import TargetLeaked

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

STACK_PREFIX = "plimsoll-run-"
EXPIRES_AT = "plimsoll:expires-at"
LONGEST = timedelta(seconds=86_400)  # time limit that a run may have


def sweep(topic_arn: str, event_bus: str, *, at: datetime | None = None) -> list[str]:
    """Delete every target stack that should be gone.

    Args:
        topic_arn: Where each one is reported to people.
        event_bus: Where each one is reported to programs.
        at: The time to compare with; None: now.

    Returns:
        The names of the stacks whose deletion was asked for.

    Raises:
        PlimsollError: Something of it failed, after all the rest was done.
    """
    moment = at or datetime.now(UTC)
    expired = [stack for stack in _stacks() if _expired(stack, moment)]
    failures: list[str] = []
    asked = [stack for stack in expired if _done(failures, stack, _delete)]
    for stack in asked:  # after all deletions: a message that cannot be sent keeps no target alive
        _done(failures, stack, lambda gone: _report(gone, moment, topic_arn, event_bus))
    if failures:
        raise PlimsollError("; ".join(failures))
    return [stack["StackName"] for stack in asked]


def targets_alive() -> int:
    """Count the targets that are there, those that are being deleted among them."""
    return sum(1 for stack in _stacks() if _is_target(stack))


def _stacks() -> "Iterator[StackTypeDef]":
    pages = clients.cloudformation().get_paginator("describe_stacks").paginate()
    return (stack for page in pages for stack in page["Stacks"])


def _is_target(stack: "StackTypeDef") -> bool:
    """Whether a stack is a run's target, and not gone; what lacks the tag is none of ours."""
    named = stack["StackName"].startswith(STACK_PREFIX)
    tagged = any(tag["Key"] == EXPIRES_AT for tag in stack.get("Tags", []))
    return named and tagged and stack["StackStatus"] != "DELETE_COMPLETE"


def _done(
    failures: list[str], stack: "StackTypeDef", act: Callable[["StackTypeDef"], None]
) -> bool:
    """Do something about one stack; a failure is noted, and the other stacks have their turn."""
    try:
        act(stack)
    except (BotoCoreError, ClientError, PlimsollError) as error:
        failures.append(f"{stack['StackName']}: {error}")
        print(json.dumps({"janitor_failed": stack["StackName"], "error": str(error)}))
        return False
    return True


def _delete(stack: "StackTypeDef") -> None:
    clients.cloudformation().delete_stack(StackName=stack["StackId"])
    print(json.dumps({"expired_target": stack["StackName"]}))  # an alarm counts these lines


def _report(stack: "StackTypeDef", moment: datetime, topic_arn: str, event_bus: str) -> None:
    expired_at = _expires_at(stack)
    assert expired_at is not None  # noqa: S101 - it has expired
    leaked = TargetLeaked(
        run_id=stack["StackName"].removeprefix(STACK_PREFIX),
        stack_name=stack["StackName"],
        expired_at=expired_at,
        found_at=moment,
    )
    emit(event_bus, leaked)
    clients.sns().publish(
        TopicArn=topic_arn,
        Subject="Plimsoll: a target outlived its time limit",
        Message=f"{stack['StackName']} should have been gone at {expired_at.isoformat()};"
        " the janitor has asked for its deletion",
    )


def _expires_at(stack: "StackTypeDef") -> datetime | None:
    """Say when a target should be gone; None where the tag is missing: then it is none of ours.

    A tag that cannot be read counts as the longest time limit from the stack's creation on.
    """
    tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
    if EXPIRES_AT not in tags:
        return None
    try:
        expires_at = datetime.fromisoformat(tags[EXPIRES_AT])
    except ValueError:
        return stack["CreationTime"] + LONGEST
    return expires_at if expires_at.tzinfo else expires_at.replace(tzinfo=UTC)


def _expired(stack: "StackTypeDef", moment: datetime) -> bool:
    if not _is_target(stack) or stack["StackStatus"] == "DELETE_IN_PROGRESS":
        return False
    expires_at = _expires_at(stack)
    return expires_at is not None and expires_at <= moment
