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
    summary="Follow a run",
    description="Returns what is new since a cursor: plan, time and cost, log, the loads as judged"
    " so far, the seconds of the steps that ended since, thinned, and the target's metrics. Each"
    " call reads CloudWatch while the target exists. `plimsoll serve` streams the same documents"
    " at `GET /events?run_id=...` (docs/console.md).",
    response_description="What is new since the cursor.",
    operation_id="get_live",
    tags=["runs"],
)
def get_live(
    run_id: RunId,
    after: Annotated[
        str | None,
        Query(
            pattern=CURSOR,
            description="`cursor` of the previous response. Without it, everything from the start.",
        ),
    ] = None,
    points: Annotated[
        int, Query(ge=60, le=2000, description="Approximate number of bins of a whole series.")
    ] = POINTS,
) -> Live:
    """Show the progress of a run of the caller's team."""
    read_own_run(router, run_id)
    reading = RunReading(read_settings(router), run_id)
    return reading.live(Cursor.parse(after), points=points)


@router.get(
    "/comparisons",
    summary="Compare runs",
    description="Compares finished runs with the first of those given that runs the same workload:"
    " the ratio of the capacities with its confidence interval, latencies at the loads that all of"
    " them tried, and the curve of each.",
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
            description=f"Identifiers of the runs, separated by commas: 2 to {COMPARED_MOST}.",
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
