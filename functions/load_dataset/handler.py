"""Loads one part of the dataset; a repeated call completes it and never duplicates rows."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.workflow.load_part import load_part

SETTINGS = ReachSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return load_part(SETTINGS, event["run_id"], event["part"])
