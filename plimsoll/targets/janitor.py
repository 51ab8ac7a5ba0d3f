"""The last resort: deletes and reports target stacks and snapshots that outlived their time."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, get_args

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.aws import clients
from plimsoll.aws.event_bus import put_event
from plimsoll.aws.function_log import log_line
from plimsoll.errors import PlimsollError
from plimsoll.model.datasets import read_preparing_run_id
from plimsoll.model.deployment.events import TargetLeaked
from plimsoll.targets.snapshots import (
    EXPIRES_AT,
    Kind,
    SeenSnapshot,
    list_snapshots,
    request_deletion,
)

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

STACK_PREFIX = "plimsoll-run-"
_LONGEST_RUN = timedelta(seconds=86_400)  # no request may have a longer time limit
_LONGEST_EXPERIMENT = timedelta(days=30)  # no experiment may take longer
_GOING = {"deleting", "creating", "pending"}  # states of snapshots that cannot be deleted now


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

    def report(stack: "StackTypeDef") -> None:
        expired_at = _find_expiry(stack)
        assert expired_at is not None  # noqa: S101 - it has expired
        leaked = TargetLeaked(
            run_id=stack["StackName"].removeprefix(STACK_PREFIX),
            stack_name=stack["StackName"],
            expired_at=expired_at,
            found_at=moment,
        )
        _report(leaked, "target", topic_arn, event_bus)

    asked = [stack for stack in expired if _try_on_stack(failures, stack, _delete_stack)]
    for stack in asked:  # only after all deletions: a failing message must not keep a target alive
        _try_on_stack(failures, stack, report)
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


def _find_expiry(stack: "StackTypeDef") -> datetime | None:
    """Return when a target should be deleted; None without the tag, as it is not ours."""
    tags = {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}
    return _read_expiry(tags, made_at=stack["CreationTime"], longest=_LONGEST_RUN)


def _is_expired(stack: "StackTypeDef", moment: datetime) -> bool:
    if not _is_target(stack) or stack["StackStatus"] == "DELETE_IN_PROGRESS":
        return False
    expires_at = _find_expiry(stack)
    return expires_at is not None and expires_at <= moment


def sweep_snapshots(topic_arn: str, event_bus: str, *, at: datetime) -> list[str]:
    """Delete every snapshot of Plimsoll that is past its time.

    Args:
        topic_arn: The SNS topic that reports each one to people.
        event_bus: The event bus that reports each one to programs.
        at: The time to compare with.

    Returns:
        The names of the snapshots whose deletion was requested.

    Raises:
        PlimsollError: Something failed; everything else was still done.
    """
    asked: list[str] = []
    failures: list[str] = []
    for snapshot, expired_at in list_expired_snapshots(at):
        try:
            request_deletion(snapshot)
            # an alarm counts these lines
            log_line("ERROR", "past its time", expired_target=snapshot.name)
            asked.append(snapshot.name)
            leaked = TargetLeaked(
                run_id=read_preparing_run_id(snapshot.name),
                stack_name=snapshot.name,
                expired_at=expired_at,
                found_at=at,
            )
            _report(leaked, "snapshot", topic_arn, event_bus)
        except (BotoCoreError, ClientError, PlimsollError) as error:
            failures.append(f"{snapshot.name}: {error}")
            log_line("ERROR", "failed", janitor_failed=snapshot.name, error=type(error).__name__)
    if failures:
        raise PlimsollError("; ".join(failures))
    return asked


def list_expired_snapshots(at: datetime) -> Iterator[tuple[SeenSnapshot, datetime]]:
    """Yield the snapshots that are past their time and can be deleted now, each with that time.

    One without the tag is not ours.
    """
    for kind in get_args(Kind):
        for snapshot in list_snapshots(kind):
            made_at = snapshot.made_at
            expires_at = _read_expiry(snapshot.tags, made_at=made_at, longest=_LONGEST_EXPERIMENT)
            if expires_at is not None and expires_at <= at and snapshot.state not in _GOING:
                yield snapshot, expires_at


def _read_expiry(
    tags: Mapping[str, str], *, made_at: datetime | None, longest: timedelta
) -> datetime | None:
    """Return the time in a resource's tag; None without the tag.

    An unreadable tag counts as the longest time after the resource was made.
    """
    if EXPIRES_AT not in tags:
        return None
    try:
        expires_at = datetime.fromisoformat(tags[EXPIRES_AT])
    except ValueError:
        return None if made_at is None else made_at + longest
    return expires_at if expires_at.tzinfo else expires_at.replace(tzinfo=UTC)


def _report(leaked: TargetLeaked, kind: str, topic_arn: str, event_bus: str) -> None:
    """Tell programs and people of a target or a snapshot that outlived its time."""
    put_event(event_bus, leaked)
    clients.sns().publish(
        TopicArn=topic_arn,
        Subject=f"Plimsoll: a {kind} outlived its time limit",
        Message=f"{leaked.stack_name} should have been gone at {leaked.expired_at.isoformat()};"
        " the janitor has asked for its deletion",
    )
