"""Answers the REST API."""

import os
from typing import Any

from plimsoll.api.app import answer_call
from plimsoll.aws.configuration import read_environment
from plimsoll.model.deployment.function_settings import ApiSettings

SETTINGS = ApiSettings.read(read_environment(os.environ))


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle a call from API Gateway."""
    return answer_call(event, context, settings=SETTINGS)
