"""Checks whether the target is ready; records its address, or says why it failed."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import AwaitTargetSettings
from plimsoll.workflow.target import await_target

SETTINGS = AwaitTargetSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return await_target(SETTINGS, event["run_id"])
