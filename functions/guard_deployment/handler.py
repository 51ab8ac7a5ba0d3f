"""Handles CloudFormation's custom resource, which refuses deletion while a target is alive."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import GuardSettings
from plimsoll.targets.custom_resource import answer_event
from plimsoll.targets.deployment_guard import (
    allow_target_creation,
    block_target_creation,
    require_no_target,
)

SETTINGS = GuardSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], context: Any) -> None:
    """Forbid new targets, look for living ones, and permit new ones unless the deletion goes on."""
    del context
    with answer_event(event):
        if event["RequestType"] != "Delete":
            allow_target_creation(SETTINGS.create_target_name)
            return
        block_target_creation(SETTINGS.create_target_name)
        try:
            require_no_target(SETTINGS.run_machine_arn, SETTINGS.target_service_role_arn)
        except BaseException:
            allow_target_creation(SETTINGS.create_target_name)
            raise
