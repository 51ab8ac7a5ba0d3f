"""Ends every run: records its outcome, announces it, and draws its page."""

import json
import os
from collections.abc import Mapping
from typing import Any

from plimsoll.aws.event_bus import put_event
from plimsoll.aws.function_log import log_line
from plimsoll.aws.run_files import (
    CONCLUSION,
    DATASET,
    QUOTE,
    REPORT,
    REQUEST,
    RESULT,
    SECONDS,
    RunFiles,
    files_of,
)
from plimsoll.aws.run_records import build_deadline_error, now, records_of
from plimsoll.errors import BudgetPassedError
from plimsoll.fleet.failures import extract_cause
from plimsoll.model.datasets import DatasetLayout
from plimsoll.model.deployment.events import RunEnded
from plimsoll.model.deployment.function_settings import EndRunSettings, TeamSettings
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.dashboards import Links
from plimsoll.model.run.quote import Quote, RunCost
from plimsoll.model.run.results import PhaseResult, RunResult, Seconds
from plimsoll.model.run.run_record import BEFORE_END, Failure, RunRecord, RunState
from plimsoll.quoting.costs import add_usd, estimate_run_cost, list_cost_lines
from plimsoll.report.expectations import check_expectations
from plimsoll.requests.checked_request import check_request
from plimsoll.teams.limits import find_team_limits
from plimsoll.workflow.barrier import read_step_plans
from plimsoll.workflow.history import read_judged_steps, read_search_steps
from plimsoll.workflow.phases import summarize_phases
from plimsoll.workflow.result import Conclusion, assemble_result, find_volume_limits

# Parsed into models, this many bytes take about 500 MiB, half of this function's memory.
SERIES_MOST_BYTES = 30_000_000
LOGGED = {"name", "team", "state", "verdict", "bound", "capacity_ops_per_second", "ended_at"}
WAYS_OUT = {  # outcome of an execution that could not record its own end
    "ABORTED": (RunState.STOPPED, "Stopped", "the run was stopped from outside"),
    "TIMED_OUT": (RunState.TIMED_OUT, "States.Timeout", "the workflow ran past its own time-out"),
    "FAILED": (RunState.FAILED, "States.Runtime", "the workflow itself failed"),
}


def end_run(
    settings: EndRunSettings,
    run_id: str,
    *,
    failure: Mapping[str, Any] | None = None,
    ended: str | None = None,
) -> dict[str, object]:
    """Write the final record and `result.json`; a run that has ended already stays unchanged.

    Args:
        settings: The function's settings.
        run_id: The run.
        failure: What the workflow caught if it failed: phase, error and cause.
        ended: How the execution ended, if it could not record that itself.
    """
    records = records_of(settings)
    record = records.get(run_id)
    if not record.state.ended:
        state, run_failure = _choose_final_state(record, failure, ended)
        last: dict[str, Any] = {"state": state, "failure": run_failure, "ended_at": now()}
        files = files_of(settings, run_id)
        cost, usd = _estimate_cost(record.model_copy(update=last), files)
        last["cost_usd"] = None if usd is None else f"{usd:.6f}"
        links = settings.dashboards.links(run_id, since=record.submitted_at, until=last["ended_at"])
        # The baseline is a file of the caller's, so only the caller can judge by it.
        result = check_expectations(
            _build_result(record.model_copy(update=last), files, cost=cost, links=links)
        )
        _keep_series(files, run_id)
        files.put_model(RESULT, result)
        # Released first: whoever sees the end then finds the results, and room for the next run.
        _release_share(settings, record, last["cost_usd"])
        told_first = records.change(run_id, states=BEFORE_END, **last)
        if told_first:
            ended_event = build_ended_event(result, files)
            print(_build_end_log_line(ended_event, last["cost_usd"]), flush=True)
            put_event(settings.event_bus, ended_event)
        _draw_report(files, result)
    else:
        _release_share(settings, record, record.cost_usd)
    final = records.get(run_id).failure
    return {"failure": None if final is None else {"error": final.error, "cause": final.cause}}


def _estimate_cost(record: RunRecord, files: RunFiles) -> tuple[RunCost | None, float | None]:
    """Estimate what the run cost, and what counts towards its team's spend."""
    quote = files.find_model(QUOTE, Quote)
    if quote is None:
        return None, None
    request = files.get(REQUEST, Request)
    conclusion = files.find_model(CONCLUSION, Conclusion)
    plans = read_step_plans(files)
    capacity = conclusion.capacity if conclusion else None
    billed = conclusion.billed_io if conclusion else None
    usd = add_usd(list_cost_lines(quote, request, record, plans, billed=billed))
    return estimate_run_cost(quote, request, record, plans, capacity, billed=billed), usd


def _release_share(settings: TeamSettings, record: RunRecord, cost_usd: str | None) -> None:
    """Give back the run's share of its team's limits. If this fails, the janitor repairs it."""
    try:
        limits = find_team_limits(settings, record.team)
        if limits is not None:
            limits.release(record.run_id, usd=None if cost_usd is None else float(cost_usd))
    except Exception as error:  # noqa: BLE001 - see above
        said, kind = "its share of the limits is not released", type(error).__name__
        log_line("ERROR", said, correlation_id=record.run_id, error=kind)


