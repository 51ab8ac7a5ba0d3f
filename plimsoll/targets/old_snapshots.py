"""Snapshots of datasets that outlived their time: deletes and reports them as a last resort."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import get_args

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

LONGEST = timedelta(days=30)  # an experiment's workflow lasts no longer
_GOING = {"deleting", "creating", "pending"}


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
    for snapshot in list_expired_snapshots(at):
        try:
            request_deletion(snapshot)
            # an alarm counts these lines
            log_line("ERROR", "past its time", expired_target=snapshot.name)
            asked.append(snapshot.name)
            _report(snapshot, at, topic_arn, event_bus)
        except (BotoCoreError, ClientError, PlimsollError) as error:
            failures.append(f"{snapshot.name}: {error}")
            log_line("ERROR", "failed", janitor_failed=snapshot.name, error=type(error).__name__)
    if failures:
        raise PlimsollError("; ".join(failures))
    return asked


def list_expired_snapshots(at: datetime) -> Iterator[SeenSnapshot]:
    """Yield the snapshots that are past their time and can be deleted now."""
    for kind in get_args(Kind):
        for snapshot in list_snapshots(kind):
            expires_at = _find_expiry(snapshot)
            if expires_at is not None and expires_at <= at and snapshot.state not in _GOING:
                yield snapshot


def _find_expiry(snapshot: SeenSnapshot) -> datetime | None:
    """Return when a snapshot should be deleted; None without the tag, as it is not ours."""
    if EXPIRES_AT not in snapshot.tags:
        return None
    try:
        expires_at = datetime.fromisoformat(snapshot.tags[EXPIRES_AT])
    except ValueError:
        return None if snapshot.made_at is None else snapshot.made_at + LONGEST
    return expires_at if expires_at.tzinfo else expires_at.replace(tzinfo=UTC)


def _report(snapshot: SeenSnapshot, at: datetime, topic_arn: str, event_bus: str) -> None:
    expired_at = _find_expiry(snapshot)
    assert expired_at is not None  # noqa: S101 - it has expired
    leaked = TargetLeaked(
        run_id=read_preparing_run_id(snapshot.name),
        stack_name=snapshot.name,
        expired_at=expired_at,
        found_at=at,
    )
    put_event(event_bus, leaked)
    clients.sns().publish(
        TopicArn=topic_arn,
        Subject="Plimsoll: a snapshot outlived its time limit",
        Message=f"{snapshot.name} should have been gone at {expired_at.isoformat()};"
        " the janitor has asked for its deletion",
    )
