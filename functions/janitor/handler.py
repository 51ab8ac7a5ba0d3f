"""Deletes target stacks whose time has passed, and reports each; reconciles teams' limits."""

import os
from datetime import UTC, datetime
from typing import Any

from plimsoll.model.function_settings import JanitorSettings
from plimsoll.targets.janitor import sweep
from plimsoll.teams.reconcile import reconcile

SETTINGS = JanitorSettings.read(os.environ)


def handler(_event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer with the stacks whose deletion was asked for, and the runs whose shares came back."""
    try:  # targets first: one costs more than a share
        deleted = sweep(SETTINGS.alarm_topic_arn, SETTINGS.event_bus)
    finally:  # a target that cannot be deleted holds no team's shares
        released = reconcile(SETTINGS, at=datetime.now(UTC))
    return {"deleted": deleted, "released": released}