def _choose_final_state(
    record: RunRecord, failure: Mapping[str, Any] | None, ended: str | None
) -> tuple[RunState, Failure | None]:
    left_behind = record.stack_id is not None and record.deleted_at is None
    if left_behind:
        cause = record.teardown_error or "its deletion was not seen"
        return RunState.FAILED, Failure(
            phase="teardown",
            error="TeardownError",
            cause=f"the target's stack {record.stack_name} may still be there: {cause}",
        )
    if failure is not None:
        error, cause = str(failure["error"]), extract_cause(str(failure["cause"]))
        state = RunState.FAILED
        if error == "RunStoppedError":
            state = RunState.STOPPED
        elif error == "TimeLimitPassedError":
            state = RunState.TIMED_OUT
        elif error == "BudgetPassedError":
            state = RunState.OVER_BUDGET
        return state, Failure(phase=failure["phase"], error=error, cause=cause)
    if ended is not None:
        state, error, cause = WAYS_OUT[ended]
        if record.expires_at is not None and now() >= record.expires_at:
            passed = build_deadline_error(record, "passed")
            over = isinstance(passed, BudgetPassedError)
            state = RunState.OVER_BUDGET if over else RunState.TIMED_OUT
            error, cause = type(passed).__name__, str(passed)
        return state, Failure(phase=record.phase, error=error, cause=cause)
    return RunState.SUCCEEDED, None


def build_ended_event(result: RunResult, files: RunFiles) -> RunEnded:
    """Build the event that announces a run's end."""
    capacity = result.capacity
    return RunEnded(
        run_id=result.run_id,
        name=result.name,
        team=result.team,
        local=result.local,
        state=result.state,
        failure=result.failure,
        verdict=capacity.verdict if capacity else None,
        capacity_ops_per_second=(
            capacity.max_sustainable_throughput_ops_per_second if capacity else None
        ),
        bound=capacity.bound if capacity else None,
        summary=capacity.summary if capacity else None,
        ended_at=result.moments.ended or now(),
        results=files.address,
    )


def _build_end_log_line(ended: RunEnded, cost_usd: str | None) -> str:
    """Build the log line from which the deployment's CloudWatch dashboard lists its runs."""
    told = ended.model_dump(mode="json", include=LOGGED)
    cost = None if cost_usd is None else float(cost_usd)
    return json.dumps(
        {"run_ended": ended.run_id, "correlation_id": ended.run_id, **told, "usd": cost}
    )


def _keep_series(files: RunFiles, run_id: str) -> None:
    """Merge the clients' seconds into one file, if the run ended before `conclude` did."""
    if SECONDS in files.paths(SECONDS):
        return
    series = Seconds.of(run_id, read_search_steps(files), ())
    if series.operations:
        files.put_model(SECONDS, series)


def _draw_report(files: RunFiles, result: RunResult) -> None:
    """Write the page beside the results. This comes last, when the run has ended already.

    The page can be drawn again from the files at any time, so a failure is only logged.
    """
    from plimsoll.report.page import render_run  # noqa: PLC0415 - half a second, for the end alone

    try:
        series = files.find(SECONDS) or b""
        if len(series) > SERIES_MOST_BYTES:
            log_line(
                "WARNING", f"{files.key(REPORT)} is not drawn: {len(series):,} bytes of series"
            )
            return
        none = Seconds(run_id=result.run_id, operations=(), target=())
        seconds = Seconds.model_validate_json(series) if series else none
        files.put(REPORT, render_run(result, seconds), content_type="text/html; charset=utf-8")
    except Exception as error:  # noqa: BLE001 - see above
        log_line("ERROR", f"{files.key(REPORT)} is not drawn: {error!r}")


def _build_result(
    record: RunRecord, files: RunFiles, *, cost: RunCost | None, links: Links
) -> RunResult:
    request = files.get(REQUEST, Request)
    conclusion = files.find_model(CONCLUSION, Conclusion)
    steps = read_search_steps(files)
    begun = steps or read_judged_steps(files)
    notes = [*conclusion.notes] if conclusion else []
    if isinstance(request.target, EndpointTarget):
        notes.append("the target is an existing endpoint: its dataset stays there")
    return assemble_result(
        record,
        request,
        steps,
        conclusion,
        engine_version=next((step.fleet.engine_version for step in begun), None),
        links=links,
        notes=notes,
        phases=conclusion.phases if conclusion else _summarize_phases(request, files),
        dataset=files.find_model(DATASET, DatasetLayout),
        cost=cost,
        processors=os.cpu_count() if record.local else None,
    )


def _summarize_phases(request: Request, files: RunFiles) -> tuple[PhaseResult, ...]:
    """Summarize the phases of a run that ended before its conclusion."""
    if not request.phases:
        return ()
    passes = [step for step in read_judged_steps(files) if step.plan.phase is not None]
    return summarize_phases(check_request(request), passes, find_volume_limits(request))
