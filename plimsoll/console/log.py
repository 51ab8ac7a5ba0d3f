"""The log of a run: events with their times, derived from its record and steps."""

from collections.abc import Iterator
from datetime import UTC, datetime

from plimsoll import words
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.model.service.live import LogLine
from plimsoll.report.words import announce_plan, describe_finished_step
from plimsoll.search_steps import describe_busy_machine, describe_recovery

BAD_ENDS = {RunState.FAILED, RunState.TIMED_OUT, RunState.OVER_BUDGET}


def log_before_steps(record: RunRecord, request: Request) -> Iterator[LogLine]:
    """Yield what happened before the first step."""
    if record.provision_at:
        target = describe_target(request.target, version=record.database_version)
        yield LogLine(id="provision", at=record.provision_at, text=f"provision: {target}")
    if record.target_ready_at:
        address = record.target  # only known from within the deployment
        where = f" at {address.host}:{address.port}" if address else ""
        yield LogLine(id="ready", at=record.target_ready_at, text=f"the target is ready{where}")
    if record.prepare_at:
        workload = request.workload.name or "its own workload"
        records = words.format_count(request.workload.records, "record")
        yield LogLine(id="prepare", at=record.prepare_at, text=f"prepare: {workload}, {records}")
    done_at = record.step_at or record.prepare_at or record.submitted_at
    if record.rows is not None:
        rows = words.format_count(record.rows, "row")
        yield LogLine(id="rows", at=done_at, text=f"the dataset is loaded and counted: {rows}")
    if record.preconditioned is not None:
        yield LogLine(id="warming", at=done_at, text=f"warming: {record.preconditioned}")


def log_plan(plan: StepPlan) -> LogLine:
    """Return the line that announces a step."""
    at = _to_moment(plan.start_at_epoch_ms)
    return LogLine(id=f"step-{plan.index}-planned", at=at, text=announce_plan(plan))


def log_step(done: StepResult, statistic: Statistic) -> Iterator[LogLine]:
    """Yield a step's beginning, end and problems."""
    yield log_plan(done.plan)
    number = done.plan.index
    if number == WARMING_STEP:
        return
    at = _to_moment(done.window_end_epoch_ms or done.plan.window_end_epoch_ms)
    text = f"step {number}: {describe_finished_step(done, statistic)}"
    yield LogLine(id=f"step-{number}", at=at, text=text)
    for place, problem in enumerate(done.problems):
        text = f"step {number}: {problem}"
        yield LogLine(id=f"step-{number}-problem-{place}", at=at, text=text, problem=True)


def log_recovery(record: RunRecord, request: Request) -> Iterator[LogLine]:
    """Yield what the next step waits for; the line changes with the progress."""
    if (seen := record.recovery) is not None:
        text = describe_recovery(seen, request.load.recovery_max_s)
        at = _to_moment(seen.seen_epoch_ms)
        yield LogLine(id=f"recovery-{seen.since_epoch_ms}", at=at, text=text)
    if (busy := record.busy) is not None:
        text = describe_busy_machine(busy, request.load.calm_max_s)
        at = _to_moment(busy.seen_epoch_ms)
        yield LogLine(id=f"busy-{busy.since_epoch_ms}", at=at, text=text)


def log_after_steps(record: RunRecord) -> Iterator[LogLine]:
    """Yield what happened after the last step."""
    if record.conclude_at:
        yield LogLine(id="conclude", at=record.conclude_at, text="conclude: the steps are judged")
    if record.conclude_at and record.metrics_awaited_until:
        latest = words.format_time_of_day(record.metrics_awaited_until)
        text = f"conclude: waiting for the target's metrics, until {latest} at most"
        yield LogLine(id="metrics", at=record.conclude_at, text=text)
    yield from log_teardown(record)
    if record.failure is not None and record.ended_at:
        text = f"{record.failure.error}: {record.failure.cause}"
        bad = record.state in BAD_ENDS
        yield LogLine(id="failure", at=record.ended_at, text=text, problem=bad)
    if record.ended_at:
        verdict = f", {record.verdict}" if record.verdict else ""
        yield LogLine(id="ended", at=record.ended_at, text=f"ended: {record.state}{verdict}")


def log_teardown(record: RunRecord) -> Iterator[LogLine]:
    """Yield what happens to the target at the end."""
    asked_at = record.teardown_asked_at
    if asked_at:
        yield LogLine(id="teardown", at=asked_at, text="teardown: the target is being deleted")
    if record.teardown_error:
        at = asked_at or record.ended_at or record.submitted_at
        text = f"teardown: {record.teardown_error}"
        yield LogLine(id="teardown-error", at=at, text=text, problem=True)
    if record.deleted_at:
        yield LogLine(id="gone", at=record.deleted_at, text="the target is gone")


def _to_moment(epoch_ms: int) -> datetime:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC)
