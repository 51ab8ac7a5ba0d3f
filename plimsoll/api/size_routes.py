"""What to buy, from one finished run: `GET /runs/{run_id}/sizes`."""

from datetime import UTC, datetime
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api import run_views
from plimsoll.api.context import read_settings
from plimsoll.api.run_routes import RunId, read_own_run
from plimsoll.complaints import Complaint, complain_of_unknown
from plimsoll.console.sizes import SizesShown, show_sizes
from plimsoll.errors import NoGroundError, UsageError
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.run.results import RunResult
from plimsoll.quoting.prices import override_prices
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.rank import Wish
from plimsoll.sizing.size import size
from plimsoll.workflow.past import (
    extract_measured,
    find_judged_limits_us,
    find_volume_gib,
    list_run_operations,
)

router = APIGatewayRouter()
MOST_US = 1e9  # higher than any latency that is measured


@router.get(
    "/runs/<run_id>/sizes",
    summary="Predict what to buy for a load",
    description="Lists every volume and instance class with a known price that is predicted to"
    " carry the load, from the measurements of one run, sorted by monthly price, then the cheaper"
    " ones that may carry it; as `plimsoll size` does (docs/sizing.md). 409 if the run measured"
    " nothing to predict from.",
    response_description="The ranking; if empty, nothing carries the load, and `cannot` says why.",
    operation_id="get_sizes",
    tags=["runs"],
)
def get_sizes(
    *,
    run_id: RunId,
    want: Annotated[
        float, Query(gt=0, le=1e9, description="Load to carry, in operations per second.")
    ],
    limits_us: Annotated[
        str | None,
        Query(
            max_length=2000,
            description="Latency limit of each operation in microseconds:"
            " `read=5000,update=20000`. Default: the limits that the run was judged by.",
        ),
    ] = None,
    statistic: Annotated[
        Statistic | None,
        Query(
            description="Latency statistic to compare with the limits. Default: p99; without"
            " limits, the run's own."
        ),
    ] = None,
    headroom: Annotated[
        float, Query(ge=0, le=0.99, description="Share of the load line to keep free.")
    ] = 0.3,
    limit: Annotated[int, Query(ge=1, le=500, description="Maximum number of targets.")] = 20,
) -> SizesShown:
    """Say what to buy, from a run of the caller's team."""
    record, settings = read_own_run(router, run_id), read_settings(router)
    result = run_views.find_result(settings, record)
    if result is None:
        raise NoGroundError(f"{run_id} has no results: it is {record.state}")
    asked = statistic or ("p99" if limits_us else result.request.limits.statistic)
    limits = _parse_limits_us(limits_us, result)
    answer = size(
        {run_id: _extract_measured(result, asked, limits)},
        Wish(want, limits, headroom, find_volume_gib(result)),
        override_prices(settings.prices),
        statistic=asked,
        today=datetime.now(UTC).date(),
    )
    return show_sizes(answer, most=limit)


def _extract_measured(
    result: RunResult, statistic: Statistic, limits_us: dict[str, float]
) -> Measured:
    try:
        return extract_measured(result, statistic, limits_us)
    except UsageError as error:  # the run is unusable; the query itself is valid
        raise NoGroundError(str(error)) from None


def _parse_limits_us(given: str | None, result: RunResult) -> dict[str, float]:
    """Parse the limits; without any, return those by which the run was judged.

    Raises:
        UsageError: A limit is invalid, or an operation has none.
    """
    path, operations = ("limits_us",), list_run_operations(result)
    found = find_judged_limits_us(result) if given is None else {}
    for part in given.split(",") if given else ():
        name, _, value = part.partition("=")
        if name not in operations:
            raise UsageError(complain_of_unknown("operation", name, operations, path, value=name))
        found[name] = _parse_microseconds(name, value)
    lacking = [name for name in operations if name not in found]
    if lacking:
        raise UsageError(
            Complaint(path, f"none for {', '.join(lacking)}: write {lacking[0]}=20000")
        )
    return found


def _parse_microseconds(name: str, text: str) -> float:
    try:
        us = float(text)
    except ValueError:
        us = 0.0
    if not 0 < us <= MOST_US:
        problem = f"{name}: {text[:40]!r} is not a number of microseconds, of 0 to {MOST_US:,.0f}"
        raise UsageError(Complaint(("limits_us",), problem, text[:40]))
    return us
