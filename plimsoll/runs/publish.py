"""What a store of metrics gets by a function within the VPC when a run has been concluded."""

from itertools import chain

from plimsoll.aws.run_files import CONCLUSION, SECONDS, files_of
from plimsoll.metrics import publish_from_environment
from plimsoll.metrics.points import answer_points, target_points
from plimsoll.model.function_settings import RunSettings
from plimsoll.model.results import Seconds
from plimsoll.runs.conclude import Conclusion


def publish_target(settings: RunSettings, run_id: str) -> None:
    """Send the answer, and the target's samples, which `conclude` read outside the VPC.

    The functions that measured clients and steps have already sent those. A store that fails
    becomes a note on the run.
    """
    files = files_of(settings, run_id)
    series, conclusion = files.get(SECONDS, Seconds), files.get(CONCLUSION, Conclusion)
    samples = target_points(series.target, run_id=run_id)
    published = publish_from_environment(chain(samples, answer_points(conclusion.capacity, series)))
    if published.problem is None:
        return
    notes = (*conclusion.notes, f"metrics: {published.problem}")
    files.put_model(CONCLUSION, conclusion.model_copy(update={"notes": notes}))
