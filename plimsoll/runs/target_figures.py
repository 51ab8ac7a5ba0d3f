"""What a target's own metrics say of a step."""

from collections.abc import Sequence
from datetime import UTC, datetime

from plimsoll.model.function_settings import MetricSettings
from plimsoll.model.request import TargetKind
from plimsoll.model.results import StepResult, TargetSample
from plimsoll.model.run_record import RunRecord
from plimsoll.targets.cloudwatch_metrics import figures, read_samples


def target_samples(
    settings: MetricSettings, record: RunRecord, *, kind: TargetKind, since: datetime
) -> tuple[TargetSample, ...]:
    """Read a run's target's metrics until now; none where it has no target."""
    if record.target is None:
        return ()
    return read_samples(
        record.target,
        kind,
        start=since,
        end=datetime.now(UTC),
        period_s=settings.metric_period_seconds,
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
        target = figures(samples, start_epoch_ms=begin, end_epoch_ms=end, period_s=period_s)
        if target is not None:
            return step.model_copy(update={"target": target})
    return step


def with_host_figures(
    step: StepResult, samples: Sequence[TargetSample], period_s: int
) -> StepResult:
    """Add to a step how far the machine on which everything runs was disturbed."""
    target = with_figures(step, samples, period_s).target
    if target is None:
        return step
    known = step.step.model_copy(
        update={
            "host_late_percent": target.host_late_percent,
            "host_stolen_percent": target.host_stolen_percent,
            "host_others_percent": target.host_others_percent,
            "host_idle_percent": target.host_idle_percent,
        }
    )
    return step.model_copy(update={"step": known})
