"""Deletes target stacks whose time has passed, and reports each; reconciles teams' limits."""

from datetime import UTC, datetime
from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.targets.janitor import sweep
from plimsoll.teams.reconcile import reconcile

_DEPLOYMENT = Deployment.of_function("janitor")


def handler(_event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer with the stacks whose deletion was asked for, and the runs whose shares came back."""
    topic, bus = _DEPLOYMENT.alarm_topic_arn or "", _DEPLOYMENT.event_bus
    try:
        deleted = sweep(topic, event_bus=bus)  # first: a target costs more than a share
    finally:  # a target that cannot be deleted holds no team's shares
        released = reconcile(_DEPLOYMENT, at=datetime.now(UTC))
    return {"deleted": deleted, "released": released}
