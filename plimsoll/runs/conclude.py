"""The verdict, drawn from all steps and the target's own figures."""

from collections.abc import Sequence
from datetime import UTC, datetime

from plimsoll.capacity import judge
from plimsoll.capacity.search import axis_of
from plimsoll.metrics import publish_from_environment
from plimsoll.model.base import Model
from plimsoll.model.capacity import Capacity
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.results import LimitingResource, Seconds, StepResult, TargetSample
from plimsoll.model.runs import RunRecord
from plimsoll.model.volumes import VolumeLimits, limits
from plimsoll.runs.bottleneck import limiting_resource
from plimsoll.runs.deployment import Deployment
from plimsoll.runs.files import CONCLUSION, REQUEST, SECONDS, step_path
from plimsoll.runs.points import run_points
from plimsoll.runs.record import now
from plimsoll.runs.steps import finished_steps
from plimsoll.targets.metrics import figures, read_samples

PUBLISHING_S = 120.0  # of the 300 s that this function has, where it writes the whole run's metrics


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


def conclude(deployment: Deployment, run_id: str) -> None:
    """Judge the run's steps and name what set the limit."""
    deployment.records.change(run_id, phase="conclude", conclude_at=now())
    record = deployment.records.get(run_id)
    files = deployment.files(run_id)
    request = files.get(REQUEST, Request)
    samples = _samples(deployment, record)
    period_s = deployment.metric_period_seconds
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
    deployment.records.change(
        run_id,
        verdict=capacity.verdict,
        capacity_ops_per_second=None if figure is None else f"{figure:.1f}",
    )


def _samples(deployment: Deployment, record: RunRecord) -> tuple[TargetSample, ...]:
    if record.target is None:
        return ()
    return read_samples(
        record.target,
        start=record.step_at or record.submitted_at,
        end=datetime.now(UTC),
        period_s=deployment.metric_period_seconds,
    )


def with_figures(step: StepResult, samples: Sequence[TargetSample], period_s: int) -> StepResult:
    """Give a step the target's figures over its load.

    Over its window, where that holds at least one whole period of the metrics; else over its
    warm-up too.
    """
    plan = step.plan
    end = step.window_end_epoch_ms or plan.window_end_epoch_ms
    start = step.window_start_epoch_ms or plan.window_start_epoch_ms
    for begin in (start, plan.start_at_epoch_ms):
        found = figures(samples, start_epoch_ms=begin, end_epoch_ms=end, period_s=period_s)
        if found is not None:
            return step.model_copy(update={"target": found})
    return step
