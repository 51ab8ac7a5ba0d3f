"""Live data for the page in the browser: `GET /runs/{run_id}/live`, and comparisons of runs."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api import run_views
from plimsoll.api.context import read_settings
from plimsoll.api.run_routes import RunId, read_own_run
from plimsoll.complaints import Complaint
from plimsoll.console.compared import ComparisonShown
from plimsoll.console.live import CURSOR, POINTS, Cursor
from plimsoll.console.reading import RunReading
from plimsoll.errors import UsageError
from plimsoll.model.service.answers import RUN_ID
from plimsoll.model.service.live import Live

router = APIGatewayRouter()
COMPARED_MOST = 10


@router.get(
    "/runs/<run_id>/live",
    summary="A run as it goes on",
    description="What is new since a cursor: its plan, time and money in words, its log, the loads"
    " as judged so far, the seconds of the steps that ended since, thinned, and the target's own"
    " figures. Each call reads CloudWatch while the target is there. `plimsoll serve` streams the"
    " same documents at `GET /events?run_id=...` (docs/console.md).",
    response_description="What is new.",
    operation_id="get_live",
    tags=["runs"],
)
def get_live(
    run_id: RunId,
    after: Annotated[
        str | None,
        Query(pattern=CURSOR, description="`cursor` of the call before; without: from the first."),
    ] = None,
    points: Annotated[
        int, Query(ge=60, le=2000, description="About how many bins a whole series may have.")
    ] = POINTS,
) -> Live:
    """Show the progress of a run of the caller's team."""
    read_own_run(router, run_id)
    reading = RunReading(read_settings(router), run_id)
    return reading.live(Cursor.parse(after), points=points)


@router.get(
    "/comparisons",
    summary="Runs side by side",
    description="Finished runs compared with the first of them that asks the same: the ratio of"
    " their capacities with its interval, latencies at the loads that all of them tried, and the"
    " curve of each.",
    response_description="The comparison.",
    operation_id="compare_runs",
    tags=["runs"],
)
def compare_runs(
    runs: Annotated[
        str,
        Query(
            max_length=61 * COMPARED_MOST,
            pattern=rf"{RUN_ID[:-1]}(,{RUN_ID[1:-1]})+$",
            description=f"Ids with commas between them: 2 to {COMPARED_MOST}.",
        ),
    ],
) -> ComparisonShown:
    """Compare runs of the caller's team."""
    ids = list(dict.fromkeys(runs.split(",")))
    if not 2 <= len(ids) <= COMPARED_MOST:
        problem = f"names {len(ids)} different runs; 2 to {COMPARED_MOST} can be compared"
        raise UsageError(Complaint(("runs",), problem))
    records = [read_own_run(router, run_id) for run_id in ids]
    return run_views.compare_records(read_settings(router), records)
