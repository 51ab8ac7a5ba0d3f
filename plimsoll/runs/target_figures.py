"""What a target's own metrics say of a step."""

from collections.abc import Sequence
from datetime import datetime

from plimsoll.model.function_settings import MetricSettings
from plimsoll.model.metric_periods import held
from plimsoll.model.request import TargetKind
from plimsoll.model.results import StepResult
from plimsoll.model.run_record import RunRecord
from plimsoll.model.target_figures import TargetFigures, TargetSample
from plimsoll.model.volume_escapes import escaped_share
from plimsoll.targets.cloudwatch_metrics import figures
from plimsoll.targets.node_samples import NodeSamples, read_node_samples, together


def target_samples(
    settings: MetricSettings,
    record: RunRecord,
    *,
    kind: TargetKind,
    since: datetime,
    until: datetime,
) -> tuple[TargetSample, ...]:
    """Read a run's target's metrics over a time; none where it has no target."""
    by_node = node_samples(settings, record, kind=kind, since=since, until=until)
    return together(by_node) if by_node else ()


def node_samples(
    settings: MetricSettings,
    record: RunRecord,
    *,
    kind: TargetKind,
    since: datetime,
    until: datetime,
) -> NodeSamples:
    """Read them of each of its nodes, by the node's address."""
    if record.target is None:
        return {}
    return read_node_samples(
        record.target,
        kind,
        start=since,
        end=until,
        period_s=settings.metric_period_seconds,
    )


def lack_points(
    steps: Sequence[StepResult], samples: Sequence[TargetSample], period_s: int
) -> bool:
    """Say whether points of the last step are still to come: those by which a limit is named."""
    complete = {
        sample.epoch_ms
        for sample in samples
        if None not in (sample.read_iops, sample.write_iops, sample.cpu_percent)
    }
    last = max(steps, key=lambda step: step.plan.window_end_epoch_ms, default=None)
    return last is not None and not complete.issuperset(_periods(last, period_s))


def with_figures(step: StepResult, samples: Sequence[TargetSample], period_s: int) -> StepResult:
    """Give a step the target's figures over its load; it stays as it is where there are none."""
    target = figures(samples, _periods(step, period_s), period_s=period_s)
    return step if target is None else step.model_copy(update={"target": target})


def with_node_figures(step: StepResult, by_node: NodeSamples, period_s: int) -> StepResult:
    """Give each node of a step its own figures, where CloudWatch has them."""
    nodes = tuple(
        node.model_copy(
            update={
                "target": figures(
                    by_node.get(node.address, ()), _periods(step, period_s), period_s=period_s
                )
            }
        )
        for node in step.nodes
    )
    return step.model_copy(update={"nodes": nodes})


def _periods(step: StepResult, period_s: int) -> range:
    """List the periods of the metrics within a step's window; in a short one, of its load.

    The load has the warm-up in it.
    """
    plan = step.plan
    end = step.window_end_epoch_ms or plan.window_end_epoch_ms
    start = step.window_start_epoch_ms or plan.window_start_epoch_ms
    return held(start, end, period_s=period_s) or held(
        plan.start_at_epoch_ms, end, period_s=period_s
    )


def with_host_figures(
    step: StepResult, samples: Sequence[TargetSample], period_s: int
) -> StepResult:
    """Add to a step how far the machine on which everything runs was disturbed.

    And what the target's I/O was that did not go through its emulated volume.
    """
    target = with_figures(step, samples, period_s).target
    if target is None:
        return step
    known = step.step.model_copy(
        update={
            "escaped_iops": target.escaped_iops,
            "escaped_mib_s": target.escaped_mib_s,
            "escaped_percent": _escaped_percent(target),
            "host_late_percent": target.host_late_percent,
            "host_stolen_percent": target.host_stolen_percent,
            "host_others_percent": target.host_others_percent,
            "host_idle_percent": target.host_idle_percent,
        }
    )
    return step.model_copy(update={"step": known})


def _escaped_percent(target: TargetFigures) -> float | None:
    if target.escaped_iops is None or target.escaped_mib_s is None:
        return None
    iops = (target.read_iops or 0.0) + (target.write_iops or 0.0)
    mib_s = (target.read_mib_s or 0.0) + (target.write_mib_s or 0.0)
    share = escaped_share((target.escaped_iops, target.escaped_mib_s), (iops, mib_s))
    return 100 * (share or 0.0)
