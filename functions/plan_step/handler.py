"""Plans the next step from the finished ones, or ends the search."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import PlanStepSettings
from plimsoll.workflow.plan_step import plan_next_step

SETTINGS = PlanStepSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return plan_next_step(SETTINGS, event["run_id"])
