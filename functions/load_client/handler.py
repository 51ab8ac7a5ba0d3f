"""Runs one client of a step: waits for the barrier, sends its load, writes its results."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.workflow.client import run_client

SETTINGS = ReachSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, bool]:
    """Handle a call from the workflow; the answer says whether the step's relay is over."""
    return {"over": run_client(SETTINGS, event["run_id"], event["step"], event["client"])}
