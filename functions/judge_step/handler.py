"""Merges the clients' results into one step, and reads and judges the windows of a relay."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import JudgeStepSettings
from plimsoll.workflow.judge_step import judge_relay_window, judge_step, read_relay_counters

SETTINGS = JudgeStepSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Handle a call from the workflow; the answer is, or has, the event that it sends."""
    run_id, step = event["run_id"], event["step"]
    match event.get("role"):
        case "reader":
            return {"over": read_relay_counters(SETTINGS, run_id, step)}
        case "judge":
            judged, over = judge_relay_window(SETTINGS, run_id, step)
            return {"judged": judged and judged.model_dump(mode="json"), "over": over}
    return judge_step(SETTINGS, run_id, step).model_dump(mode="json")
