"""Picks the next step from the finished ones, or says that the search is done."""

import os
from typing import Any

from plimsoll.model.deployment.function_settings import PlanStepSettings
from plimsoll.workflow.plan_step import plan_next

SETTINGS = PlanStepSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return plan_next(SETTINGS, event["run_id"])
