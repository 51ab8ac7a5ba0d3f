"""Picks the next step from the finished ones, or says that the search is done."""

from typing import Any

from plimsoll.runs.deployment import Deployment
from plimsoll.runs.steps import plan_next

_DEPLOYMENT = Deployment.of_function("plan-step")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return plan_next(_DEPLOYMENT, event["run_id"])
