"""Picks the next step from the finished ones, or says that the search is done."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.plan_step import plan_next

_DEPLOYMENT = Deployment.of_function("plan-step")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return plan_next(_DEPLOYMENT, event["run_id"])
