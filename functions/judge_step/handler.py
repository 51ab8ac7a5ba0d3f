"""Merges the clients' results into one step."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import JudgeStepSettings
from plimsoll.workflow.judge_step import judge_step

SETTINGS = JudgeStepSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Handle a call from the workflow; the answer is the event that it sends."""
    judged = judge_step(SETTINGS, event["run_id"], event["step"])
    return judged.model_dump(mode="json")
