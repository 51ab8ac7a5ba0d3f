"""Deletes the target's stack, and reports whether it is gone."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import DeleteTargetSettings
from plimsoll.workflow.target import delete_target

SETTINGS = DeleteTargetSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return delete_target(SETTINGS, event["run_id"])
