"""Chooses the next cell of a boundary search from the results so far."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.experiments.boundary import choose_cell
from plimsoll.model.deployment.function_settings import PricedSettings

SETTINGS = PricedSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return choose_cell(SETTINGS, event["experiment_id"], event["refused"])
