"""Looks whether the target is there; records where it is, or says why not."""

import os
from typing import Any

from plimsoll.model.deployment.function_settings import AwaitTargetSettings
from plimsoll.workflow.target import await_target

SETTINGS = AwaitTargetSettings.read(os.environ)


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return await_target(SETTINGS, event["run_id"])
