"""The result of a search in this process, in the same files as a run's."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.databases.conditions import is_audited, leave_unknown
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.files import write_whole
from plimsoll.load_line.conditions import audit_rows
from plimsoll.load_line.search_loop import Finder
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.request import Request
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.run.results import CheckedCondition, RunResult, Seconds
from plimsoll.model.run.run_record import Failure, RunRecord, RunState
from plimsoll.report.folder import REQUEST, RESULT
from plimsoll.workflow.result import Conclusion, assemble_result, conclude_steps


def record_search(request: Request, began: datetime) -> RunRecord:
    """Return the record of a search that has begun. It stands in no table."""
    return RunRecord(
        run_id=f"{request.name}-{began:%Y%m%d-%H%M%S}",
        name=request.name,
        team=request.team,
        state=RunState.RUNNING,
        phase="step",
        local=True,
        tags=request.tags,
        target_words=describe_target(request.target),
        request_sha256="",
        submitted_at=began,
        started_at=began,
        step_at=began,
        time_limit_s=request.time_limit_s,
    )


def search_and_judge(
    finder: Finder, *, server: str, rows: int | None, notes: Sequence[str] = ()
) -> tuple[RunResult, Seconds]:
    """Search until done or cut short, and judge what was measured.

    Args:
        finder: The search.
        server: The server's own name and version.
        rows: The rows of the dataset; None if not counted.
        notes: Further facts for the reader.
    """
    request, record = finder.request, record_search(finder.request, datetime.now(UTC))
    failure: PlimsollError | None = None
    conclusion: Conclusion | None = None
    try:
        finder.search()
    except PlimsollError as error:  # what was measured until then is judged all the same
        failure = error
    try:
        if finder.steps:
            conclusion = conclude_steps(request, finder.steps, _audit_conditions(finder))
    except UsageError as error:
        failure = failure or error
    cause = str(failure) if failure else finder.cut_short
    ended: dict[str, object] = {
        "state": RunState.FAILED if failure else RunState.STOPPED if cause else RunState.SUCCEEDED,
        "failure": None,
        "ended_at": datetime.now(UTC),
        "server_version": server,
        "rows": rows,
    }
    if cause:
        kind = type(failure).__name__ if failure else "Stopped"
        ended["failure"] = Failure(phase="step", error=kind, cause=cause)
    record = record.model_copy(update=ended)
    result = assemble_result(
        record,
        request,
        finder.steps,
        conclusion,
        engine_version=next((step.fleet.engine_version for step in finder.steps), None),
        links=Dashboards.read_from_environment(os.environ).links(
            record.run_id, since=record.submitted_at, until=record.ended_at
        ),
        notes=notes,
    )
    return result, Seconds.of(record.run_id, finder.steps, ())


def _audit_conditions(finder: Finder) -> tuple[CheckedCondition, ...]:
    """Check what the workload says of its rows, unless someone ended the load at once."""
    if not is_audited(finder.compiled, finder.request.limits):
        return ()
    if finder.ended:
        return leave_unknown(finder.compiled, f"the search was ended: {finder.cut_short}")
    return audit_rows(finder.target, finder.compiled, finder.shows.say)


def write_result(folder: Path, result: RunResult, seconds: Seconds) -> None:
    """Write a result's files: `result.json`, `seconds.json`, `request.json` and `report.html`."""
    from plimsoll.report.page import render_run  # noqa: PLC0415 - half a second, needed only here

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / RESULT, result.model_dump_json())
    write_whole(folder / "seconds.json", seconds.model_dump_json())
    write_whole(folder / REQUEST, result.request.model_dump_json(exclude_none=True))
    write_whole(folder / "report.html", render_run(result, seconds))
