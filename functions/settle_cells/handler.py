"""Says whether every cell of an experiment has ended; stops those that run, where it is asked."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.experiments.workflow_states import settle_cells

_DEPLOYMENT = Deployment.of_function("settle-cells")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return settle_cells(_DEPLOYMENT, event["experiment_id"], stop=event["stop"])
