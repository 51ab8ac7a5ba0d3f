"""Handles CloudFormation's custom resources: the configuration, and the look at the log role."""

import os
from typing import Any

from plimsoll.aws.api_logs import LOG_ROLE, require_no_other_log_role
from plimsoll.aws.configuration import delete_configuration, store_configuration
from plimsoll.aws.function_log import log_calls
from plimsoll.model.deployment.function_settings import ConfigureSettings
from plimsoll.targets.custom_resource import answer_event

SETTINGS = ConfigureSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> None:
    """Look at the log role, write the configuration, or delete one that no function reads."""
    properties = event["ResourceProperties"]
    deleted = event["PhysicalResourceId"] if event["RequestType"] == "Delete" else None
    if event["ResourceType"] == LOG_ROLE:
        with answer_event(event):
            if deleted is None:
                require_no_other_log_role(properties["RoleArn"])
        return
    with answer_event(event, physical_id=deleted or properties["Name"]):
        if deleted is None:
            store_configuration(SETTINGS.service_table, properties["Name"], properties["Values"])
        else:
            delete_configuration(SETTINGS.service_table, deleted)
