"""Loads one part of the dataset; a repeated call completes, never doubles."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.loading import load_part

_DEPLOYMENT = Deployment.of_function("load-dataset")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return load_part(_DEPLOYMENT, event["run_id"], event["part"])
