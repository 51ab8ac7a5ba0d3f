"""Brings the target into a toggle state: sets its parameters, and restarts it if needed."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import SwitchTargetSettings
from plimsoll.workflow.toggle import switch_target

SETTINGS = SwitchTargetSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return switch_target(SETTINGS, event["run_id"], event["step"], event["state"])
