"""Deletes the snapshots of an experiment's datasets, and reports whether all are gone."""

import os
from typing import Any

from plimsoll.aws.function_log import log_calls
from plimsoll.experiments.datasets import delete_datasets
from plimsoll.model.deployment.function_settings import DeleteDatasetsSettings

SETTINGS = DeleteDatasetsSettings.read(os.environ)


@log_calls
def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Handle a call from the workflow."""
    return delete_datasets(SETTINGS, event["experiment_id"])
