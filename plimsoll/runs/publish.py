"""What a store of metrics within the VPC gets when a run has been concluded."""

from plimsoll.aws.run_files import CONCLUSION, SECONDS, files_of
from plimsoll.metrics import publish_from_environment
from plimsoll.metrics.points import target_points
from plimsoll.model.function_settings import RunSettings
from plimsoll.model.results import Seconds
from plimsoll.runs.conclude import Conclusion


def publish_target(settings: RunSettings, run_id: str) -> None:
    """Send the target's samples, which `conclude` read outside the VPC.

    The functions that measured clients and steps have already sent those. A store that fails
    becomes a note on the run.
    """
    files = files_of(settings, run_id)
    samples = files.get(SECONDS, Seconds).target
    published = publish_from_environment(target_points(samples, run_id=run_id))
    if published.problem is None:
        return
    conclusion = files.get(CONCLUSION, Conclusion)
    notes = (*conclusion.notes, f"metrics: {published.problem}")
    files.put_model(CONCLUSION, conclusion.model_copy(update={"notes": notes}))
