"""Sends the target's samples to a metric store within the VPC."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.workflow.publish import publish_target

SETTINGS = RunSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> None:
    """Handle a call from the workflow."""
    publish_target(SETTINGS, event["run_id"])
