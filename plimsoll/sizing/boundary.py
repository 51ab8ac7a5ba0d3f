"""Runs beside a predicted boundary: which to make, and what they say of the prediction. Pure."""

from collections.abc import Mapping
from typing import Any, assert_never

from plimsoll.model.aws.volumes import limits
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import RampSearch, RateSearch, StepsSearch
from plimsoll.model.validation import validated
from plimsoll.sizing.answer import Confirmed, Option
from plimsoll.sizing.caps import Made
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.predict import Prediction

NEARBY = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)  # times the load at which the limit is predicted


def request_beside(
    asked: Request,
    target: Made,
    found: Prediction,
    *,
    name: str,
    statistic: Statistic,
    limits_us: Mapping[str, float],
) -> Request:
    """Write the run's own request for another target, with a search about the predicted limit.

    Args:
        asked: The run's.
        target: That is to be measured.
        found: What is predicted of it.
        name: Of the new run.
        statistic: Of the latencies that the limits are of.
        limits_us: The most that each operation may take.

    Raises:
        UsageError: Such a run cannot be.
    """
    rules = {**_dumped(asked.limits), "limits_us": dict(limits_us), "statistic": statistic}
    changed: dict[str, Any] = {
        "name": name,
        "description": f"Confirms what was predicted from {asked.name}",
        "target": _without_credits(target),
        "limits": rules,
        "search": _search(asked, found),
        "toggle": None,
        "expect": (),
        "faults": (),
    }
    return validated(Request, {**_dumped(asked), **changed})


def _dumped(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(mode="json")
    return dumped


def _without_credits(target: Made) -> dict[str, Any]:
    """Write a target; a volume with burst credits begins without them: what lasts is asked for."""
    value = _dumped(target)
    if isinstance(target, AuroraTarget):
        return value
    bursts = limits(target.volume, service=target.service).burst_credits is not None
    return {**value, "volume": {**value["volume"], "credits_start": "empty" if bursts else None}}


def _search(asked: Request, found: Prediction) -> dict[str, Any]:
    """Begin below the least load that may be the limit, and go beyond the likeliest.

    What fails at its first load tells little, and every lighter one is then a step of its own.
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
    return {**_dumped(search), **changed}


def confirmed(option: Option, found: Prediction, run: Measured, folder: str) -> Confirmed:
    """Hold a prediction against the run that was made for it.

    Args:
        option: What was predicted.
        found: The prediction for the machine on which it was measured.
        run: The run.
        folder: Its folder.
    """
    capacity = run.capacity
    figure = capacity.max_sustainable_throughput_ops_per_second
    return Confirmed(
        target=option.target,
        predicted=found.ops_per_second,
        low=found.low,
        high=found.high,
        measured=figure,
        bound=capacity.bound,
        error=found.ops_per_second / figure - 1 if figure and capacity.bound == "=" else None,
        run=folder,
    )
