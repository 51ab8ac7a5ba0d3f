"""The load that the search wishes for, made a step: clients, connections, recovery."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.capacity.assess import Assessed
from plimsoll.capacity.ladders import axis_of
from plimsoll.model.search_request import NextStep, RampSearch, Search, StepsSearch
from plimsoll.model.steps import CLOSING, Purpose, Step

MORE_CLIENTS = 1.5  # times as many, where the clients were the limit


@dataclass(frozen=True, slots=True)
class Shape:
    """A step that no load of the search's own describes."""

    clients: int
    connections: int
    rate_ops_per_second: float | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A load to apply, before it is made a step."""

    load: float  # of no meaning with a `shape`
    purpose: Purpose
    why: str
    more_clients: bool = False
    poll_us: int | None = None  # how long clients look for answers; None: as the request has it
    shape: Shape | None = None  # None: as the search makes this load
    duration_s: float | None = None  # of the window; None: the request's
    window_factor: int = 1  # times the request's warm-up and window, at least
    state: str | None = None  # of a toggle


def wished_step(
    search: Search, finished: Sequence[Step], wish: Wish, judged: Sequence[Assessed]
) -> NextStep:
    """Turn a load into a step: how many clients, connections, and whether to recover first."""
    rate = wish.load if search.strategy == "rate" else None
    shape = wish.shape or Shape(*_fleet(search, finished, wish), rate)
    same = [step for step in finished if getattr(step, axis_of(search)) == wish.load]
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
        window_factor=max(wish.window_factor, longest_factor(same)),
        state=wish.state,
        recover_first=last is not None
        and (
            last.void is not None
            or any(step is last for step in overloads)
            or _closed_heavily(last, wish)
        ),
        why=wish.why,
    )


def _closed_heavily(last: Step, wish: Wish) -> bool:
    """Whether the step before was a closing one that may have overloaded the target.

    The windows of a soak are consecutive.
    """
    soaks_on = last.purpose == wish.purpose == "soak"
    return last.purpose in CLOSING and last.purpose != "sentinel" and not soaks_on


def _fleet(search: Search, finished: Sequence[Step], wish: Wish) -> tuple[int, int]:
    """Clients and connections for a load; clients that were added once stay."""
    if isinstance(search, StepsSearch):
        clients = int(wish.load)
        return clients, clients * search.connections_per_client
    same = [s.clients for s in finished if getattr(s, axis_of(search)) == wish.load and s.clients]
    before = max(same or [step.clients or 1 for step in finished], default=1)
    if wish.more_clients:
        before = min(search.clients_max, max(before + 1, int(before * MORE_CLIENTS)))
    if isinstance(search, RampSearch):
        connections = int(wish.load)
        clients = max(before, math.ceil(connections / search.connections_per_client))
        return min(clients, search.clients_max, connections), connections
    clients = max(before, search.clients)
    return clients, clients * search.connections_per_client


def longest_factor(steps: Sequence[Step]) -> int:
    """Give the most that a window of these steps was lengthened by; 1: by nothing."""
    return max((step.window_factor or 1 for step in steps), default=1)
