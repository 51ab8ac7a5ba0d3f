"""One client of a step: waits for the barrier, sends its load, writes its results."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.client import run_client

_DEPLOYMENT = Deployment.of_function("load-client")


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    run_client(_DEPLOYMENT, event["run_id"], event["step"], event["client"])
