"""Counts the rows of every table."""

import os
from typing import Any

from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.workflow.dataset import verify_dataset

SETTINGS = ReachSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    verify_dataset(SETTINGS, event["run_id"], event["failed_parts"])
