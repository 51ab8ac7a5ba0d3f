"""Judges the check that a run belongs to, when the run has ended."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.checks.run_ended import judge_check

_DEPLOYMENT = Deployment.of_function("judge-check")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer EventBridge, whose event is `Run Ended`."""
    return judge_check(_DEPLOYMENT, event["detail"]["run_id"])
