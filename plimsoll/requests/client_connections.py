"""Whether every client of a request can open its connections, where clients run on Lambda. Pure."""

import math
from collections.abc import Iterator

from plimsoll import words
from plimsoll.complaints import Complaint, FieldPath, Range
from plimsoll.errors import UsageError
from plimsoll.model.request.load_request import CONNECTIONS_OF_A_CLIENT
from plimsoll.model.request.phases import passes
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import RampSearch, Search


def require_openable_connections(request: Request) -> None:
    """Refuse a request of which a client on Lambda could not open its share of the connections.

    The share is what is planned: a ramp to 200,000 connections with 100 clients plans 2,000 for
    each, whatever its `connections_per_client`.

    Raises:
        UsageError: A client would have too many; names each field with what is allowed.
    """
    complaints = tuple(_list_complaints(request))
    if complaints:
        raise UsageError(*complaints)


def _list_complaints(request: Request) -> Iterator[Complaint]:
    yield from _complain_of_search(request.search, ("search",))
    each = request.prepare.connections_per_client
    yield from _complain_of_each(each, each, ("prepare",))
    for number, background in enumerate(request.background):
        each = background.connections_per_client
        yield from _complain_of_each(each, each, ("background", number))
    for number, phase in enumerate(request.phases):
        path = ("phases", number)
        if phase.search is not None:
            yield from _complain_of_search(phase.search, (*path, "search"))
        elif phase.to_completion is not None:
            planned = max(math.ceil(one.connections / one.clients) for one in passes((phase,)))
            each = phase.to_completion.connections_per_client
            yield from _complain_of_each(planned, each, (*path, "to_completion"))


def _complain_of_search(search: Search, path: FieldPath) -> Iterator[Complaint]:
    """Complain if a step plans too many; `_size_fleet` of `next_loads.py` plans them.

    A ramp adds a client for each `connections_per_client` up to `clients_max`; heavier steps divide
    their connections among those.
    """
    planned = each = search.connections_per_client
    if isinstance(search, RampSearch):
        planned = min(each, search.connections_max)
        shared = math.ceil(search.connections_max / search.clients_max)
        if shared > CONNECTIONS_OF_A_CLIENT:
            yield _complain_of_ramp(search, shared, path)
            return
    yield from _complain_of_each(planned, each, path)


def _complain_of_ramp(search: RampSearch, shared: int, path: FieldPath) -> Complaint:
    needed = math.ceil(search.connections_max / CONNECTIONS_OF_A_CLIENT)
    problem = (
        f"plans {shared:,} connections for each of clients_max ="
        f" {words.format_count(search.clients_max, 'client')}, and a client on Lambda can open"
        f" {CONNECTIONS_OF_A_CLIENT}: add clients (clients_max {needed:,} at least), or lower it"
    )
    allowed = Range(most=CONNECTIONS_OF_A_CLIENT * search.clients_max)
    return Complaint((*path, "connections_max"), problem, search.connections_max, allowed)


def _complain_of_each(planned: int, given: int, path: FieldPath) -> Iterator[Complaint]:
    if planned <= CONNECTIONS_OF_A_CLIENT:
        return
    problem = (
        f"plans {planned:,} connections for each client, and a client on Lambda can open"
        f" {CONNECTIONS_OF_A_CLIENT}: add clients, or lower it"
    )
    allowed = Range(most=CONNECTIONS_OF_A_CLIENT)
    yield Complaint((*path, "connections_per_client"), problem, given, allowed)
