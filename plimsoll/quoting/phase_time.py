"""What the phases of a request take, before any is made. Pure."""

from plimsoll import words
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.phase_passes import Pass, passes
from plimsoll.model.quote import QuotePhase
from plimsoll.model.request import Request
from plimsoll.model.search_request import clients_most
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.model.volumes import limits

IOPS_WITHOUT_LIMIT = 10_000.0  # of a target whose volume is not known


def fleet_most(request: Request) -> int:
    """Give the clients of a run's largest step or pass, with those that run beside it."""
    stepping = clients_most(request.search) + request.clients_beside
    return max([stepping, *(one.clients for one in passes(request.phases))])


def pass_s(request: Request, one: Pass) -> float:
    """Give the seconds that a pass is expected to take: a record an I/O of the volume."""
    asked, iops = one.phase.to_completion, IOPS_WITHOUT_LIMIT
    if not isinstance(request.target, EndpointTarget | AuroraTarget):
        promised = limits(request.target.volume, service=request.target.service)
        iops = promised.baseline_iops or iops
    return min(asked.longest_s, asked.records / iops)


def phase_time(request: Request, judging_s: float) -> QuotePhase | None:
    """Estimate how long the phases take; None where there are none.

    Args:
        request: Whose.
        judging_s: What planning and judging a pass takes.
    """
    if not request.phases:
        return None
    each = passes(request.phases)
    beside_s = sum(judging_s + AWS_TIMINGS.lead_s(one.clients) for one in each)
    return QuotePhase(
        name="phases",
        expected_s=beside_s + sum(pass_s(request, one) for one in each),
        most_s=beside_s + sum(one.phase.to_completion.longest_s for one in each),
        assumption=f"{words.plural(len(each), 'pass', 'passes')} to completion: an I/O of the"
        " volume a record; at worst longest_s each",
    )


def pass_clients(request: Request, *, at_worst: bool) -> list[tuple[int, float]]:
    """Give the clients of each pass, and the seconds of its load."""
    return [
        (one.clients, one.phase.to_completion.longest_s if at_worst else pass_s(request, one))
        for one in passes(request.phases)
    ]
