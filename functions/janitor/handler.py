"""Deletes targets and snapshots past their time, reports each; reconciles limits; counts all."""

import os
from datetime import UTC, datetime
from typing import Any

from plimsoll.model.deployment.function_settings import JanitorSettings
from plimsoll.targets.janitor import sweep
from plimsoll.targets.old_snapshots import sweep_snapshots
from plimsoll.teams.reconcile import reconcile
from plimsoll.workflow.publish import tell_figures

SETTINGS = JanitorSettings.read(os.environ)


def handler(_event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer with what deletion was asked for, and the runs whose shares came back."""
    now, topic, bus = datetime.now(UTC), SETTINGS.alarm_topic_arn, SETTINGS.event_bus
    try:  # targets first: one costs more than a snapshot, and that more than a share
        deleted = sweep(topic, bus)
    finally:  # what cannot be deleted keeps nothing else
        try:
            snapshots = sweep_snapshots(topic, bus, at=now)
        finally:
            try:
                released = reconcile(SETTINGS, at=now)
            finally:
                tell_figures(SETTINGS, at=now)
    return {"deleted": [*deleted, *snapshots], "released": released}
