"""Takes the snapshot of a prepared dataset, schedules its deletion, reports its completion."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import TakeSnapshotSettings
from plimsoll.workflow.snapshot import keep_dataset

SETTINGS = TakeSnapshotSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return keep_dataset(SETTINGS, event["run_id"])
