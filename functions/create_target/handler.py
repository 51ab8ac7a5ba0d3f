"""Chooses the target's zone, renders its template and creates its stack."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import CreateTargetSettings
from plimsoll.workflow.target import create_target

SETTINGS = CreateTargetSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return create_target(SETTINGS, event["run_id"])
