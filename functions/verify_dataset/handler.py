"""Builds the indexes and counts the rows of every table."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.workflow.dataset import verify_dataset

SETTINGS = ReachSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> None:
    """Handle a call from the workflow."""
    verify_dataset(SETTINGS, event["run_id"], event["failed_parts"])
