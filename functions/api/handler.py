"""Answers the REST API."""

from typing import Any

from plimsoll.api.app import answer
from plimsoll.aws.function_settings import Deployment

_DEPLOYMENT = Deployment.of_function("api")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer API Gateway."""
    return answer(event, context, deployment=_DEPLOYMENT)
