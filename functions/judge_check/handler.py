"""Judges the check that a run belongs to, when the run has ended."""

import os
from typing import Any

from plimsoll.checks.runs import judge_check
from plimsoll.model.deployment.function_settings import JudgeCheckSettings

SETTINGS = JudgeCheckSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer EventBridge, whose event is `Run Ended`."""
    return judge_check(SETTINGS, event["detail"]["run_id"])
