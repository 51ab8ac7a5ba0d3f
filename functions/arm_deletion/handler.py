"""Schedules the deletion of the target at the run's time limit."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ArmDeletionSettings
from plimsoll.workflow.start_and_stop import schedule_deletion

SETTINGS = ArmDeletionSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> None:
    """Handle a call from the workflow."""
    schedule_deletion(SETTINGS, event["run_id"])
