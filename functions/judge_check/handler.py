"""Judges the check to which a run belongs, when the run has ended."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.checks.runs import settle_and_judge
from plimsoll.model.deployment.function_settings import JudgeCheckSettings

SETTINGS = JudgeCheckSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle the event `Run Ended` from EventBridge."""
    return settle_and_judge(SETTINGS, event["detail"]["run_id"])
