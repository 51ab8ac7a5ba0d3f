"""Deletes and reports overdue targets and snapshots; reconciles limits; publishes counts."""

import os
from datetime import UTC, datetime
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import JanitorSettings
from plimsoll.targets.janitor import sweep_snapshots, sweep_stacks
from plimsoll.teams.reconcile import reconcile_teams
from plimsoll.workflow.deployment_figures import print_figures

SETTINGS = JanitorSettings.read(read_environment(os.environ))


@log_calls
def handler(_event: dict[str, Any], _context: object) -> dict[str, object]:
    """Return the deletions requested, and the runs whose shares were given back."""
    now, topic, bus = datetime.now(UTC), SETTINGS.alarm_topic_arn, SETTINGS.event_bus
    try:  # most expensive first: targets, then snapshots, then shares
        deleted = sweep_stacks(topic, bus)
    finally:  # a failed deletion must not prevent the rest
        try:
            snapshots = sweep_snapshots(topic, bus, at=now)
        finally:
            try:
                released = reconcile_teams(SETTINGS, at=now)
            finally:
                print_figures(SETTINGS, at=now)
    return {"deleted": [*deleted, *snapshots], "released": released}
