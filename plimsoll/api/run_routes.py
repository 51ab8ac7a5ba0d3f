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
    assign_to_team,
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
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow.listing import list_page, summarize_record
from plimsoll.workflow.start_and_stop import stop_run
from plimsoll.workflow.submit import submit_run

router = APIGatewayRouter()
RunId = Annotated[
    str, Path(pattern=RUN_ID, max_length=60, description="The run's id, as `POST /runs` gave it.")
]


@router.post(
    "/runs",
    summary="Start a run",
    description="Checks the request, records it and starts its workflow; does not wait for it. The"
    " same `Idempotency-Key` with the same request is the same run, however often it is sent.",
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
    request = assign_to_team(request, caller)
    request.require_nothing_of_one_machine("`plimsoll run --local`")
    run_id = submit_run(settings, check_request(request), idempotency_key=idempotency_key)
    answer = Submitted(run_id=run_id, name=request.name, team=request.team)
    return answer_start(router, run_id, answer)


@router.get(
    "/runs",
    summary="The team's runs",
    description="Newest first, a page at a time. A page with a filter may hold fewer than `limit`"
    " and still have a next one.",
    response_description="A page of runs.",
    operation_id="list_runs",
    tags=["runs"],
)
def list_runs(
    *,
    team: Annotated[
        str | None, Query(max_length=40, description="The caller's own team; the default.")
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
            description="Only runs whose `target_words` contain this, as it is written.",
        ),
    ] = None,
    cursor: Annotated[
        str | None, Query(max_length=400, description="`next_cursor` of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100, description="Runs at most.")] = 20,
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
    summary="Where a run stands",
    description="Its phase, its progress, its verdict, and what it was asked for.",
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
    summary="A run's finished steps",
    description="In order, while the run goes on too. Steps count from 1; the load that warms the"
    " caches is none.",
    response_description="Steps.",
    operation_id="list_steps",
    tags=["runs"],
)
def list_steps(
    run_id: RunId,
    after: Annotated[
        int, Query(ge=0, le=10_000, description="Only steps after this one; 0: from the first.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=50, description="Steps at most.")] = 20,
) -> Steps:
    """Show the finished steps of a run of the caller's team."""
    record = read_own_run(router, run_id)
    return run_views.read_steps(read_settings(router), record, after=after, limit=limit)


@router.get(
    "/runs/<run_id>/report",
    summary="Links to a run's report and results",
    description="They open without credentials, for a few minutes. 404 until the run has ended and"
    " its page is drawn, some seconds later.",
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
    description="Stops it and deletes its target; what it measured stays. Idempotent.",
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
