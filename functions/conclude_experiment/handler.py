"""Compares the cells of an experiment, draws its decision, and writes how it ended."""

from typing import Any

from plimsoll.aws.function_settings import Deployment
from plimsoll.experiments.conclude_experiment import conclude_experiment

_DEPLOYMENT = Deployment.of_function("conclude-experiment")


def handler(event: dict[str, Any], _context: object) -> dict[str, object]:
    """Answer the workflow."""
    return conclude_experiment(
        _DEPLOYMENT,
        event["experiment_id"],
        refused=event["refused"],
        failure=event.get("failure"),
        ended=event.get("ended"),
    )
