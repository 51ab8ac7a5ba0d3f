"""Handles CloudFormation's custom resource, which refuses deletion while a target is alive."""

import os
from typing import Any

from plimsoll.model.deployment.function_settings import GuardSettings
from plimsoll.targets.custom_resource import answer
from plimsoll.targets.deployment_guard import close_door, open_door, require_no_target

SETTINGS = GuardSettings.read(os.environ)


def handler(event: dict[str, Any], context: Any) -> None:
    """Forbid new targets, look for living ones, and permit new ones unless the deletion goes on."""
    del context
    with answer(event):
        if event["RequestType"] != "Delete":
            open_door(SETTINGS.create_target_name)
            return
        close_door(SETTINGS.create_target_name)
        try:
            require_no_target(SETTINGS.run_machine_arn, SETTINGS.target_service_role_arn)
        except BaseException:
            open_door(SETTINGS.create_target_name)
            raise
