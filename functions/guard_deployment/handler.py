"""Answers CloudFormation's custom resource: its deletion is refused while a target is alive."""

import os
from typing import Any

from plimsoll.targets.custom_resource import answer
from plimsoll.targets.deployment_guard import close_door, open_door, require_no_target


def handler(event: dict[str, Any], context: Any) -> None:
    """Close the door, look, and open it again unless the deletion goes on."""
    del context
    with answer(event):
        if event["RequestType"] != "Delete":
            open_door(os.environ["CREATES_TARGETS"])
            return
        close_door(os.environ["CREATES_TARGETS"])
        try:
            require_no_target(os.environ["RUN_MACHINE_ARN"])
        except BaseException:
            open_door(os.environ["CREATES_TARGETS"])
            raise
