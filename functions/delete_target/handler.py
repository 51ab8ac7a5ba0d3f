"""Deletes the target's stack, and says whether it is gone."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.end import delete_target

_DEPLOYMENT = Deployment.of_function("delete-target")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return delete_target(_DEPLOYMENT, event["run_id"])
