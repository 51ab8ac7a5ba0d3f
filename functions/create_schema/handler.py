"""Creates the workload's tables and divides the dataset among clients."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.workflow.dataset import create_schema

SETTINGS = ReachSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return create_schema(SETTINGS, event["run_id"])
