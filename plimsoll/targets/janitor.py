"""The last resort: deletes and reports target stacks that outlived their time."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.aws import clients
from plimsoll.aws.event_bus import put_event
from plimsoll.aws.function_log import log_line
from plimsoll.errors import PlimsollError
from plimsoll.model.deployment.events import TargetLeaked

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

STACK_PREFIX = "plimsoll-run-"
EXPIRES_AT = "plimsoll:expires-at"
LONGEST = timedelta(seconds=86_400)  # longest time limit of a run


def sweep_stacks(topic_arn: str, event_bus: str, *, at: datetime | None = None) -> list[str]:
    """Delete every target stack that is past its time.

    Args:
        topic_arn: The SNS topic that reports each one to people.
        event_bus: The event bus that reports each one to programs.
        at: The time to compare with; None for now.

    Returns:
        The names of the stacks whose deletion was requested.

    Raises:
        PlimsollError: Something failed; everything else was still done.
    """
    moment = at or datetime.now(UTC)
    expired = [stack for stack in _list_stacks() if _is_expired(stack, moment)]
    failures: list[str] = []
    asked = [stack for stack in expired if _try_on_stack(failures, stack, _delete_stack)]
    for stack in asked:  # only after all deletions: a failing message must not keep a target alive
        _try_on_stack(failures, stack, lambda gone: _report(gone, moment, topic_arn, event_bus))
    if failures:
        raise PlimsollError("; ".join(failures))
    return [stack["StackName"] for stack in asked]


def count_targets() -> int:
    """Count the existing targets, including those that are being deleted."""
    return sum(1 for stack in _list_stacks() if _is_target(stack))


def _list_stacks() -> "Iterator[StackTypeDef]":
    pages = clients.cloudformation().get_paginator("describe_stacks").paginate()
    return (stack for page in pages for stack in page["Stacks"])


def _is_target(stack: "StackTypeDef") -> bool:
    """Whether a stack is an existing target of a run; a stack without our tag is not ours."""
    named = stack["StackName"].startswith(STACK_PREFIX)
    tagged = any(tag["Key"] == EXPIRES_AT for tag in stack.get("Tags", []))
    return named and tagged and stack["StackStatus"] != "DELETE_COMPLETE"


def _try_on_stack(
    failures: list[str], stack: "StackTypeDef", act: Callable[["StackTypeDef"], None]
) -> bool:
    """Apply a function to one stack. A failure is recorded, so that the other stacks follow."""
    try:
        act(stack)
    except (BotoCoreError, ClientError, PlimsollError) as error:
        failures.append(f"{stack['StackName']}: {error}")
        log_line("ERROR", "failed", janitor_failed=stack["StackName"], error=type(error).__name__)
        return False
    return True


def _delete_stack(stack: "StackTypeDef") -> None:
    clients.cloudformation().delete_stack(StackName=stack["StackId"])
    # an alarm counts these lines
    log_line("ERROR", "past its time limit", expired_target=stack["StackName"])


def _report(stack: "StackTypeDef", moment: datetime, topic_arn: str, event_bus: str) -> None:
    expired_at = _find_expiry(stack)
    assert expired_at is not None  # noqa: S101 - it has expired
    leaked = TargetLeaked(
        run_id=stack["StackName"].removeprefix(STACK_PREFIX),
        stack_name=stack["StackName"],
        expired_at=expired_at,
        found_at=moment,
    )
    put_event(event_bus, leaked)
    clients.sns().publish(
        TopicArn=topic_arn,
        Subject="Plimsoll: a target outlived its time limit",
        Message=f"{stack['StackName']} should have been gone at {expired_at.isoformat()};"
        " the janitor has asked for its deletion",
    )


def _find_expiry(stack: "StackTypeDef") -> datetime | None:
    """Return when a target should be deleted; None without the tag, as it is not ours.

    An unreadable tag counts as the longest time limit after the stack's creation.
    """
    tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
    if EXPIRES_AT not in tags:
        return None
    try:
        expires_at = datetime.fromisoformat(tags[EXPIRES_AT])
    except ValueError:
        return stack["CreationTime"] + LONGEST
    return expires_at if expires_at.tzinfo else expires_at.replace(tzinfo=UTC)


def _is_expired(stack: "StackTypeDef", moment: datetime) -> bool:
    if not _is_target(stack) or stack["StackStatus"] == "DELETE_IN_PROGRESS":
        return False
    expires_at = _find_expiry(stack)
    return expires_at is not None and expires_at <= moment
