"""Starts the runs of a check, when its schedule fires."""

from datetime import datetime
from typing import Any

from plimsoll.checks.start import start_check
from plimsoll.runs.deployment import Deployment

_DEPLOYMENT = Deployment.of_function("start-check")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer with the ids of the runs."""
    scheduled_at = datetime.fromisoformat(event["scheduled_at"])
    return start_check(_DEPLOYMENT, event["team"], event["name"], scheduled_at)
