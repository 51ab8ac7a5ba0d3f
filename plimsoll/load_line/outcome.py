"""The result of a search in this process, in the same files as a run's."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import plimsoll
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.files import write_whole
from plimsoll.load_line.search_loop import Finder
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.run.results import Moments, RunResult, Seconds, Versions
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.report.folder import RESULT
from plimsoll.requests.checked_request import hash_workload
from plimsoll.search_steps import compare_toggle_states, conclude_search


def search_and_judge(
    finder: Finder, *, server: str, rows: int | None, notes: Sequence[str] = ()
) -> tuple[RunResult, Seconds]:
    """Search until done or cut short, and judge what was measured. Returns what `outcome` does."""
    began = datetime.now(UTC)
    failure: PlimsollError | None = None
    try:
        finder.search()
    except PlimsollError as error:  # what was measured until then is judged all the same
        failure = error
    run_id = f"{finder.request.name}-{began:%Y%m%d-%H%M%S}"
    return judge_search(
        finder,
        run_id=run_id,
        server=server,
        rows=rows,
        began=began,
        failure=failure,
        notes=notes,
    )


def judge_search(
    finder: Finder,
    *,
    run_id: str,
    server: str,
    rows: int | None,
    began: datetime,
    failure: PlimsollError | None = None,
    notes: Sequence[str] = (),
) -> tuple[RunResult, Seconds]:
    """Judge what was measured, and write it as a run's result.

    Args:
        finder: The ended search.
        run_id: The id of the result.
        server: The server's own name and version.
        rows: The rows of the dataset; None if not counted.
        began: The time at which the search began.
        failure: The error that ended the search; None if there was none.
        notes: Further facts for the reader.
    """
    request, steps = finder.request, finder.steps
    capacity, limiting = None, None
    if steps:
        try:
            capacity, limiting = conclude_search(request, steps, None)
        except UsageError as error:
            failure = failure or error
    cause = str(failure) if failure else finder.cut_short
    ended = datetime.now(UTC)
    state = RunState.FAILED if failure else RunState.STOPPED if cause else RunState.SUCCEEDED
    result = RunResult(
        run_id=run_id,
        name=request.name,
        team=request.team,
        local=True,
        state=state,
        failure=Failure(
            phase="step", error=type(failure).__name__ if failure else "Stopped", cause=cause
        )
        if cause
        else None,
        capacity=capacity,
        limiting=limiting,
        toggle=compare_toggle_states(request, steps, {}) if steps else None,
        steps=tuple(step.model_copy(update={"seconds": ()}) for step in steps),
        rows=rows,
        volume_limits=None,
        moments=_make_moments(began, ended),
        versions=Versions(
            plimsoll=plimsoll.__version__,
            engine=next((step.fleet.engine_version for step in steps), None),
            server=server,
            workload_sha256=hash_workload(request),
        ),
        notes=tuple(notes),
        links=Dashboards.of_environment(os.environ).links(run_id, since=began, until=ended),
        request=request,
    )
    measured = tuple(second for step in steps for second in step.seconds)
    return result, Seconds(run_id=run_id, operations=measured, target=())


def _make_moments(began: datetime, ended: datetime) -> Moments:
    return Moments(
        submitted=began,
        record=began,
        provision=None,
        target_ready=None,
        prepare=None,
        step=began,
        conclude=None,
        teardown=None,
        deleted=None,
        ended=ended,
    )


def write_result(folder: Path, result: RunResult, seconds: Seconds) -> None:
    """Write a result's files: `result.json`, `seconds.json` and `report.html`."""
    from plimsoll.report.page import render_run  # noqa: PLC0415 - half a second, needed only here

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / RESULT, result.model_dump_json())
    write_whole(folder / "seconds.json", seconds.model_dump_json())
    write_whole(folder / "report.html", render_run(result, seconds))
