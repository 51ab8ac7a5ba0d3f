"""Looks whether the target is there; records where it is, or says why not."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.provision import await_target

_DEPLOYMENT = Deployment.of_function("await-target")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return await_target(_DEPLOYMENT, event["run_id"])
