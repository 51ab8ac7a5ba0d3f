"""Starts the runs of a check, when its schedule fires."""

from datetime import datetime
from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.checks.start_check import start_check

_DEPLOYMENT = Deployment.of_function("start-check")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer with the ids of the runs."""
    scheduled_at = datetime.fromisoformat(event["scheduled_at"])
    return start_check(_DEPLOYMENT, event["team"], event["name"], scheduled_at)
