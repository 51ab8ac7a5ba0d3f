"""Renders the target's template and creates its stack."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.provision import create_target

_DEPLOYMENT = Deployment.of_function("create-target")


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    create_target(_DEPLOYMENT, event["run_id"])
