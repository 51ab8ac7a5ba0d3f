"""Deletes target stacks whose time has passed, and reports each."""

import os
from typing import Any

from plimsoll.targets.janitor import sweep


def handler(_event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer with the names of the stacks whose deletion was asked for."""
    return {"deleted": sweep(os.environ["ALARM_TOPIC_ARN"])}
