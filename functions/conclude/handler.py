"""Draws the verdict, and what set the limit, from all steps."""

import os
from typing import Any

from plimsoll.model.deployment.function_settings import ConcludeSettings
from plimsoll.workflow.conclude import conclude

SETTINGS = ConcludeSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Do it for the run that the workflow names, or say how long to wait for its metrics."""
    return conclude(SETTINGS, event["run_id"])
