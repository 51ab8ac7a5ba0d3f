"""The loads that each strategy may ask for: a heavier one, one between two, a lighter one."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.model.capacity import Axis
from plimsoll.model.search_request import RampSearch, RateSearch, Search, StepsSearch

DESCENTS_MAX = 6  # halvings below the first load


@dataclass(frozen=True, slots=True)
class Ladder:
    """The loads that a strategy may ask for."""

    axis: Axis
    first: float
    up: Callable[[float], float | None]  # the next heavier load; None at the top
    down: Callable[[float], float | None]  # a load lighter than the first; None at the bottom
    between: Callable[[float, float], float | None]  # inside a bracket; None if there is nothing
    near: Callable[[float], float | None]  # the nearest load that may be asked for
    resolution: float  # a bracket narrower than this, relative to its upper end, is left alone


def axis_of(search: Search) -> Axis:
    """Name what the load is in this search."""
    axes: dict[str, Axis] = {"steps": "clients", "ramp": "connections"}
    return axes.get(search.strategy, "rate_ops_per_second")


def _steps_ladder(search: StepsSearch) -> Ladder:
    listed = [float(clients) for clients in search.clients]
    return Ladder(
        axis="clients",
        first=listed[0],
        up=lambda load: next((heavier for heavier in listed if heavier > load), None),
        down=_nothing_lighter,
        between=lambda low, high: next((load for load in listed if low < load < high), None),
        near=_nothing_lighter,
        resolution=0.0,
    )


def _nothing_lighter(load: float) -> None:
    """Keep to the list: nobody asked for a load lighter than its first step."""
    del load


def _ramp_ladder(search: RampSearch) -> Ladder:
    top = float(search.connections_max)

    def up(load: float) -> float | None:
        return None if load >= top else min(top, float(math.ceil(load * search.factor)))

    def down(load: float) -> float | None:
        return float(math.floor(load / 2)) if load >= 2 else None

    def between(low: float, high: float) -> float | None:
        middle = float(round(math.sqrt(low * high)))
        return middle if low < middle < high else None

    return Ladder(
        "connections", float(search.connections_first), up, down, between, _whole, search.resolution
    )


def _rate_ladder(search: RateSearch) -> Ladder:
    first, top = search.rate_first_ops_per_second, search.rate_max_ops_per_second

    def up(load: float) -> float | None:
        return None if load >= top else min(top, _round(load * search.factor))

    def down(load: float) -> float | None:
        return _round(load / 2) if load > first / 2**DESCENTS_MAX else None

    def between(low: float, high: float) -> float | None:
        middle = _round(math.sqrt(low * high))
        return middle if low < middle < high else None

    return Ladder("rate_ops_per_second", first, up, down, between, _round, search.resolution)


def _whole(load: float) -> float:
    """Round to whole connections."""
    return float(round(load))


def _round(rate: float) -> float:
    """Round to four figures: nobody wants to read 1837.117307087384 ops/s."""
    return float(f"{rate:.4g}")


LADDERS: dict[str, Callable[..., Ladder]] = {
    "steps": _steps_ladder,
    "ramp": _ramp_ladder,
    "rate": _rate_ladder,
}
