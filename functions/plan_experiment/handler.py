"""Marks an experiment as started and puts its cells in order."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.experiments.workflow_states import plan_experiment
from plimsoll.model.deployment.function_settings import TeamSettings

SETTINGS = TeamSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return plan_experiment(SETTINGS, event["experiment_id"])
