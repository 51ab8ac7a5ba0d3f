"""Marks the run as started and says what the workflow needs to know of it."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.start_run import record_run

_DEPLOYMENT = Deployment.of_function("record-run")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return record_run(_DEPLOYMENT, event["run_id"])
