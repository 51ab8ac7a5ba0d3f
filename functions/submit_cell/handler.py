"""Records the run of one cell, which the workflow then starts."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.experiments.workflow_states import submit_cell

_DEPLOYMENT = Deployment.of_function("submit-cell")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return submit_cell(_DEPLOYMENT, event["experiment_id"], event["cell"])
