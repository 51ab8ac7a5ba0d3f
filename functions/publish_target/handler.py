"""Sends the target's samples to a store of metrics within the VPC."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.publish import publish_target

_DEPLOYMENT = Deployment.of_function("publish-target")


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    publish_target(_DEPLOYMENT, event["run_id"])
