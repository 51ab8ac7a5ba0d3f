"""Counts the rows of every table."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.prepare_dataset import verify_dataset

_DEPLOYMENT = Deployment.of_function("verify-dataset")


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    verify_dataset(_DEPLOYMENT, event["run_id"], event["failed_parts"])
