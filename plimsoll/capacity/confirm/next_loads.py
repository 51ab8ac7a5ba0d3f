"""The loads that each kind of search may try, and their conversion into steps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plimsoll.capacity.confirm.larger_fleet import count_clients_needed, find_client_limit
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.model.judging.capacity import Axis
from plimsoll.model.judging.steps import CLOSING, Purpose, Step
from plimsoll.model.request.search_request import (
    NextStep,
    RampSearch,
    RateSearch,
    Search,
    StepsSearch,
)

DESCENTS_MAX = 6  # halvings below the first load at most


@dataclass(frozen=True, slots=True)
class Ladder:
    """The loads that a kind of search may try."""

    axis: Axis
    first: float
    up: Callable[[float], float | None]  # the next heavier load; None at the top
    down: Callable[[float], float | None]  # a load lighter than the first; None at the bottom
    # A load within a bracket; None if there is none
    between: Callable[[float, float], float | None]
    near: Callable[[float], float | None]  # the nearest load that may be tried
    resolution: float  # bracket width, relative to its upper end, below which bisection stops


def find_axis(search: Search) -> Axis:
    """Return the axis of the loads of a search."""
    axes: dict[str, Axis] = {"steps": "clients", "ramp": "connections"}
    return axes.get(search.strategy, "rate_ops_per_second")


def _make_steps_ladder(search: StepsSearch) -> Ladder:
    listed = [float(clients) for clients in search.clients]
    return Ladder(
        axis="clients",
        first=listed[0],
        up=lambda load: next((heavier for heavier in listed if heavier > load), None),
        down=_find_nothing_lighter,
        between=lambda low, high: next((load for load in listed if low < load < high), None),
        near=_find_nothing_lighter,
        resolution=0.0,
    )


def _find_nothing_lighter(load: float) -> None:
    """Return None: the search keeps to its list, which has no load below the first."""
    del load


def _make_ramp_ladder(search: RampSearch) -> Ladder:
    top = float(search.connections_max)

    def up(load: float) -> float | None:
        return None if load >= top else min(top, float(math.ceil(load * search.factor)))

    def down(load: float) -> float | None:
        return float(math.floor(load / 2)) if load >= 2 else None

    def between(low: float, high: float) -> float | None:
        middle = float(round(math.sqrt(low * high)))
        return middle if low < middle < high else None

    return Ladder(
        "connections",
        float(search.connections_first),
        up,
        down,
        between,
        _round_connections,
        search.resolution,
    )


def _make_rate_ladder(search: RateSearch) -> Ladder:
    first, top = search.rate_first_ops_per_second, search.rate_max_ops_per_second

    def up(load: float) -> float | None:
        return None if load >= top else min(top, _round_rate(load * search.factor))

    def down(load: float) -> float | None:
        return _round_rate(load / 2) if load > first / 2**DESCENTS_MAX else None

    def between(low: float, high: float) -> float | None:
        middle = _round_rate(math.sqrt(low * high))
        return middle if low < middle < high else None

    return Ladder("rate_ops_per_second", first, up, down, between, _round_rate, search.resolution)


def _round_connections(load: float) -> float:
    """Round to whole connections."""
    return float(round(load))


def _round_rate(rate: float) -> float:
    """Round to four significant figures, for readability."""
    return float(f"{rate:.4g}")


LADDERS: dict[str, Callable[..., Ladder]] = {
    "steps": _make_steps_ladder,
    "ramp": _make_ramp_ladder,
    "rate": _make_rate_ladder,
}


# --- from a load to a step: clients, connections, recovery ---


MORE_CLIENTS = 1.5  # factor on the clients when they are the bottleneck


@dataclass(frozen=True, slots=True)
class Shape:
    """Clients and connections of a step that differ from the search's own for that load."""

    clients: int
    connections: int
    rate_ops_per_second: float | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A load to apply, before it is made a step."""

    load: float  # ignored if shape is set
    purpose: Purpose
    why: str
    more_clients: bool = False
    poll_us: int | None = None  # longest busy-poll of a client for a reply; None for the request's
    shape: Shape | None = None  # None for the search's own clients and connections
    duration_s: float | None = None  # length of the window; None for the request's
    window_factor: int = 1  # multiple of the request's warm-up and window, at least
    state: str | None = None  # state of the toggle to switch to
    then: tuple[str, ...] = ()  # why each further step at this load follows without a pause


def make_next_step(
    search: Search, finished: Sequence[Step], wish: Wish, judged: Sequence[Assessed]
) -> NextStep:
    """Convert a load into a step: clients, connections, and whether to wait for recovery first."""
    rate = wish.load if search.strategy == "rate" else None
    shape = wish.shape or Shape(*_size_fleet(search, finished, wish), rate)
    same = [step for step in finished if getattr(step, find_axis(search)) == wish.load]
    last = finished[-1] if finished else None
    overloads = [step for assessed in judged for step in assessed.overloads]
    return NextStep(
        index=len(finished),
        clients=shape.clients,
        connections=shape.connections,
        rate_ops_per_second=shape.rate_ops_per_second,
        purpose=wish.purpose,
        duration_s=wish.duration_s,
        poll_us=wish.poll_us,
        window_factor=max(wish.window_factor, find_longest_factor(same)),
        state=wish.state,
        recover_first=last is not None
        and (
            last.void is not None
            or any(step is last for step in overloads)
            or _may_have_overloaded(last, wish)
        ),
        why=wish.why,
        then=wish.then,
    )


def _may_have_overloaded(last: Step, wish: Wish) -> bool:
    """Return whether the previous step was a closing one that may have overloaded the target.

    The windows of a soak follow each other without a recovery.
    """
    soaks_on = last.purpose == wish.purpose == "soak"
    return last.purpose in CLOSING and last.purpose != "sentinel" and not soaks_on


def _size_fleet(search: Search, finished: Sequence[Step], wish: Wish) -> tuple[int, int]:
    """Return clients and connections for a load. Clients that were added once are kept."""
    if isinstance(search, StepsSearch):
        clients = int(wish.load)
        return clients, clients * search.connections_per_client
    same = [s.clients for s in finished if getattr(s, find_axis(search)) == wish.load and s.clients]
    before = max(same or [step.clients or 1 for step in finished], default=1)
    if wish.more_clients:
        before = min(search.clients_max, max(before + 1, int(before * MORE_CLIENTS)))
    limit = find_client_limit(finished)
    if limit and wish.purpose not in CLOSING:
        before = max(
            before, min(search.clients_max, count_clients_needed(finished, wish.load, limit))
        )
    if isinstance(search, RampSearch):
        connections = int(wish.load)
        clients = max(before, math.ceil(connections / search.connections_per_client))
        return min(clients, search.clients_max, connections), connections
    clients = max(before, search.clients)
    return clients, clients * search.connections_per_client


def find_longest_factor(steps: Sequence[Step]) -> int:
    """Return the largest factor by which a window of these steps was lengthened; 1 for none."""
    return max((step.window_factor or 1 for step in steps), default=1)
