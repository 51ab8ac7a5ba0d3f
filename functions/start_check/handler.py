"""Starts the runs of a check, when its schedule fires."""

import os
from datetime import datetime
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.checks.runs import start_check
from plimsoll.model.deployment.function_settings import StartCheckSettings

SETTINGS = StartCheckSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the schedule; the answer is the ids of the runs."""
    scheduled_at = datetime.fromisoformat(event["scheduled_at"])
    return start_check(SETTINGS, event["team"], event["name"], scheduled_at)
