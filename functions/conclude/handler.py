"""Draws the verdict from all steps, and names what set the limit."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ConcludeSettings
from plimsoll.workflow.conclude import conclude

SETTINGS = ConcludeSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow; the answer may be how long to wait for metrics."""
    return conclude(SETTINGS, event["run_id"])
