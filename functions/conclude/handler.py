"""Draws the verdict, and what set the limit, from all steps."""

import os
from typing import Any

from plimsoll.model.function_settings import MetricSettings
from plimsoll.runs.conclude import conclude

SETTINGS = MetricSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> None:
    """Do it for the run that the workflow names."""
    conclude(SETTINGS, event["run_id"])
