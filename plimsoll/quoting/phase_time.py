"""What the phases of a request take, before any is made. Pure."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.phase_passes import Pass, passes
from plimsoll.model.phase_request import Completion
from plimsoll.model.quote import QuotePhase
from plimsoll.model.request import Request
from plimsoll.model.search_request import clients_most
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.model.volumes import limits

_IOPS_WITHOUT_LIMIT = 10_000.0  # of a target whose volume is not known


def fleet_most(request: Request) -> int:
    """Give the clients of a run's largest step or pass, with those that run beside it."""
    stepping = clients_most(request.search) + request.clients_beside
    searching = [clients_most(phase.search) for phase in request.phases if phase.search]
    return max([stepping, *searching, *(one.clients for one in passes(request.phases))])


def writing_iops(request: Request) -> float:
    """Give the I/Os a second that a target has for rows, each written once: of all its nodes."""
    target = request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return _IOPS_WITHOUT_LIMIT
    iops = limits(target.volume, service=target.service).baseline_iops or _IOPS_WITHOUT_LIMIT
    return iops * target.nodes / target.copies if isinstance(target, CassandraTarget) else iops


def pass_s(request: Request, one: Pass) -> float:
    """Give the seconds that a pass is expected to take: a record an I/O of the volumes."""
    return min(one.asked.longest_s, one.asked.records / writing_iops(request))


def phase_time(
    request: Request, judging_s: float, searches: Sequence[QuotePhase]
) -> QuotePhase | None:
    """Estimate how long the phases take; None where there are none.

    Args:
        request: Whose.
        judging_s: What planning and judging a pass takes.
        searches: The time of each phase's search, as of a run's own.
    """
    if not request.phases:
        return None
    each = passes(request.phases)
    beside_s = sum(judging_s + AWS_TIMINGS.lead_s(one.clients) for one in each)
    completed = (
        f"{words.plural(len(each), 'pass', 'passes')} to completion: an I/O of the volume a record;"
        " at worst longest_s each"
    )
    searched = [f"a search of {one.assumption}" for one in searches]
    return QuotePhase(
        name="phases",
        expected_s=beside_s
        + sum(pass_s(request, one) for one in each)
        + sum(one.expected_s for one in searches),
        most_s=beside_s
        + sum(one.asked.longest_s for one in each)
        + sum(one.most_s for one in searches),
        assumption="; ".join([*([completed] if each else []), *searched]),
    )


def pass_words(asked: Completion) -> str:
    """Say how much a phase to completion is."""
    count = words.plural(asked.passes, "pass", "passes")
    longest = words.duration(asked.longest_s)
    return f"{count} of {words.number(asked.records)} records, each {longest} at most"


def pass_clients(request: Request, *, at_worst: bool) -> list[tuple[int, float]]:
    """Give the clients of each pass, and the seconds of its load."""
    return [
        (one.clients, one.asked.longest_s if at_worst else pass_s(request, one))
        for one in passes(request.phases)
    ]
