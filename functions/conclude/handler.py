"""Draws the verdict, and what set the limit, from all steps."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.conclude import conclude

_DEPLOYMENT = Deployment.of_function("conclude")


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    conclude(_DEPLOYMENT, event["run_id"])
