"""Records the end of the run, and writes its results."""

import os
from typing import Any

from plimsoll.aws.configuration import read_environment
from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import EndRunSettings
from plimsoll.workflow.end import end_run

SETTINGS = EndRunSettings.read(read_environment(os.environ))


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return end_run(
        SETTINGS, event["run_id"], failure=event.get("failure"), ended=event.get("ended")
    )
