"""Sends a concluded run's answer to the metric sink, from inside the VPC."""

from itertools import chain

from plimsoll.aws.run_files import CONCLUSION, SECONDS, files_of
from plimsoll.metrics import publish_from_environment
from plimsoll.metrics.points import make_answer_points, make_target_points
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.model.run.results import Seconds
from plimsoll.workflow.result import Conclusion


def publish_target(settings: RunSettings, run_id: str) -> None:
    """Send the answer and the target's samples, which `conclude` read outside the VPC.

    Clients and steps have sent their own points already. A failing sink becomes a note on the run.
    """
    files = files_of(settings, run_id)
    series, conclusion = files.get(SECONDS, Seconds), files.get(CONCLUSION, Conclusion)
    samples = make_target_points(series.target, run_id=run_id)
    published = publish_from_environment(
        chain(samples, make_answer_points(conclusion.capacity, series))
    )
    if published.problem is None:
        return
    notes = (*conclusion.notes, f"metrics: {published.problem}")
    files.put_model(CONCLUSION, conclusion.model_copy(update={"notes": notes}))
