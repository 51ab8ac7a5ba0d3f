"""Brings the target into a state of its toggle: its parameters, a restart if needed."""

import os
from typing import Any

from plimsoll.model.deployment.function_settings import SwitchTargetSettings
from plimsoll.workflow.toggle import switch_target

SETTINGS = SwitchTargetSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return switch_target(SETTINGS, event["run_id"], event["step"], event["state"])
