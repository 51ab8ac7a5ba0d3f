"""Answers the REST API."""

from typing import Any

from plimsoll.runs.deployment import Deployment
from plimsoll.service.api.app import answer

_DEPLOYMENT = Deployment.of_function("api")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer API Gateway."""
    return answer(event, context, deployment=_DEPLOYMENT)
