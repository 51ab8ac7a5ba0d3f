"""Marks the run as started, and returns what the workflow needs to know about it."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import RecordRunSettings
from plimsoll.workflow.start_and_stop import record_run

SETTINGS = RecordRunSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return record_run(SETTINGS, event["run_id"])
