"""Draws a run's verdict from all its steps and the target's own metrics."""

from datetime import timedelta
from itertools import chain

from plimsoll import words
from plimsoll.aws.run_files import (
    CONCLUSION,
    CONDITIONS,
    REQUEST,
    SECONDS,
    RunFiles,
    files_of,
    step_path,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.databases.conditions import is_audited, leave_unknown
from plimsoll.metrics import publish_from_environment
from plimsoll.metrics.points import make_answer_points
from plimsoll.model.deployment.function_settings import ConcludeSettings
from plimsoll.model.metric_periods import PATIENCE_PERIODS
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import ToggleResult
from plimsoll.model.run.quote import BilledIo
from plimsoll.model.run.results import CheckedCondition, CheckedConditions, Seconds
from plimsoll.model.run.run_record import RunFigures, RunRecord
from plimsoll.requests.checked_request import CheckedRequest, check_request
from plimsoll.targets.aurora_io import read_billed_io
from plimsoll.targets.cloudwatch_metrics import combine_nodes, has_metrics
from plimsoll.workflow.history import read_judged_steps
from plimsoll.workflow.metric_points import list_run_points
from plimsoll.workflow.phases import summarize_phases
from plimsoll.workflow.result import conclude_steps, find_volume_limits
from plimsoll.workflow.target_figures import (
    add_credits,
    add_node_figures,
    add_target_figures,
    lack_points,
    read_samples_by_node,
)

WRITES_OF_AURORA = (
    "Aurora's write IOPS of a step are storage write records, more or less one for each log record,"
    " not the I/Os that AWS charges: those are counts of the cluster every five minutes, and the"
    " run's cost has them"
)
# This function has 300 s; writing a whole run's metrics may take this much of it.
PUBLISHING_S = 120.0


def conclude(settings: ConcludeSettings, run_id: str) -> dict[str, object]:
    """Judge the run's steps and name what set the limit, once the target's metrics have arrived.

    CloudWatch's points come a minute or two late. The state machine waits for them and calls again,
    which costs less than a function that sleeps.

    Returns:
        `concluded`: whether the verdict is written; if not, call again after `wait_s` seconds.
    """
    record = _begin_conclusion(settings, run_id)
    files = files_of(settings, run_id)
    request = files.get(REQUEST, Request)
    since, kind = record.step_at or record.submitted_at, request.target.kind
    by_node = read_samples_by_node(settings, record, kind=kind, since=since, until=now())
    samples = combine_nodes(by_node) if by_node else ()
    period_s = settings.metric_period_seconds
    steps = [
        add_credits(add_target_figures(step, samples, period_s), request.target, samples)
        for step in (add_node_figures(s, by_node, period_s) for s in read_judged_steps(files))
    ]
    lacking = has_metrics(record.target, kind) and lack_points(steps, samples, period_s)
    if lacking and _may_wait_longer(settings, record):
        return {"concluded": False, "wait_s": settings.poll_seconds}
    for step in steps:
        files.put_model(step_path(step.plan.index), step)
    passes = [step for step in steps if step.plan.phase is not None]
    steps = [step for step in steps if step.plan.phase is None]
    seconds = Seconds.of(run_id, steps, samples)
    files.put_model(SECONDS, seconds)
    checked = check_request(request)
    conclusion = conclude_steps(request, steps, _read_conditions(files, checked))
    capacity = conclusion.capacity
    points = chain(make_answer_points(capacity, seconds), list_run_points(files, run_id, samples))
    published = publish_from_environment(points, time_limit_s=PUBLISHING_S)
    notes = [f"before the search: {record.preconditioned}"] if record.preconditioned else []
    notes += [f"metrics: {published.problem}"] if published.problem else []
    if lacking:
        patience = words.format_duration(PATIENCE_PERIODS * period_s)
        notes.append(f"the target's metrics of its last step were not all there after {patience}")
    billed = None
    if isinstance(request.target, AuroraTarget):
        billed = _read_cluster_io(record, seconds)
        notes.append(WRITES_OF_AURORA)
    further = {
        "notes": tuple(notes),
        "billed_io": billed,
        "toggle": _add_switch_problem(conclusion.toggle, record),
        "phases": summarize_phases(checked, passes, find_volume_limits(request)),
    }
    files.put_model(CONCLUSION, conclusion.model_copy(update=further))
    figure = capacity.max_sustainable_throughput_ops_per_second
    records_of(settings).change(
        run_id,
        metrics_awaited_until=None,
        verdict=capacity.verdict,
        figures=RunFigures.of(capacity, final=True),
        capacity_ops_per_second=None if figure is None else str(figure),
    )
    return {"concluded": True, "wait_s": 0}


def _read_conditions(files: RunFiles, checked: CheckedRequest) -> tuple[CheckedCondition, ...]:
    """Read what was found of the workload's conditions, after the last step."""
    found = files.find_model(CONDITIONS, CheckedConditions)
    if found is not None:
        return found.conditions
    if not is_audited(checked.workload, checked.request.limits):
        return ()
    why = "the run had no time left for it, or its function failed"
    return leave_unknown(checked.workload, why)


def _add_switch_problem(found: ToggleResult | None, record: RunRecord) -> ToggleResult | None:
    if found is None or record.switch is None or record.switch.problem is None:
        return found
    return found.model_copy(update={"detail": f"{found.detail}; {record.switch.problem}"})


def _read_cluster_io(record: RunRecord, seconds: Seconds) -> BilledIo | None:
    """Read the I/Os that AWS bills for an Aurora cluster since it was ready.

    The cluster's identifier is also its writer's.
    """
    if record.target is None or record.target.identifier is None:
        return None
    since = record.target_ready_at or record.submitted_at
    return read_billed_io(
        record.target.identifier, start=since, end=now(), seconds=seconds.operations
    )


def _begin_conclusion(settings: ConcludeSettings, run_id: str) -> RunRecord:
    """Note when the conclusion began; later calls change nothing."""
    record = records_of(settings).get(run_id)
    if record.conclude_at is None:
        records_of(settings).change(run_id, phase="conclude", conclude_at=now())
        record = records_of(settings).get(run_id)
    return record


def _may_wait_longer(settings: ConcludeSettings, record: RunRecord) -> bool:
    """Return whether there is time left to wait for metrics; note in the record until when."""
    assert record.conclude_at is not None  # noqa: S101 - it has begun
    patience_s = PATIENCE_PERIODS * settings.metric_period_seconds
    until = record.conclude_at + timedelta(seconds=patience_s)
    records_of(settings).change(record.run_id, metrics_awaited_until=until)
    return now() < until
