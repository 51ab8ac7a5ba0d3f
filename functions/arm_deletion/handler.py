"""Arms the one-shot schedule that deletes the target at the run's time limit."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.start_run import arm

_DEPLOYMENT = Deployment.of_function("arm-deletion")


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    arm(_DEPLOYMENT, event["run_id"])
