"""Marks an experiment as started and puts its cells in order."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.experiments.workflow_states import plan

_DEPLOYMENT = Deployment.of_function("plan-experiment")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return plan(_DEPLOYMENT, event["experiment_id"])
