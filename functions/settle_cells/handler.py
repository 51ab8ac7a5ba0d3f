"""Reports whether every cell of an experiment has ended; stops running ones if asked to."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.experiments.workflow_states import settle_cells
from plimsoll.model.deployment.function_settings import SettleCellsSettings

SETTINGS = SettleCellsSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return settle_cells(SETTINGS, event["experiment_id"], stop=event["stop"])
