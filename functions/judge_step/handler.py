"""Merges the clients' results into one step."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.runs.judge_step import judge_step

_DEPLOYMENT = Deployment.of_function("judge-step")


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Do it for the run that the workflow names; answer with the event that it sends."""
    judged = judge_step(_DEPLOYMENT, event["run_id"], event["step"], event["failed_clients"])
    return judged.model_dump(mode="json")
