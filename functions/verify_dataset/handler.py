"""Builds the indexes and counts the rows of every table; after the load, checks its conditions."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.workflow.dataset import check_rows, verify_dataset

SETTINGS = ReachSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> None:
    """Handle a call from the workflow."""
    if event.get("role") == "conditions":
        check_rows(SETTINGS, event["run_id"])
    else:
        verify_dataset(SETTINGS, event["run_id"], event["failed_parts"])
