"""Compares the cells of an experiment, draws its decision, and records its end."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.experiments.conclude_experiment import conclude_experiment
from plimsoll.model.deployment.function_settings import PricedSettings

SETTINGS = PricedSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return conclude_experiment(
        SETTINGS,
        event["experiment_id"],
        refused=event["refused"],
        failure=event.get("failure"),
        ended=event.get("ended"),
    )
