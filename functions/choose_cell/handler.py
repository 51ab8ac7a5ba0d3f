"""Chooses the next cell of a search for the boundary, from those that were run."""

import os
from typing import Any

from plimsoll.experiments.boundary import choose_cell
from plimsoll.model.deployment.function_settings import PricedSettings

SETTINGS = PricedSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return choose_cell(SETTINGS, event["experiment_id"], event["refused"])
