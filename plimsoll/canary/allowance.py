"""The canary's budget: refused where the quote exceeds it, and the time that it buys. Pure.

The deployment itself costs next to nothing while it stands: by the hour, the interface endpoint
through which functions read a target's password (docs/deploying.md, "What it costs").
"""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.quote import Quote
from plimsoll.model.request import Request
from plimsoll.model.timings import STACK_DELETION
from plimsoll.quoting.budget import require_countable

# one zone, us-east-1: https://aws.amazon.com/privatelink/pricing/ (2026-11-21)
DEPLOYMENT_USD_PER_HOUR = 0.01
DEPLOYING_MOST_S = 1800.0
DESTROYING_MOST_S = 3600.0  # the functions' network interfaces go 20 to 40 minutes after them
_FIELD = ("--budget-usd",)


@dataclass(frozen=True)
class Allowance:
    """What a canary may spend.

    Attributes:
        request: The run, which holds its own part of the budget on the service.
        expected_usd: Of all, by the quote.
        most_usd: Of all, by the quote: at the run's time limit.
        lasts_s: After so many seconds all is stopped and destroyed; that is paid for, too.
    """

    request: Request
    expected_usd: float
    most_usd: float
    lasts_s: float


def allow(request: Request, quote: Quote, budget_usd: float) -> Allowance:
    """Divide a budget between the run and its deployment.

    Args:
        request: The run.
        quote: Of the request.
        budget_usd: Of everything, in dollars.

    Raises:
        UsageError: The quote exceeds it or has no sum, or what is charged is counted afterwards.
    """
    require_countable(budget_usd, quote, path=_FIELD)
    if quote.usd is None:
        lacking = f"{', '.join(quote.missing)} in {quote.region}"
        raise UsageError(
            Complaint(_FIELD, f"cannot be held, for no price is known for {lacking}", budget_usd)
        )
    standing_s = DEPLOYING_MOST_S + DESTROYING_MOST_S
    most = quote.usd.most + deployment_usd(quote.time_s.most + standing_s)
    if most > budget_usd:
        problem = f"{words.usd(budget_usd)} is less than the {words.usd(most)} that it may cost"
        enough = Range(least=round(most + 0.005, 2))
        raise UsageError(Complaint(_FIELD, problem, budget_usd, enough))
    target_usd_per_s = (quote.target_usd_per_hour or 0.0) / 3600
    by_load = quote.usd.most - target_usd_per_s * quote.time_s.most  # clients, calls: their most
    removing_s = STACK_DELETION.most_s + DESTROYING_MOST_S
    removing_usd = target_usd_per_s * STACK_DELETION.most_s + deployment_usd(removing_s)
    per_s = target_usd_per_s + DEPLOYMENT_USD_PER_HOUR / 3600
    lasts_s = (budget_usd - by_load - removing_usd) / per_s
    return Allowance(
        request=request.model_copy(
            update={"budget_usd": budget_usd - deployment_usd(lasts_s + removing_s)}
        ),
        expected_usd=quote.usd.expected + deployment_usd(quote.time_s.expected + standing_s),
        most_usd=most,
        lasts_s=lasts_s,
    )


def deployment_usd(standing_s: float) -> float:
    """Estimate what the deployment costs by list prices while it stands, in dollars."""
    return DEPLOYMENT_USD_PER_HOUR * standing_s / 3600
