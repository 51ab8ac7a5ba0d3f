"""Records the run of one cell or dataset, which the workflow then starts."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.experiments.workflow_states import submit_cell, submit_dataset
from plimsoll.model.deployment.function_settings import SubmitSettings

SETTINGS = SubmitSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    if "dataset" in event:
        return submit_dataset(SETTINGS, event["experiment_id"], event["dataset"])
    return submit_cell(SETTINGS, event["experiment_id"], event["cell"])
