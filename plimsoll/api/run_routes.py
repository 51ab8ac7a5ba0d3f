"""Runs: `POST /runs`, `GET /runs`, `GET /runs/{run_id}` and what is below it, `DELETE`."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api import run_views
from plimsoll.api.context import IdempotencyKey, read_caller, read_settings
from plimsoll.api.problems import ApiError
from plimsoll.api.started import (
    answer_start,
    answer_stop,
    check_run,
    describe_start,
    describe_stop,
)
from plimsoll.aws.run_records import records_of
from plimsoll.errors import RunNotFoundError
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.model.service.answers import (
    RUN_ID,
    ReportLinks,
    RunDetail,
    Runs,
    RunSummary,
    Steps,
    Submitted,
)
from plimsoll.workflow.listing import list_page, summarize_record
from plimsoll.workflow.start_and_stop import stop_run
from plimsoll.workflow.submit import submit_run

router = APIGatewayRouter()
RunId = Annotated[
    str,
    Path(
        pattern=RUN_ID,
        max_length=60,
        description="Identifier of the run, from the response of `POST /runs`.",
    ),
]


@router.post(
    "/runs",
    summary="Start a run",
    description="Checks the request, records the run and starts its workflow; returns without"
    " waiting for it. Repeating a call with the same `Idempotency-Key` and request starts nothing"
    " new.",
    status_code=202,
    responses=describe_start("run", Submitted),
    operation_id="start_run",
    tags=["runs"],
)
def start_run(
    request: Annotated[Request, Body(description="docs/requests.md explains each field.")],
    idempotency_key: IdempotencyKey = None,
) -> Response[Submitted]:
    """Start a run of the caller's team."""
    settings, caller = read_settings(router), read_caller(router)
    checked = check_run(request, caller)
    run_id = submit_run(settings, checked, idempotency_key=idempotency_key)
    answer = Submitted(run_id=run_id, name=request.name, team=caller.team)
    return answer_start(router, run_id, answer)


@router.get(
    "/runs",
    summary="List the team's runs",
    description="Newest first, in pages. With a filter, a page may have fewer runs than `limit`"
    " and still have a next page.",
    response_description="A page of runs.",
    operation_id="list_runs",
    tags=["runs"],
)
def list_runs(
    *,
    team: Annotated[
        str | None, Query(max_length=40, description="Team; the caller's own by default.")
    ] = None,
    state: Annotated[RunState | None, Query(description="Only runs in this state.")] = None,
    tag: Annotated[
        str | None,
        Query(
            pattern=r"^[^=]{1,100}=.{0,200}$",
            description="Only runs with this tag, as `name=value`.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=100,
            description="Only runs whose `target_words` contain this text; case matters.",
        ),
    ] = None,
    cursor: Annotated[
        str | None, Query(max_length=400, description="`next_cursor` of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100, description="Maximum number of runs.")] = 20,
) -> Runs:
    """List the runs of the caller's team."""
    settings, caller = read_settings(router), read_caller(router)
    caller.require_team(caller.team if team is None else team)
    name, _, value = (tag or "").partition("=")
    page = list_page(
        settings.runs_table,
        caller.team,
        state=state,
        tag=(name, value) if tag is not None else None,
        target=target,
        cursor=cursor,
        limit=limit,
    )
    return Runs(
        runs=tuple(map(summarize_record, page.runs)),
        next_cursor=page.next_cursor,
        unreadable=page.unreadable,
    )


@router.get(
    "/runs/<run_id>",
    summary="Get a run's state",
    description="Returns phase, progress and verdict, and the request.",
    response_description="The run.",
    operation_id="get_run",
    tags=["runs"],
)
def get_run(run_id: RunId) -> RunDetail:
    """Show a run of the caller's team."""
    record = read_own_run(router, run_id)
    return run_views.show_run(read_settings(router), record)


@router.get(
    "/runs/<run_id>/steps",
    summary="List a run's finished steps",
    description="In order; also while the run is in progress. Steps count from 1; the load that"
    " warms the caches is not a step.",
    response_description="The finished steps.",
    operation_id="list_steps",
    tags=["runs"],
)
def list_steps(
    run_id: RunId,
    after: Annotated[
        int, Query(ge=0, le=10_000, description="Only steps after this number; 0 means all.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=50, description="Maximum number of steps.")] = 20,
) -> Steps:
    """Show the finished steps of a run of the caller's team."""
    record = read_own_run(router, run_id)
    return run_views.read_steps(read_settings(router), record, after=after, limit=limit)


@router.get(
    "/runs/<run_id>/report",
    summary="Get links to a run's report and results",
    description="The links open without credentials for a few minutes. 404 until the run has ended"
    " and its page is written, some seconds later.",
    response_description="The links.",
    operation_id="get_report",
    tags=["runs"],
)
def get_report(run_id: RunId) -> ReportLinks:
    """Return signed links to the report of a run of the caller's team."""
    record = read_own_run(router, run_id)
    links = run_views.sign_report_links(read_settings(router), record)
    if links is None:
        drawing = ", and its page is drawn right after its end" if record.state.ended else ""
        detail = f"run {run_id} has no report yet: it is {record.state}{drawing}"
        raise ApiError(404, "no-report", detail)
    return links


@router.delete(
    "/runs/<run_id>",
    summary="Stop a run",
    description="Stops the run and deletes its target; what it measured is kept. Idempotent.",
    responses=describe_stop(RunSummary),
    operation_id="stop_run",
    tags=["runs"],
)
def delete_run(run_id: RunId) -> Response[RunSummary]:
    """Stop a run of the caller's team."""
    read_own_run(router, run_id)
    record = stop_run(read_settings(router), run_id)
    return answer_stop(record.state, summarize_record(record))


def read_own_run(router: BaseRouter, run_id: str) -> RunRecord:
    """Read the record of a run of the caller's team; for another team's run, not found."""
    record = records_of(read_settings(router)).get(run_id)
    if record.team != read_caller(router).team:
        raise RunNotFoundError(f"there is no run {run_id!r}")
    return record
