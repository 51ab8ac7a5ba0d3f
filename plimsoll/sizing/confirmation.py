"""Runs that check a prediction near the load line: which to make, and how they compare. Pure."""

from collections.abc import Mapping
from typing import Any, assert_never

from plimsoll.model.aws.volumes import limits
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import RampSearch, RateSearch, StepsSearch
from plimsoll.model.validation import validate
from plimsoll.sizing.answer import Confirmed, Option
from plimsoll.sizing.caps import Made
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.predict import Prediction

NEARBY = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)  # multiples of the predicted limit at which to measure


def write_confirming_request(
    asked: Request,
    target: Made,
    found: Prediction,
    *,
    name: str,
    statistic: Statistic,
    limits_us: Mapping[str, float],
) -> Request:
    """Write a run's request for another target, searching around the predicted limit.

    Args:
        asked: The request of the run that the prediction is based on.
        target: The target to measure.
        found: The prediction for it.
        name: The name of the new run.
        statistic: The latency statistic that the limits apply to.
        limits_us: The highest latency of each operation, in microseconds.

    Raises:
        UsageError: The resulting request is not valid.
    """
    rules = {**_dump_model(asked.limits), "limits_us": dict(limits_us), "statistic": statistic}
    changed: dict[str, Any] = {
        "name": name,
        "description": f"Confirms what was predicted from {asked.name}",
        "target": _dump_target_without_credits(target),
        "limits": rules,
        "search": _plan_search(asked, found),
        "toggle": None,
        "expect": (),
        "faults": (),
    }
    return validate(Request, {**_dump_model(asked), **changed})


def _dump_model(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(mode="json")
    return dumped


def _dump_target_without_credits(target: Made) -> dict[str, Any]:
    """Dump a target; a volume with burst credits starts without them, to measure what lasts."""
    value = _dump_model(target)
    if isinstance(target, AuroraTarget):
        return value
    bursts = limits(target.volume, service=target.service).burst_credits is not None
    return {**value, "volume": {**value["volume"], "credits_start": "empty" if bursts else None}}


def _plan_search(asked: Request, found: Prediction) -> dict[str, Any]:
    """Start below the lowest load that may be the limit, and end above the likeliest one.

    A search whose first load fails learns little and needs a step for every lighter load.
    """
    search, load, least = asked.search, found.load or 1, found.least_load or 1
    match search:
        case StepsSearch():
            each = search.connections_per_client
            clients = sorted(
                {max(1, round(near / each)) for near in (least, *(t * load for t in NEARBY))}
            )
            changed: dict[str, Any] = {"clients": clients}
        case RampSearch():
            changed = {
                "connections_first": max(search.connections_first, least // 2),
                "connections_max": max(search.connections_max, 2 * load),
            }
        case RateSearch():
            first = max(search.rate_first_ops_per_second, found.low / 2)
            changed = {
                "rate_first_ops_per_second": first,
                "rate_max_ops_per_second": max(search.rate_max_ops_per_second, 2 * found.high),
            }
        case _:
            assert_never(search)
    return {**_dump_model(search), **changed}


def compare_with_run(option: Option, found: Prediction, run: Measured, folder: str) -> Confirmed:
    """Compare a prediction with the run that was made to check it.

    Args:
        option: The predicted option.
        found: The prediction for the machine on which the run was made.
        run: The run.
        folder: The run's folder.
    """
    return Confirmed(
        target=option.target,
        predicted=found.ops_per_second,
        low=found.low,
        high=found.high,
        measured=run.capacity.max_sustainable_throughput_ops_per_second,
        bound=run.capacity.bound,
        error=run.compute_error(found.ops_per_second),
        run=folder,
    )
