"""The verdict, drawn from all steps and the target's own figures."""

from plimsoll.aws.run_files import CONCLUSION, REQUEST, SECONDS, files_of, step_path
from plimsoll.aws.run_records import now, records_of
from plimsoll.capacity import judge
from plimsoll.capacity.search import axis_of
from plimsoll.metrics import publish_from_environment
from plimsoll.model.base import Model
from plimsoll.model.capacity import Capacity
from plimsoll.model.function_settings import MetricSettings
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.results import LimitingResource, Seconds
from plimsoll.model.volumes import VolumeLimits, limits
from plimsoll.runs.bottleneck import limiting_resource
from plimsoll.runs.metric_points import run_points
from plimsoll.runs.plan_step import finished_steps
from plimsoll.runs.target_figures import target_samples, with_figures

PUBLISHING_S = (
    120.0  # this function has 300 s; writing the whole run's metrics may take so many of them
)


class Conclusion(Model):
    """What `conclude` draws; `end-run` makes it part of `result.json`."""

    capacity: Capacity
    limiting: LimitingResource
    notes: tuple[str, ...] = ()


def volume_limits(request: Request) -> VolumeLimits | None:
    """Give what the target's volume promises; None for an existing endpoint."""
    target = request.target
    if isinstance(target, EndpointTarget):
        return None
    return limits(target.volume, service=target.service)


def conclude(settings: MetricSettings, run_id: str) -> None:
    """Judge the run's steps and name what set the limit."""
    records_of(settings).change(run_id, phase="conclude", conclude_at=now())
    record = records_of(settings).get(run_id)
    files = files_of(settings, run_id)
    request = files.get(REQUEST, Request)
    since = record.step_at or record.submitted_at
    samples = target_samples(settings, record, kind=request.target.kind, since=since)
    period_s = settings.metric_period_seconds
    steps = [with_figures(step, samples, period_s) for step in finished_steps(files)]
    for step in steps:
        files.put_model(step_path(step.plan.index), step)
    seconds = Seconds(
        run_id=run_id,
        operations=tuple(second for step in steps for second in step.seconds),
        target=samples,
    )
    files.put_model(SECONDS, seconds)
    capacity = judge([step.step for step in steps], request.limits, axis=axis_of(request.search))
    limiting = limiting_resource(capacity, steps, volume_limits(request))
    capacity = capacity.model_copy(update={"limiting_resource": limiting.resource})
    published = publish_from_environment(
        run_points(files, run_id, samples), time_limit_s=PUBLISHING_S
    )
    notes = (f"metrics: {published.problem}",) if published.problem else ()
    conclusion = Conclusion(capacity=capacity, limiting=limiting, notes=notes)
    files.put_model(CONCLUSION, conclusion)
    figure = capacity.max_sustainable_throughput_ops_per_second
    records_of(settings).change(
        run_id,
        verdict=capacity.verdict,
        capacity_ops_per_second=None if figure is None else f"{figure:.1f}",
    )
