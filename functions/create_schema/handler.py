"""Creates the workload's tables and divides the dataset among clients."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.prepare_dataset import create_schema

_DEPLOYMENT = Deployment.of_function("create-schema")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return create_schema(_DEPLOYMENT, event["run_id"])
