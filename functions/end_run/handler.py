"""Writes how the run ended, and its results."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.end import end_run

_DEPLOYMENT = Deployment.of_function("end-run")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return end_run(
        _DEPLOYMENT, event["run_id"], failure=event.get("failure"), ended=event.get("ended")
    )
